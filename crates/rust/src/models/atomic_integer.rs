
        /// An integer that threads share.
        pub struct ATOMIC {
            v: NUMBER,
        }
        impl ATOMIC {
            pub const fn new(v: NUMBER) -> Self {
                ATOMIC { v }
            }
            pub fn load(&self, order: Ordering) -> NUMBER {
                atomic_load(&raw const self.v, order)
            }
            pub fn store(&self, value: NUMBER, order: Ordering) {
                atomic_store(&raw const self.v, value, order)
            }
            pub fn swap(&self, value: NUMBER, order: Ordering) -> NUMBER {
                atomic_exchange(&raw const self.v, value, order)
            }
            pub fn compare_exchange(&self, current: NUMBER, new: NUMBER, success: Ordering, failure: Ordering) -> Result<NUMBER, NUMBER> {
                let (old, done) = atomic_cas(&raw const self.v, current, new, success, failure);
                if done { Ok(old) } else { Err(old) }
            }
            pub fn compare_exchange_weak(&self, current: NUMBER, new: NUMBER, success: Ordering, failure: Ordering) -> Result<NUMBER, NUMBER> {
                let (old, done) = atomic_cas_weak(&raw const self.v, current, new, success, failure);
                if done { Ok(old) } else { Err(old) }
            }
            pub fn compare_and_swap(&self, current: NUMBER, new: NUMBER, order: Ordering) -> NUMBER {
                let failure = match order {
                    Ordering::Release => Ordering::Relaxed,
                    Ordering::AcqRel => Ordering::Acquire,
                    other => other,
                };
                let (old, _) = atomic_cas(&raw const self.v, current, new, order, failure);
                old
            }
            pub fn fetch_add(&self, value: NUMBER, order: Ordering) -> NUMBER {
                atomic_fetch_add(&raw const self.v, value, order)
            }
            pub fn fetch_sub(&self, value: NUMBER, order: Ordering) -> NUMBER {
                atomic_fetch_sub(&raw const self.v, value, order)
            }
            pub fn fetch_and(&self, value: NUMBER, order: Ordering) -> NUMBER {
                atomic_fetch_and(&raw const self.v, value, order)
            }
            pub fn fetch_or(&self, value: NUMBER, order: Ordering) -> NUMBER {
                atomic_fetch_or(&raw const self.v, value, order)
            }
            pub fn fetch_xor(&self, value: NUMBER, order: Ordering) -> NUMBER {
                atomic_fetch_xor(&raw const self.v, value, order)
            }
            pub fn fetch_max(&self, value: NUMBER, order: Ordering) -> NUMBER {
                atomic_fetch_max(&raw const self.v, value, order)
            }
            pub fn fetch_min(&self, value: NUMBER, order: Ordering) -> NUMBER {
                atomic_fetch_min(&raw const self.v, value, order)
            }
            pub fn fetch_nand(&self, value: NUMBER, order: Ordering) -> NUMBER {
                let mut old = atomic_load(&raw const self.v, Ordering::Relaxed);
                loop {
                    let (seen, done) = atomic_cas(&raw const self.v, old, !(old & value), order, Ordering::Relaxed);
                    if done {
                        return seen;
                    }
                    old = seen;
                }
            }
            pub fn fetch_update<F: FnMut(NUMBER) -> Option<NUMBER>>(&self, set: Ordering, fetch: Ordering, mut f: F) -> Result<NUMBER, NUMBER> {
                let mut old = atomic_load(&raw const self.v, fetch);
                while let Option::Some(new) = f(old) {
                    let (seen, done) = atomic_cas_weak(&raw const self.v, old, new, set, fetch);
                    if done {
                        return Ok(seen);
                    }
                    old = seen;
                }
                Err(old)
            }
            pub fn get_mut(&mut self) -> &mut NUMBER {
                &mut self.v
            }
            pub fn with_mut<R, F: FnOnce(&mut NUMBER) -> R>(&mut self, f: F) -> R {
                f(&mut self.v)
            }
            pub fn into_inner(self) -> NUMBER {
                self.v
            }
            pub fn as_ptr(&self) -> *mut NUMBER {
                &raw const self.v as *mut NUMBER
            }
            /// loom's: a load without synchronisation, which is a plain access.
            pub unsafe fn unsync_load(&self) -> NUMBER {
                self.v
            }
        }
        impl Default for ATOMIC {
            fn default() -> Self {
                ATOMIC::new(0)
            }
        }
        impl ATOMIC {
            pub fn try_update<F: FnMut(NUMBER) -> Option<NUMBER>>(&self, set: Ordering, fetch: Ordering, f: F) -> Result<NUMBER, NUMBER> {
                self.fetch_update(set, fetch, f)
            }
            pub fn update<F: FnMut(NUMBER) -> NUMBER>(&self, set: Ordering, fetch: Ordering, mut f: F) -> NUMBER {
                let mut old = atomic_load(&raw const self.v, fetch);
                loop {
                    let (seen, done) = atomic_cas_weak(&raw const self.v, old, f(old), set, fetch);
                    if done {
                        return seen;
                    }
                    old = seen;
                }
            }
        }
        impl From<NUMBER> for ATOMIC {
            fn from(v: NUMBER) -> Self {
                ATOMIC::new(v)
            }
        }
