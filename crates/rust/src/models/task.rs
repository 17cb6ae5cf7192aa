// Futures that are written by hand, and what wakes those who poll them.

pub mod pin {
    pub struct Pin<P> { pub pointer: P }
    impl<P> Pin<P> {
        pub fn of(pointer: P) -> Pin<P> { Pin { pointer } }
        pub fn new(pointer: P) -> Pin<P> { Pin { pointer } }
        pub unsafe fn new_unchecked(pointer: P) -> Pin<P> { Pin { pointer } }
        pub fn into_inner(pin: Pin<P>) -> P { pin.pointer }
        pub unsafe fn into_inner_unchecked(pin: Pin<P>) -> P { pin.pointer }
    }
    impl<P: std::ops::Deref> Pin<P> {
        pub fn as_ref(&self) -> Pin<&P::Target> { Pin { pointer: &*self.pointer } }
        pub fn as_mut(&mut self) -> Pin<&mut P::Target> where P: std::ops::DerefMut { Pin { pointer: &mut *self.pointer } }
        pub fn set(&mut self, value: P::Target) where P: std::ops::DerefMut, P::Target: Sized { *self.pointer = value; }
    }
    impl<'a, T: ?Sized> Pin<&'a T> {
        pub fn get_ref(self) -> &'a T { self.pointer }
    }
    impl<'a, T: ?Sized> Pin<&'a mut T> {
        pub fn get_mut(self) -> &'a mut T { self.pointer }
        pub unsafe fn get_unchecked_mut(self) -> &'a mut T { self.pointer }
        pub unsafe fn map_unchecked_mut<U: ?Sized, F: FnOnce(&mut T) -> &mut U>(self, f: F) -> Pin<&'a mut U> { Pin { pointer: f(self.pointer) } }
    }
    impl<P: Clone> Clone for Pin<P> { fn clone(&self) -> Self { Pin { pointer: self.pointer.clone() } } }
    impl<P: std::ops::Deref> std::ops::Deref for Pin<P> { type Target = P::Target; fn deref(&self) -> &P::Target { &*self.pointer } }
    impl<P: std::ops::DerefMut> std::ops::DerefMut for Pin<P> { fn deref_mut(&mut self) -> &mut P::Target { &mut *self.pointer } }
    impl<T> From<crate::boxed::Box<T>> for Pin<crate::boxed::Box<T>> { fn from(b: crate::boxed::Box<T>) -> Self { Pin { pointer: b } } }
}

