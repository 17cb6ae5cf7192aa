// Arrays, vectors, closures and channels give back what they hold, also what was not taken out of them.
// leaks holds, else holds
use std::sync::mpsc;
use std::thread;

fn main() {
    let b: Box<dyn FnOnce() -> u32> = Box::new(|| 3);
    b();
    for x in [Box::new(1), Box::new(2)] {
        if *x == 1 {
            break;
        }
    }
    let all = vec![Box::new(3), Box::new(4)];
    for x in all {
        if *x == 3 {
            break;
        }
    }
    let (send, receive) = mpsc::channel();
    let thread = thread::spawn(move || {
        let _ = send.send(Box::new(5));
        let _ = send.send(Box::new(6));
        Box::new(7)
    });
    let _ = receive.recv();
    drop(receive);
    thread.join().unwrap();
}
