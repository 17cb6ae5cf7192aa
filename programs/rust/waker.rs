// A future by hand: who polls it leaves a waker, looks again, and is unparked by it.
// expect c20 safe: holds
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

#[derive(Default)]
struct Shared {
    done: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

struct Done(Arc<Shared>);

impl Future for Done {
    type Output = u32;
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<u32> {
        if self.0.done.load(Acquire) {
            return Poll::Ready(1);
        }
        *self.0.waker.lock().unwrap() = Some(context.waker().clone());
        match self.0.done.load(Acquire) {
            true => Poll::Ready(1),
            false => Poll::Pending,
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn wait_for<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(result) => return result,
            Poll::Pending => thread::park(),
        }
    }
}

fn main() {
    let shared = Arc::new(Shared::default());
    let worker = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            shared.done.store(true, Release);
            if let Some(waker) = shared.waker.lock().unwrap().take() {
                waker.wake();
            }
        })
    };
    assert_eq!(wait_for(Done(shared)), 1);
    worker.join().unwrap();
}