pub mod future {
    use crate::pin::Pin;
    use crate::task::{Context, Poll};
    pub trait Future {
        type Output;
        fn poll(this: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output>;
    }
    impl<'a, F: Future> Future for &'a mut F {
        type Output = <F as Future>::Output;
        fn poll(this: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> { <F as Future>::poll(Pin { pointer: &mut **this.pointer }, cx) }
    }
    impl<F: Future> Future for crate::boxed::Box<F> {
        type Output = <F as Future>::Output;
        fn poll(this: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> { <F as Future>::poll(Pin { pointer: &mut **this.pointer }, cx) }
    }
    impl<P: std::ops::DerefMut> Future for Pin<P> where P::Target: Future + Sized {
        type Output = <<P as std::ops::Deref>::Target as Future>::Output;
        fn poll(this: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> { <P::Target as Future>::poll(Pin { pointer: &mut *this.pointer.pointer }, cx) }
    }
    pub struct Ready<T> { value: crate::option::Option<T> }
    pub fn ready<T>(value: T) -> Ready<T> { Ready { value: crate::option::Option::Some(value) } }
    impl<T> Future for Ready<T> {
        type Output = T;
        fn poll(this: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> { Poll::Ready(this.pointer.value.take().unwrap()) }
    }
    pub struct PollFn<F> { f: F }
    pub fn poll_fn<T, F: FnMut(&mut Context<'_>) -> Poll<T>>(f: F) -> PollFn<F> { PollFn { f } }
    impl<T, F: FnMut(&mut Context<'_>) -> Poll<T>> Future for PollFn<F> {
        type Output = T;
        fn poll(this: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> { (this.pointer.f)(cx) }
    }
}

pub mod task {
    use crate::mem::ManuallyDrop;
    use crate::sync::Arc;
    pub enum Poll<T> { Ready(T), Pending }
    impl<T> Poll<T> {
        pub fn is_ready(&self) -> bool { match self { Poll::Ready(_) => true, Poll::Pending => false } }
        pub fn is_pending(&self) -> bool { match self { Poll::Ready(_) => false, Poll::Pending => true } }
        pub fn map<U, F: FnOnce(T) -> U>(self, f: F) -> Poll<U> { match self { Poll::Ready(x) => Poll::Ready(f(x)), Poll::Pending => Poll::Pending } }
    }
    impl<T: PartialEq> PartialEq for Poll<T> {
        fn eq(&self, other: &Self) -> bool { match (self, other) { (Poll::Ready(a), Poll::Ready(b)) => *a == *b, (Poll::Pending, Poll::Pending) => true, _ => false } }
        fn ne(&self, other: &Self) -> bool { !(self == other) }
    }
    impl<T> From<T> for Poll<T> { fn from(value: T) -> Self { Poll::Ready(value) } }
    impl<T: Clone> Clone for Poll<T> { fn clone(&self) -> Self { match self { Poll::Ready(x) => Poll::Ready(x.clone()), Poll::Pending => Poll::Pending } } }
    impl<T: Copy> Copy for Poll<T> {}

    /// The fields are those of the standard library.
    pub struct RawWakerVTable { clone: unsafe fn(*const ()) -> RawWaker, wake: unsafe fn(*const ()), wake_by_ref: unsafe fn(*const ()), drop: unsafe fn(*const ()) }
    impl RawWakerVTable {
        pub const fn new(clone: unsafe fn(*const ()) -> RawWaker, wake: unsafe fn(*const ()), wake_by_ref: unsafe fn(*const ()), drop: unsafe fn(*const ())) -> Self { RawWakerVTable { clone, wake, wake_by_ref, drop } }
    }
    pub struct RawWaker { data: *const (), vtable: &'static RawWakerVTable }
    impl RawWaker {
        pub const fn new(data: *const (), vtable: &'static RawWakerVTable) -> RawWaker { RawWaker { data, vtable } }
    }
    pub struct Waker { waker: RawWaker }
    fn raw(kept: &ManuallyDrop<Waker>) -> (*const (), &'static RawWakerVTable) { let waker: &Waker = crate::mem::kept(kept); (waker.waker.data, waker.waker.vtable) }
    impl Waker {
        pub const unsafe fn from_raw(waker: RawWaker) -> Waker { Waker { waker } }
        pub const unsafe fn new(data: *const (), vtable: &'static RawWakerVTable) -> Waker { Waker { waker: RawWaker { data, vtable } } }
        pub fn wake(self) {
            let (data, vtable) = raw(&ManuallyDrop::new(self));
            unsafe { (vtable.wake)(data) }
        }
        pub fn wake_by_ref(&self) { unsafe { (self.waker.vtable.wake_by_ref)(self.waker.data) } }
        pub fn will_wake(&self, other: &Waker) -> bool { crate::palisade::binary("Eq", self.waker.data, other.waker.data) }
        pub fn data(&self) -> *const () { self.waker.data }
        pub fn noop() -> &'static Waker {
            let p = crate::palisade::allocate_own::<Waker>();
            crate::palisade::write(p, Waker { waker: unsafe { nothing_cloned(crate::palisade::same(0usize)) } });
            crate::palisade::same(p)
        }
    }
    unsafe fn nothing(data: *const ()) {}
    unsafe fn nothing_cloned(data: *const ()) -> RawWaker { RawWaker { data, vtable: &RawWakerVTable { clone: nothing_cloned, wake: nothing, wake_by_ref: nothing, drop: nothing } } }
    impl Clone for Waker { fn clone(&self) -> Self { Waker { waker: unsafe { (self.waker.vtable.clone)(self.waker.data) } } } }
    impl Drop for Waker { fn drop(&mut self) { unsafe { (self.waker.vtable.drop)(self.waker.data) } } }

    pub trait Wake: Sized {
        fn wake(this: Arc<Self>);
        fn wake_by_ref(this: &Arc<Self>) { <Self as Wake>::wake(this.clone()) }
    }
    unsafe fn cloned<W: Wake>(data: *const ()) -> RawWaker {
        let owner: ManuallyDrop<Arc<W>> = ManuallyDrop::new(Arc::from_raw(data as *const W));
        crate::mem::forget(Arc::clone(crate::mem::kept(&owner)));
        RawWaker { data, vtable: table::<W>() }
    }
    unsafe fn woken<W: Wake>(data: *const ()) { <W as Wake>::wake(Arc::from_raw(data as *const W)) }
    unsafe fn woken_by_ref<W: Wake>(data: *const ()) {
        let owner: ManuallyDrop<Arc<W>> = ManuallyDrop::new(Arc::from_raw(data as *const W));
        <W as Wake>::wake_by_ref(crate::mem::kept(&owner))
    }
    unsafe fn dropped<W: Wake>(data: *const ()) { crate::mem::drop(Arc::<W>::from_raw(data as *const W)) }
    fn table<W: Wake>() -> &'static RawWakerVTable { &RawWakerVTable { clone: cloned::<W>, wake: woken::<W>, wake_by_ref: woken_by_ref::<W>, drop: dropped::<W> } }
    impl<W: Wake> From<Arc<W>> for Waker {
        fn from(owner: Arc<W>) -> Waker { Waker { waker: RawWaker { data: Arc::into_raw(owner) as *const (), vtable: table::<W>() } } }
    }

    pub struct Context<'a> { waker: &'a Waker }
    impl<'a> Context<'a> {
        pub const fn from_waker(waker: &'a Waker) -> Self { Context { waker } }
        pub fn waker(&self) -> &'a Waker { self.waker }
    }
}
