// Iterators, slices, vectors and other collections.

pub mod iter {
    use crate::option::Option;
    pub trait Iterator: Sized {
        type Item;
        fn next(&mut self) -> Option<Self::Item>;
        fn map<B, F: FnMut(Self::Item) -> B>(self, f: F) -> Map<Self, F> { Map { iter: self, f } }
        fn filter<F: FnMut(&Self::Item) -> bool>(self, f: F) -> Filter<Self, F> { Filter { iter: self, f } }
        fn enumerate(self) -> Enumerate<Self> { Enumerate { iter: self, count: 0 } }
        fn zip<U: IntoIterator>(self, other: U) -> Zip<Self, U::IntoIter> { Zip { a: self, b: other.into_iter() } }
        fn take(self, n: usize) -> Take<Self> { Take { iter: self, n } }
        fn rev(self) -> Rev<Self> { Rev { iter: self } }
        fn by_ref(&mut self) -> &mut Self { self }
        fn chain<U: IntoIterator>(self, other: U) -> Chain<Self, U::IntoIter> { Chain { a: self, first: true, b: other.into_iter() } }
        fn skip(self, n: usize) -> Skip<Self> { Skip { iter: self, n } }
        fn step_by(self, step: usize) -> StepBy<Self> { StepBy { iter: self, step, first: true } }
        fn filter_map<B, F: FnMut(Self::Item) -> Option<B>>(self, f: F) -> FilterMap<Self, F> { FilterMap { iter: self, f } }
        fn map_while<B, F: FnMut(Self::Item) -> Option<B>>(self, f: F) -> MapWhile<Self, F> { MapWhile { iter: self, f } }
        fn take_while<F: FnMut(&Self::Item) -> bool>(self, f: F) -> TakeWhile<Self, F> { TakeWhile { iter: self, f, over: false } }
        fn inspect<F: FnMut(&Self::Item)>(self, f: F) -> Inspect<Self, F> { Inspect { iter: self, f } }
        fn copied(self) -> Copied<Self> { Copied { iter: self } }
        fn cloned(self) -> Cloned<Self> { Cloned { iter: self } }
        fn peekable(self) -> Peekable<Self> { Peekable { iter: self, peeked: Option::None } }
        fn fuse(self) -> Fuse<Self> { Fuse { iter: self, ended: false } }
        fn flatten(self) -> Flatten<Self> where Self::Item: IntoIterator { Flatten { iter: self, inner: Option::None } }
        fn flat_map<U: IntoIterator, F: FnMut(Self::Item) -> U>(self, f: F) -> FlatMap<Self, U, F> { FlatMap { iter: self, f, inner: Option::None } }
        fn skip_while<F: FnMut(&Self::Item) -> bool>(self, f: F) -> SkipWhile<Self, F> { SkipWhile { iter: self, f, begun: false } }
        fn scan<S, B, F: FnMut(&mut S, Self::Item) -> Option<B>>(self, state: S, f: F) -> Scan<Self, S, F> { Scan { iter: self, state, f } }
        fn reduce<F: FnMut(Self::Item, Self::Item) -> Self::Item>(mut self, f: F) -> Option<Self::Item> {
            match self.next() { Option::Some(first) => Option::Some(self.fold(first, f)), Option::None => Option::None }
        }
        fn max_by_key<B: PartialOrd, F: FnMut(&Self::Item) -> B>(mut self, mut f: F) -> Option<Self::Item> {
            let mut best = match self.next() { Option::Some(x) => x, Option::None => return Option::None };
            loop {
                match self.next() { Option::Some(x) => if !(f(&x) < f(&best)) { best = x; }, Option::None => return Option::Some(best) }
            }
        }
        fn min_by_key<B: PartialOrd, F: FnMut(&Self::Item) -> B>(mut self, mut f: F) -> Option<Self::Item> {
            let mut best = match self.next() { Option::Some(x) => x, Option::None => return Option::None };
            loop {
                match self.next() { Option::Some(x) => if f(&x) < f(&best) { best = x; }, Option::None => return Option::Some(best) }
            }
        }
        fn partition<B: Default + Extend<Self::Item>, F: FnMut(&Self::Item) -> bool>(mut self, mut f: F) -> (B, B) {
            let mut yes: B = Default::default();
            let mut no: B = Default::default();
            loop {
                match self.next() {
                    Option::Some(x) => if f(&x) { yes.extend(Option::Some(x)) } else { no.extend(Option::Some(x)) },
                    Option::None => return (yes, no),
                }
            }
        }
        fn last(mut self) -> Option<Self::Item> {
            let mut last = Option::None;
            loop {
                match self.next() { Option::Some(x) => last = Option::Some(x), Option::None => return last }
            }
        }
        fn position<F: FnMut(Self::Item) -> bool>(&mut self, mut f: F) -> Option<usize> {
            let mut n = 0;
            loop {
                match self.next() { Option::Some(x) => if f(x) { return Option::Some(n) }, Option::None => return Option::None }
                n += 1;
            }
        }
        fn find_map<B, F: FnMut(Self::Item) -> Option<B>>(&mut self, mut f: F) -> Option<B> {
            loop {
                match self.next() { Option::Some(x) => match f(x) { Option::Some(y) => return Option::Some(y), Option::None => {} }, Option::None => return Option::None }
            }
        }
        fn max(mut self) -> Option<Self::Item> where Self::Item: PartialOrd {
            let mut best = match self.next() { Option::Some(x) => x, Option::None => return Option::None };
            loop {
                match self.next() { Option::Some(x) => if !(x < best) { best = x; }, Option::None => return Option::Some(best) }
            }
        }
        fn min(mut self) -> Option<Self::Item> where Self::Item: PartialOrd {
            let mut best = match self.next() { Option::Some(x) => x, Option::None => return Option::None };
            loop {
                match self.next() { Option::Some(x) => if x < best { best = x; }, Option::None => return Option::Some(best) }
            }
        }
        fn product<S>(mut self) -> S {
            let mut total: S = crate::palisade::zeroed();
            total = crate::palisade::binary("Add", total, 1usize);
            loop {
                match self.next() { Option::Some(x) => total = crate::palisade::binary("Mul", total, crate::palisade::plain::<Self::Item, S>(x)), Option::None => return total }
            }
        }
        fn for_each<F: FnMut(Self::Item)>(mut self, mut f: F) {
            loop {
                match self.next() { Option::Some(x) => f(x), Option::None => return }
            }
        }
        fn fold<B, F: FnMut(B, Self::Item) -> B>(mut self, init: B, mut f: F) -> B {
            let mut value = init;
            loop {
                match self.next() { Option::Some(x) => value = f(value, x), Option::None => return value }
            }
        }
        fn count(mut self) -> usize {
            let mut n = 0;
            loop {
                match self.next() { Option::Some(_) => n += 1, Option::None => return n }
            }
        }
        fn sum<S>(mut self) -> S {
            let mut total: S = crate::palisade::zeroed();
            loop {
                match self.next() { Option::Some(x) => total = crate::palisade::binary("Add", total, crate::palisade::plain::<Self::Item, S>(x)), Option::None => return total }
            }
        }
        fn all<F: FnMut(Self::Item) -> bool>(&mut self, mut f: F) -> bool {
            loop {
                match self.next() { Option::Some(x) => if !f(x) { return false }, Option::None => return true }
            }
        }
        fn any<F: FnMut(Self::Item) -> bool>(&mut self, mut f: F) -> bool {
            loop {
                match self.next() { Option::Some(x) => if f(x) { return true }, Option::None => return false }
            }
        }
        fn find<F: FnMut(&Self::Item) -> bool>(&mut self, mut f: F) -> Option<Self::Item> {
            loop {
                match self.next() { Option::Some(x) => if f(&x) { return Option::Some(x) }, Option::None => return Option::None }
            }
        }
        fn nth(&mut self, n: usize) -> Option<Self::Item> {
            let mut k = n;
            loop {
                let item = self.next();
                if k == 0 { return item }
                k -= 1;
            }
        }
        fn try_fold<B, F: FnMut(B, Self::Item) -> R, R: crate::ops::Try<Output = B> + crate::ops::FromResidual<<R as crate::ops::Try>::Residual>>(&mut self, init: B, mut f: F) -> R {
            let mut value = init;
            loop {
                match self.next() {
                    Option::Some(x) => match <R as crate::ops::Try>::branch(f(value, x)) {
                        crate::ops::ControlFlow::Continue(next) => value = next,
                        crate::ops::ControlFlow::Break(rest) => return <R as crate::ops::FromResidual<<R as crate::ops::Try>::Residual>>::from_residual(rest),
                    },
                    Option::None => return <R as crate::ops::Try>::from_output(value),
                }
            }
        }
        fn try_for_each<F: FnMut(Self::Item) -> R, R: crate::ops::Try<Output = ()> + crate::ops::FromResidual<<R as crate::ops::Try>::Residual>>(&mut self, mut f: F) -> R {
            loop {
                match self.next() {
                    Option::Some(x) => match <R as crate::ops::Try>::branch(f(x)) {
                        crate::ops::ControlFlow::Continue(_) => {}
                        crate::ops::ControlFlow::Break(rest) => return <R as crate::ops::FromResidual<<R as crate::ops::Try>::Residual>>::from_residual(rest),
                    },
                    Option::None => return <R as crate::ops::Try>::from_output(()),
                }
            }
        }
        fn unzip<A, B, C: Default + Extend<A>, D: Default + Extend<B>>(mut self) -> (C, D) where Self: Iterator<Item = (A, B)> {
            let (mut left, mut right): (C, D) = (<C as Default>::default(), <D as Default>::default());
            loop {
                match self.next() {
                    Option::Some((a, b)) => { <C as Extend<A>>::extend::<Once<A>>(&mut left, once(a)); <D as Extend<B>>::extend::<Once<B>>(&mut right, once(b)); }
                    Option::None => return (left, right),
                }
            }
        }
        fn eq<J: IntoIterator>(mut self, other: J) -> bool where Self::Item: PartialEq<J::Item>, J::IntoIter: Iterator<Item = J::Item> {
            let mut other = other.into_iter();
            loop {
                match (self.next(), other.next()) { (Option::Some(a), Option::Some(b)) => if a != b { return false }, (Option::None, Option::None) => return true, _ => return false }
            }
        }
        fn cycle(self) -> Cycle<Self> where Self: Clone { Cycle { first: self.clone(), iter: self } }
        fn collect<B: FromIterator<Self::Item>>(self) -> B { <B as FromIterator<Self::Item>>::from_iter(self) }
    }
    pub trait FromIterator<A> {
        fn from_iter<I: Iterator<Item = A>>(iter: I) -> Self;
    }
    /// Of options and results: up to the first that holds nothing.
    pub struct Good<'a, I, R> { iter: I, rest: &'a mut Option<R> }
    impl<'a, T, I: Iterator<Item = Option<T>>> Iterator for Good<'a, I, ()> {
        type Item = T;
        fn next(&mut self) -> Option<T> {
            match self.iter.next() { Option::Some(Option::Some(x)) => Option::Some(x), Option::Some(Option::None) => { *self.rest = Option::Some(()); Option::None } Option::None => Option::None }
        }
    }
    impl<A, B: FromIterator<A>> FromIterator<Option<A>> for Option<B> {
        fn from_iter<I: Iterator<Item = Option<A>>>(iter: I) -> Self {
            let mut rest = Option::None;
            let made = <B as FromIterator<A>>::from_iter(Good { iter, rest: &mut rest });
            if rest.is_some() { Option::None } else { Option::Some(made) }
        }
    }
    pub struct GoodOfResults<'a, I, R> { iter: I, rest: &'a mut Option<R> }
    impl<'a, T, R, I: Iterator<Item = crate::result::Result<T, R>>> Iterator for GoodOfResults<'a, I, R> {
        type Item = T;
        fn next(&mut self) -> Option<T> {
            match self.iter.next() {
                Option::Some(crate::result::Result::Ok(x)) => Option::Some(x),
                Option::Some(crate::result::Result::Err(e)) => { *self.rest = Option::Some(e); Option::None }
                Option::None => Option::None,
            }
        }
    }
    impl<A, E, B: FromIterator<A>> FromIterator<crate::result::Result<A, E>> for crate::result::Result<B, E> {
        fn from_iter<I: Iterator<Item = crate::result::Result<A, E>>>(iter: I) -> Self {
            let mut rest = Option::None;
            let made = <B as FromIterator<A>>::from_iter(GoodOfResults { iter, rest: &mut rest });
            match rest { Option::Some(e) => crate::result::Result::Err(e), Option::None => crate::result::Result::Ok(made) }
        }
    }
    impl FromIterator<()> for () { fn from_iter<I: Iterator<Item = ()>>(mut iter: I) -> Self { while let Option::Some(()) = iter.next() {} } }
    impl<'a> FromIterator<&'a str> for crate::string::String {
        fn from_iter<I: Iterator<Item = &'a str>>(mut iter: I) -> Self { let mut s = crate::string::String::new(); while let Option::Some(x) = iter.next() { s.push_str(x); } s }
    }
    impl FromIterator<crate::string::String> for crate::string::String {
        fn from_iter<I: Iterator<Item = crate::string::String>>(mut iter: I) -> Self { let mut s = crate::string::String::new(); while let Option::Some(x) = iter.next() { s.push_str(x.as_str()); } s }
    }
    impl FromIterator<char> for crate::string::String {
        fn from_iter<I: Iterator<Item = char>>(mut iter: I) -> Self { let mut s = crate::string::String::new(); while let Option::Some(x) = iter.next() { s.push(x); } s }
    }
    pub trait Extend<A> {
        fn extend<I: IntoIterator<Item = A>>(&mut self, items: I) where I::IntoIter: Iterator<Item = A>;
    }
    pub trait IntoIterator {
        type Item;
        type IntoIter;
        fn into_iter(self) -> Self::IntoIter;
    }
    impl<'a, I: Iterator> Iterator for &'a mut I {
        type Item = I::Item;
        fn next(&mut self) -> Option<I::Item> { <I as Iterator>::next(*self) }
    }
    impl<I: Iterator> IntoIterator for I {
        type Item = I::Item;
        type IntoIter = I;
        fn into_iter(self) -> I { self }
    }
    pub struct Map<I, F> { iter: I, f: F }
    impl<B, I: Iterator, F: FnMut(I::Item) -> B> Iterator for Map<I, F> {
        type Item = B;
        fn next(&mut self) -> Option<B> {
            match self.iter.next() { Option::Some(x) => Option::Some((self.f)(x)), Option::None => Option::None }
        }
    }
    pub struct Filter<I, F> { iter: I, f: F }
    impl<I: Iterator, F: FnMut(&I::Item) -> bool> Iterator for Filter<I, F> {
        type Item = I::Item;
        fn next(&mut self) -> Option<I::Item> {
            loop {
                match self.iter.next() {
                    Option::Some(x) => if (self.f)(&x) { return Option::Some(x) },
                    Option::None => return Option::None,
                }
            }
        }
    }
    pub struct Enumerate<I> { iter: I, count: usize }
    impl<I: Iterator> Iterator for Enumerate<I> {
        type Item = (usize, I::Item);
        fn next(&mut self) -> Option<(usize, I::Item)> {
            match self.iter.next() {
                Option::Some(x) => { let n = self.count; self.count += 1; Option::Some((n, x)) }
                Option::None => Option::None,
            }
        }
    }
    pub struct Zip<A, B> { a: A, b: B }
    impl<A: Iterator, B: Iterator> Iterator for Zip<A, B> {
        type Item = (A::Item, B::Item);
        fn next(&mut self) -> Option<(A::Item, B::Item)> {
            match self.a.next() {
                Option::Some(x) => match self.b.next() { Option::Some(y) => Option::Some((x, y)), Option::None => Option::None },
                Option::None => Option::None,
            }
        }
    }
    pub struct Take<I> { iter: I, n: usize }
    impl<I: Iterator> Iterator for Take<I> {
        type Item = I::Item;
        fn next(&mut self) -> Option<I::Item> {
            if self.n == 0 { return Option::None }
            self.n -= 1;
            self.iter.next()
        }
    }
    pub struct Chain<A, B> { a: A, first: bool, b: B }
    impl<A: Iterator, B: Iterator<Item = A::Item>> Iterator for Chain<A, B> {
        type Item = A::Item;
        fn next(&mut self) -> Option<A::Item> {
            if self.first {
                match self.a.next() { Option::Some(x) => return Option::Some(x), Option::None => self.first = false }
            }
            self.b.next()
        }
    }
    pub struct Skip<I> { iter: I, n: usize }
    impl<I: Iterator> Iterator for Skip<I> {
        type Item = I::Item;
        fn next(&mut self) -> Option<I::Item> {
            while self.n > 0 {
                self.n -= 1;
                if let Option::None = self.iter.next() { return Option::None }
            }
            self.iter.next()
        }
    }
    pub struct StepBy<I> { iter: I, step: usize, first: bool }
    impl<I: Iterator> Iterator for StepBy<I> {
        type Item = I::Item;
        fn next(&mut self) -> Option<I::Item> {
            if self.first { self.first = false; self.iter.next() } else { self.iter.nth(self.step - 1) }
        }
    }
    pub struct FilterMap<I, F> { iter: I, f: F }
    impl<B, I: Iterator, F: FnMut(I::Item) -> Option<B>> Iterator for FilterMap<I, F> {
        type Item = B;
        fn next(&mut self) -> Option<B> {
            loop {
                match self.iter.next() {
                    Option::Some(x) => match (self.f)(x) { Option::Some(y) => return Option::Some(y), Option::None => {} },
                    Option::None => return Option::None,
                }
            }
        }
    }
    pub struct MapWhile<I, F> { iter: I, f: F }
    impl<B, I: Iterator, F: FnMut(I::Item) -> Option<B>> Iterator for MapWhile<I, F> {
        type Item = B;
        fn next(&mut self) -> Option<B> { match self.iter.next() { Option::Some(x) => (self.f)(x), Option::None => Option::None } }
    }
    pub struct TakeWhile<I, F> { iter: I, f: F, over: bool }
    impl<I: Iterator, F: FnMut(&I::Item) -> bool> Iterator for TakeWhile<I, F> {
        type Item = I::Item;
        fn next(&mut self) -> Option<I::Item> {
            if self.over { return Option::None }
            match self.iter.next() {
                Option::Some(x) => if (self.f)(&x) { Option::Some(x) } else { self.over = true; Option::None },
                Option::None => Option::None,
            }
        }
    }
    pub struct Inspect<I, F> { iter: I, f: F }
    impl<I: Iterator, F: FnMut(&I::Item)> Iterator for Inspect<I, F> {
        type Item = I::Item;
        fn next(&mut self) -> Option<I::Item> {
            match self.iter.next() { Option::Some(x) => { (self.f)(&x); Option::Some(x) } Option::None => Option::None }
        }
    }
    pub struct Fuse<I> { iter: I, ended: bool }
    impl<I: Iterator> Iterator for Fuse<I> {
        type Item = I::Item;
        fn next(&mut self) -> Option<I::Item> {
            if self.ended { return Option::None }
            match self.iter.next() { Option::Some(x) => Option::Some(x), Option::None => { self.ended = true; Option::None } }
        }
    }
    pub struct Cloned<I> { iter: I }
    impl<'a, T: Clone + 'a, I: Iterator<Item = &'a T>> Iterator for Cloned<I> {
        type Item = T;
        fn next(&mut self) -> Option<T> { match self.iter.next() { Option::Some(x) => Option::Some(x.clone()), Option::None => Option::None } }
    }
    pub struct Copied<I> { iter: I }
    impl<'a, T: Clone + 'a, I: Iterator<Item = &'a T>> Iterator for Copied<I> {
        type Item = T;
        fn next(&mut self) -> Option<T> { match self.iter.next() { Option::Some(x) => Option::Some(x.clone()), Option::None => Option::None } }
    }
    pub struct Flatten<I: Iterator> where I::Item: IntoIterator { iter: I, inner: Option<<I::Item as IntoIterator>::IntoIter> }
    impl<I: Iterator> Iterator for Flatten<I> where I::Item: IntoIterator, <I::Item as IntoIterator>::IntoIter: Iterator {
        type Item = <<I::Item as IntoIterator>::IntoIter as Iterator>::Item;
        fn next(&mut self) -> Option<<<I::Item as IntoIterator>::IntoIter as Iterator>::Item> {
            loop {
                if let Option::Some(inner) = &mut self.inner {
                    if let Option::Some(x) = inner.next() { return Option::Some(x) }
                }
                match self.iter.next() {
                    Option::Some(items) => self.inner = Option::Some(items.into_iter()),
                    Option::None => return Option::None,
                }
            }
        }
    }
    pub struct FlatMap<I, U: IntoIterator, F> { iter: I, f: F, inner: Option<U::IntoIter> }
    impl<U: IntoIterator, I: Iterator, F: FnMut(I::Item) -> U> Iterator for FlatMap<I, U, F> where U::IntoIter: Iterator {
        type Item = <U::IntoIter as Iterator>::Item;
        fn next(&mut self) -> Option<<U::IntoIter as Iterator>::Item> {
            loop {
                if let Option::Some(inner) = &mut self.inner {
                    if let Option::Some(x) = inner.next() { return Option::Some(x) }
                }
                match self.iter.next() {
                    Option::Some(x) => self.inner = Option::Some((self.f)(x).into_iter()),
                    Option::None => return Option::None,
                }
            }
        }
    }
    pub struct SkipWhile<I, F> { iter: I, f: F, begun: bool }
    impl<I: Iterator, F: FnMut(&I::Item) -> bool> Iterator for SkipWhile<I, F> {
        type Item = I::Item;
        fn next(&mut self) -> Option<I::Item> {
            loop {
                match self.iter.next() {
                    Option::Some(x) => if self.begun || !(self.f)(&x) { self.begun = true; return Option::Some(x) },
                    Option::None => return Option::None,
                }
            }
        }
    }
    pub struct Scan<I, S, F> { iter: I, state: S, f: F }
    impl<S, B, I: Iterator, F: FnMut(&mut S, I::Item) -> Option<B>> Iterator for Scan<I, S, F> {
        type Item = B;
        fn next(&mut self) -> Option<B> { match self.iter.next() { Option::Some(x) => (self.f)(&mut self.state, x), Option::None => Option::None } }
    }
    pub struct Peekable<I: Iterator> { iter: I, peeked: Option<Option<I::Item>> }
    impl<I: Iterator> Iterator for Peekable<I> {
        type Item = I::Item;
        fn next(&mut self) -> Option<I::Item> { match self.peeked.take() { Option::Some(x) => x, Option::None => self.iter.next() } }
    }
    impl<I: Iterator> Peekable<I> {
        pub fn peek(&mut self) -> Option<&I::Item> {
            if let Option::None = self.peeked { self.peeked = Option::Some(self.iter.next()); }
            match &self.peeked { Option::Some(Option::Some(x)) => Option::Some(x), _ => Option::None }
        }
        pub fn next_if<F: FnOnce(&I::Item) -> bool>(&mut self, f: F) -> Option<I::Item> {
            let wanted = match self.peek() { Option::Some(x) => f(x), Option::None => false };
            if wanted { self.next() } else { Option::None }
        }
    }
    pub struct Cycle<I> { first: I, iter: I }
    impl<I: Iterator + Clone> Iterator for Cycle<I> {
        type Item = I::Item;
        fn next(&mut self) -> Option<I::Item> {
            match self.iter.next() { Option::Some(x) => Option::Some(x), Option::None => { self.iter = self.first.clone(); self.iter.next() } }
        }
    }
    pub struct Successors<T, F> { next: Option<T>, f: F }
    impl<T, F: FnMut(&T) -> Option<T>> Iterator for Successors<T, F> {
        type Item = T;
        fn next(&mut self) -> Option<T> {
            match self.next.take() { Option::Some(x) => { self.next = (self.f)(&x); Option::Some(x) } Option::None => Option::None }
        }
    }
    pub fn successors<T, F: FnMut(&T) -> Option<T>>(first: Option<T>, f: F) -> Successors<T, F> { Successors { next: first, f } }
    pub struct Empty<T>(crate::marker::PhantomData<T>);
    impl<T> Iterator for Empty<T> { type Item = T; fn next(&mut self) -> Option<T> { Option::None } }
    pub fn empty<T>() -> Empty<T> { Empty(crate::palisade::uninit()) }
    pub struct Once<T> { item: Option<T> }
    impl<T> Iterator for Once<T> { type Item = T; fn next(&mut self) -> Option<T> { self.item.take() } }
    pub fn once<T>(item: T) -> Once<T> { Once { item: Option::Some(item) } }
    impl<T: Clone> Iterator for Repeat<T> { type Item = T; fn next(&mut self) -> Option<T> { Option::Some(self.value.clone()) } }
    pub fn repeat<T>(value: T) -> Repeat<T> { Repeat { value } }
    pub fn repeat_n<T>(value: T, n: usize) -> Take<Repeat<T>> { Take { iter: Repeat { value }, n } }
    pub struct RepeatWith<F> { f: F }
    impl<T, F: FnMut() -> T> Iterator for RepeatWith<F> { type Item = T; fn next(&mut self) -> Option<T> { Option::Some((self.f)()) } }
    pub fn repeat_with<T, F: FnMut() -> T>(f: F) -> RepeatWith<F> { RepeatWith { f } }
    pub struct Rev<I> { pub iter: I }
    impl<'a, T> Iterator for Rev<crate::slice::Iter<'a, T>> {
        type Item = &'a T;
        fn next(&mut self) -> Option<&'a T> {
            if self.iter.at < self.iter.end { self.iter.end -= 1; Option::Some(&self.iter.slice[self.iter.end]) } else { Option::None }
        }
    }
    impl<'a, T> Iterator for Rev<crate::slice::IterMut<'a, T>> {
        type Item = &'a mut T;
        fn next(&mut self) -> Option<&'a mut T> {
            if self.iter.at < self.iter.end { self.iter.end -= 1; Option::Some(crate::palisade::same(&raw mut self.iter.slice[self.iter.end])) } else { Option::None }
        }
    }
    impl<T> Iterator for Rev<crate::vec::IntoIter<T>> {
        type Item = T;
        fn next(&mut self) -> Option<T> { self.iter.next_back() }
    }
    impl<T: Copy> Iterator for Rev<crate::ops::Range<T>> {
        type Item = T;
        fn next(&mut self) -> Option<T> {
            if crate::palisade::binary("Lt", self.iter.start, self.iter.end) {
                let one: usize = 1;
                self.iter.end = crate::palisade::binary("Sub", self.iter.end, one);
                Option::Some(self.iter.end)
            } else {
                Option::None
            }
        }
    }
    impl<T: Copy> Iterator for crate::ops::Range<T> {
        type Item = T;
        fn next(&mut self) -> Option<T> {
            if crate::palisade::binary("Lt", self.start, self.end) {
                let item = self.start;
                self.end = crate::palisade::few(item, self.end);
                let one: usize = 1;
                self.start = crate::palisade::binary("Add", item, one);
                Option::Some(item)
            } else {
                Option::None
            }
        }
    }
    impl<T: Copy> Iterator for crate::ops::RangeFrom<T> {
        type Item = T;
        fn next(&mut self) -> Option<T> {
            let item = self.start;
            let one: usize = 1;
            self.start = crate::palisade::binary("Add", item, one);
            Option::Some(item)
        }
    }
    impl<T: Copy> Iterator for crate::ops::RangeInclusive<T> {
        type Item = T;
        fn next(&mut self) -> Option<T> {
            if self.exhausted { return Option::None }
            if crate::palisade::binary("Lt", self.start, self.end) {
                let item = self.start;
                let one: usize = 1;
                self.start = crate::palisade::binary("Add", item, one);
                return Option::Some(item);
            }
            self.exhausted = true;
            if crate::palisade::binary("Eq", self.start, self.end) { Option::Some(self.start) } else { Option::None }
        }
    }
    pub struct Repeat<T> { value: T }
    pub fn from_fn<T, F: FnMut() -> Option<T>>(f: F) -> FromFn<F> { FromFn { f } }
    pub struct FromFn<F> { f: F }
    impl<T, F: FnMut() -> Option<T>> Iterator for FromFn<F> {
        type Item = T;
        fn next(&mut self) -> Option<T> { (self.f)() }
    }
}

pub mod slice {
    use crate::option::Option;
    pub struct Iter<'a, T> { pub slice: &'a [T], pub at: usize, pub end: usize }
    pub struct IterMut<'a, T> { pub slice: &'a mut [T], pub at: usize, pub end: usize }
    impl<'a, T> crate::iter::Iterator for Iter<'a, T> {
        type Item = &'a T;
        fn next(&mut self) -> Option<&'a T> {
            if self.at < self.end {
                let item = &self.slice[self.at];
                self.at += 1;
                Option::Some(item)
            } else {
                Option::None
            }
        }
    }
    impl<'a, T> crate::iter::Iterator for IterMut<'a, T> {
        type Item = &'a mut T;
        fn next(&mut self) -> Option<&'a mut T> {
            if self.at < self.end {
                let item = crate::palisade::same(&raw mut self.slice[self.at]);
                self.at += 1;
                Option::Some(item)
            } else {
                Option::None
            }
        }
    }
    pub struct Chunks<'a, T> { pub slice: &'a [T], pub at: usize, pub size: usize }
    impl<'a, T> crate::iter::Iterator for Chunks<'a, T> {
        type Item = &'a [T];
        fn next(&mut self) -> Option<&'a [T]> {
            let n = crate::palisade::len(self.slice);
            if self.at >= n { return Option::None }
            let length = if n - self.at < self.size { n - self.at } else { self.size };
            let first: *const T = &raw const self.slice[self.at];
            self.at += length;
            Option::Some(crate::palisade::slice(first, length))
        }
    }
    pub struct ChunksMut<'a, T> { pub slice: &'a mut [T], pub at: usize, pub size: usize }
    impl<'a, T> crate::iter::Iterator for ChunksMut<'a, T> {
        type Item = &'a mut [T];
        fn next(&mut self) -> Option<&'a mut [T]> {
            let n = crate::palisade::len(self.slice);
            if self.at >= n { return Option::None }
            let length = if n - self.at < self.size { n - self.at } else { self.size };
            let first: *const T = &raw const self.slice[self.at];
            self.at += length;
            Option::Some(crate::palisade::slice(first, length))
        }
    }
    impl<'a, T> Clone for Iter<'a, T> { fn clone(&self) -> Self { Iter { slice: self.slice, at: self.at, end: self.end } } }
    pub struct Windows<'a, T> { pub slice: &'a [T], pub at: usize, pub size: usize }
    impl<'a, T> crate::iter::Iterator for Windows<'a, T> {
        type Item = &'a [T];
        fn next(&mut self) -> Option<&'a [T]> {
            if self.at + self.size > crate::palisade::len(self.slice) { return Option::None }
            let first: *const T = &raw const self.slice[self.at];
            self.at += 1;
            Option::Some(crate::palisade::slice(first, self.size))
        }
    }
    fn part<T, S>(s: &[T], from: usize, to: usize) -> S {
        if from > to || to > crate::palisade::len(s) { crate::palisade::fail() }
        if crate::palisade::len(s) == 0 { return crate::palisade::same(s) }
        let p: *const T = crate::palisade::same(&raw const s[0]);
        crate::palisade::slice(crate::palisade::offset(p, from), to - from)
    }
    /// Parts of slices and arrays; those of vectors stand with them.
    pub trait Index<R, T> { fn index(&self, range: R) -> &[T]; }
    pub trait IndexMut<R, T> { fn index_mut(&mut self, range: R) -> &mut [T]; }
    impl<T, R: crate::vec::Part> Index<R, T> for [T] { fn index(&self, r: R) -> &[T] { part(self, r.from(), r.to(crate::palisade::len(self))) } }
    impl<T, R: crate::vec::Part> IndexMut<R, T> for [T] { fn index_mut(&mut self, r: R) -> &mut [T] { part(self, r.from(), r.to(crate::palisade::len(self))) } }
    impl<T, R: crate::vec::Part, const N: usize> Index<R, T> for [T; N] { fn index(&self, r: R) -> &[T] { part(self, r.from(), r.to(N)) } }
    impl<T, R: crate::vec::Part, const N: usize> IndexMut<R, T> for [T; N] { fn index_mut(&mut self, r: R) -> &mut [T] { part(self, r.from(), r.to(N)) } }
    /// What `get` takes: a number or a range.
    pub trait At<T> { type Output: ?Sized; fn at(self, s: &[T]) -> Option<&Self::Output>; fn at_mut(self, s: &mut [T]) -> Option<&mut Self::Output>; }
    impl<T> At<T> for usize {
        type Output = T;
        fn at(self, s: &[T]) -> Option<&T> { if self < crate::palisade::len(s) { Option::Some(&s[self]) } else { Option::None } }
        fn at_mut(self, s: &mut [T]) -> Option<&mut T> { if self < crate::palisade::len(s) { Option::Some(&mut s[self]) } else { Option::None } }
    }
    fn is_inside<R: crate::vec::Part>(r: &R, n: usize) -> bool { r.from() <= r.to(n) && r.to(n) <= n }
    impl<T, R: crate::vec::Part> At<T> for R {
        type Output = [T];
        fn at(self, s: &[T]) -> Option<&[T]> { let n = crate::palisade::len(s); if is_inside(&self, n) { Option::Some(part(s, self.from(), self.to(n))) } else { Option::None } }
        fn at_mut(self, s: &mut [T]) -> Option<&mut [T]> { let n = crate::palisade::len(s); if is_inside(&self, n) { Option::Some(part(s, self.from(), self.to(n))) } else { Option::None } }
    }
    impl<'a, T> crate::iter::IntoIterator for &'a [T] {
        type Item = &'a T;
        type IntoIter = Iter<'a, T>;
        fn into_iter(self) -> Iter<'a, T> { Iter { slice: self, at: 0, end: crate::palisade::len(self) } }
    }
    impl<'a, T> crate::iter::IntoIterator for &'a crate::boxed::Box<[T]> {
        type Item = &'a T;
        type IntoIter = Iter<'a, T>;
        fn into_iter(self) -> Iter<'a, T> { let s: &'a [T] = crate::palisade::same(crate::boxed::Box::as_ptr(self)); Iter { slice: s, at: 0, end: crate::palisade::len(s) } }
    }
    impl<'a, T, const N: usize> crate::iter::IntoIterator for &'a [T; N] {
        type Item = &'a T;
        type IntoIter = Iter<'a, T>;
        fn into_iter(self) -> Iter<'a, T> { let s: &'a [T] = self; Iter { slice: s, at: 0, end: N } }
    }
    impl<'a, T, const N: usize> crate::iter::IntoIterator for &'a mut [T; N] {
        type Item = &'a mut T;
        type IntoIter = IterMut<'a, T>;
        fn into_iter(self) -> IterMut<'a, T> { let s: &'a mut [T] = self; IterMut { slice: s, at: 0, end: N } }
    }
    impl<'a, T> crate::iter::IntoIterator for &'a mut crate::vec::Vec<T> {
        type Item = &'a mut T;
        type IntoIter = IterMut<'a, T>;
        fn into_iter(self) -> IterMut<'a, T> { let end = self.len(); IterMut { slice: self.as_mut_slice(), at: 0, end } }
    }
    pub fn from_raw_parts<'a, T>(p: *const T, length: usize) -> &'a [T] { crate::palisade::slice(p, length) }
    pub fn from_raw_parts_mut<'a, T>(p: *mut T, length: usize) -> &'a mut [T] { crate::palisade::slice(p, length) }
}

pub mod array {
    use crate::option::Option;
    use crate::palisade;
    pub struct IntoIter<T> { p: *mut T, at: usize, end: usize }
    impl<T, const N: usize> crate::iter::IntoIterator for [T; N] {
        type Item = T;
        type IntoIter = IntoIter<T>;
        fn into_iter(self) -> IntoIter<T> {
            let p = palisade::allocate_array::<T>(N);
            let kept = crate::mem::ManuallyDrop::new(self);
            let from: *const T = crate::mem::first_of(&kept);
            let mut at = 0;
            while at < N {
                palisade::write(palisade::offset(p, at), palisade::read(palisade::offset(from, at)));
                at += 1;
            }
            IntoIter { p, at: 0, end: N }
        }
    }
    /// What was not taken is dropped.
    impl<T> Drop for IntoIter<T> {
        fn drop(&mut self) {
            let (p, mut at, end) = (self.p, self.at, self.end);
            while at < end {
                palisade::drop(palisade::offset(p, at));
                at += 1;
            }
            palisade::free(p);
        }
    }
    impl<T> crate::iter::Iterator for IntoIter<T> {
        type Item = T;
        fn next(&mut self) -> Option<T> {
            let at = self.at;
            if at < self.end {
                let item = palisade::read(palisade::offset(self.p, at));
                self.at = at + 1;
                Option::Some(item)
            } else {
                Option::None
            }
        }
    }
    pub fn from_fn<T, const N: usize, F: FnMut(usize) -> T>(mut f: F) -> [T; N] {
        let array: crate::mem::MaybeUninit<[T; N]> = crate::mem::MaybeUninit::uninit();
        let p: *mut T = palisade::offset(array.as_ptr() as *const T, 0);
        let mut at = 0;
        while at < N {
            palisade::write(palisade::offset(p, at), f(at));
            at += 1;
        }
        unsafe { array.assume_init() }
    }
}

pub mod vec {
    use crate::option::Option;
    use crate::palisade;
    /// How much fits is known from the allocation.
    pub struct Vec<T> { p: *mut T, length: usize }
    impl<T> Vec<T> {
        pub const fn new() -> Self { Vec { p: std::ptr::null_mut(), length: 0 } }
        pub fn with_capacity(capacity: usize) -> Self {
            let mut v = Vec::new();
            v.grow(capacity);
            v
        }
        pub unsafe fn set_len(&mut self, length: usize) { self.length = length; }
        pub unsafe fn from_raw_parts(p: *mut T, length: usize, capacity: usize) -> Self { Vec { p, length } }
        /// What threads share is read once in each function: reading it again is another access, and could be another value as far as a translation knows.
        fn grow(&mut self, capacity: usize) { let (p, length) = (self.p, self.length); self.p = grown(p, length, capacity); }
        pub fn push(&mut self, value: T) {
            let (mut p, length) = (self.p, self.length);
            let capacity = palisade::capacity(p);
            if length > capacity { palisade::fail() }
            if length == capacity {
                p = grown(p, length, if capacity == 0 { 4 } else { capacity * 2 });
                self.p = p;
            }
            palisade::write(palisade::offset(p, length), value);
            self.length = length + 1;
        }
        pub fn pop(&mut self) -> Option<T> {
            let length = self.length;
            if length == 0 { return Option::None }
            self.length = length - 1;
            Option::Some(palisade::read(palisade::offset(self.p, length - 1)))
        }
        pub fn len(&self) -> usize { self.length }
        pub fn capacity(&self) -> usize { palisade::capacity(self.p) }
        pub fn is_empty(&self) -> bool { self.length == 0 }
        pub fn as_slice(&self) -> &[T] { palisade::slice(self.p, self.length) }
        pub fn as_mut_slice(&mut self) -> &mut [T] { palisade::slice(self.p, self.length) }
        pub fn as_ptr(&self) -> *const T { self.p }
        pub fn as_mut_ptr(&mut self) -> *mut T { self.p }
        pub fn clear(&mut self) { while let Option::Some(x) = self.pop() {} }
        pub fn truncate(&mut self, n: usize) { while self.length > n { self.pop(); } }
        pub fn insert(&mut self, at: usize, value: T) {
            let length = self.length;
            if at > length { palisade::fail() }
            self.push(value);
            let (p, mut k) = (self.p, length);
            while k > at {
                let x = palisade::read(palisade::offset(p, k));
                let y = palisade::read(palisade::offset(p, k - 1));
                palisade::write(palisade::offset(p, k), y);
                palisade::write(palisade::offset(p, k - 1), x);
                k -= 1;
            }
        }
        pub fn append(&mut self, other: &mut Vec<T>) {
            let more = crate::mem::replace(other, Vec::new());
            let mut more = crate::iter::IntoIterator::into_iter(more);
            while let Option::Some(x) = crate::iter::Iterator::next(&mut more) { self.push(x); }
        }
        pub fn resize(&mut self, n: usize, value: T) where T: Clone {
            self.truncate(n);
            while self.length < n { self.push(value.clone()); }
        }
        pub fn retain<F: FnMut(&T) -> bool>(&mut self, mut f: F) {
            let mut at = 0;
            while at < self.length {
                let item: &T = palisade::same(palisade::offset(self.p, at));
                if f(item) { at += 1; } else { self.remove(at); }
            }
        }
        pub fn retain_mut<F: FnMut(&mut T) -> bool>(&mut self, mut f: F) {
            let mut at = 0;
            while at < self.length {
                let item: &mut T = palisade::same(palisade::offset(self.p, at));
                if f(item) { at += 1; } else { self.remove(at); }
            }
        }
        pub fn reserve(&mut self, n: usize) {}
        pub fn shrink_to_fit(&mut self) {}
        pub fn extend_from_slice(&mut self, other: &[T]) where T: Clone {
            let mut at = 0;
            while at < palisade::len(other) {
                self.push(other[at].clone());
                at += 1;
            }
        }
        pub fn remove(&mut self, at: usize) -> T {
            let (p, length) = (self.p, self.length);
            if at >= length { palisade::fail() }
            let item = palisade::read(palisade::offset(p, at));
            let mut k = at + 1;
            while k < length {
                palisade::write(palisade::offset(p, k - 1), palisade::read(palisade::offset(p, k)));
                k += 1;
            }
            self.length = length - 1;
            item
        }
        pub fn swap_remove(&mut self, at: usize) -> T {
            let (p, length) = (self.p, self.length);
            if at >= length { palisade::fail() }
            let item = palisade::read(palisade::offset(p, at));
            if at + 1 < length { palisade::write(palisade::offset(p, at), palisade::read(palisade::offset(p, length - 1))); }
            self.length = length - 1;
            item
        }
        pub fn into_boxed_slice(self) -> crate::boxed::Box<[T]> {
            let kept = crate::mem::ManuallyDrop::new(self);
            let (p, length) = crate::vec::parts(&kept);
            unsafe { crate::boxed::Box::from_raw(palisade::slice(p, length)) }
        }
        pub fn drain<R: Part>(&mut self, range: R) -> Drain<T> {
            let length = self.length;
            let (from, to) = (range.from(), range.to(length));
            if from > to || to > length { palisade::fail() }
            let mut taken = Vec::new();
            let mut at = from;
            while at < to {
                taken.push(self.remove(from));
                at += 1;
            }
            Drain { taken: crate::iter::IntoIterator::into_iter(taken) }
        }
    }
    /// What was taken out of a vector.
    pub struct Drain<T> { taken: IntoIter<T> }
    impl<T> crate::iter::Iterator for Drain<T> { type Item = T; fn next(&mut self) -> Option<T> { self.taken.next() } }
    /// A part of what has a length.
    pub trait Part { fn from(&self) -> usize; fn to(&self, length: usize) -> usize; }
    impl Part for crate::ops::Range<usize> { fn from(&self) -> usize { self.start } fn to(&self, length: usize) -> usize { self.end } }
    impl Part for crate::ops::RangeFrom<usize> { fn from(&self) -> usize { self.start } fn to(&self, length: usize) -> usize { length } }
    impl Part for crate::ops::RangeTo<usize> { fn from(&self) -> usize { 0 } fn to(&self, length: usize) -> usize { self.end } }
    impl Part for crate::ops::RangeInclusive<usize> { fn from(&self) -> usize { self.start } fn to(&self, length: usize) -> usize { if self.end == usize::MAX { palisade::fail() } self.end + 1 } }
    impl Part for crate::ops::RangeToInclusive<usize> { fn from(&self) -> usize { 0 } fn to(&self, length: usize) -> usize { if self.end == usize::MAX { palisade::fail() } self.end + 1 } }
    impl Part for crate::ops::RangeFull { fn from(&self) -> usize { 0 } fn to(&self, length: usize) -> usize { length } }
    fn grown<T>(from: *mut T, length: usize, capacity: usize) -> *mut T {
        let before = palisade::capacity(from);
        if capacity <= before { return from }
        if capacity > 4 && palisade::has_few(from) { palisade::bound("a Vec with more than 4 elements that several threads share") }
        if capacity > 64 && !palisade::alone() { palisade::bound("a Vec with more than 64 elements in a program with several threads") }
        let p = palisade::allocate_array::<T>(capacity);
        let mut at = 0;
        while at < length {
            palisade::write(palisade::offset(p, at), palisade::read(palisade::offset(from, at)));
            at += 1;
        }
        if before > 0 { palisade::free(from); }
        p
    }
    pub fn parts<T>(v: &crate::mem::ManuallyDrop<Vec<T>>) -> (*mut T, usize) { let v: &Vec<T> = crate::mem::kept(v); (v.p, v.length) }
    impl<T> Drop for Vec<T> {
        fn drop(&mut self) {
            let (p, length) = (self.p, self.length);
            if length > palisade::capacity(p) { palisade::fail() }
            let mut at = 0;
            while at < length {
                palisade::drop(palisade::offset(p, at));
                at += 1;
            }
            if palisade::capacity(p) > 0 { palisade::free(p); }
        }
    }
    impl<T> Default for Vec<T> { fn default() -> Self { Vec::new() } }
    impl<'a, T: Copy + 'a> crate::iter::Extend<&'a T> for Vec<T> {
        fn extend<I: crate::iter::IntoIterator<Item = &'a T>>(&mut self, items: I) where I::IntoIter: crate::iter::Iterator<Item = &'a T> {
            let mut items = items.into_iter();
            while let Option::Some(x) = crate::iter::Iterator::next(&mut items) { self.push(*x); }
        }
    }
    impl<T> crate::iter::Extend<T> for Vec<T> {
        fn extend<I: crate::iter::IntoIterator<Item = T>>(&mut self, items: I) where I::IntoIter: crate::iter::Iterator<Item = T> {
            let mut items = items.into_iter();
            while let Option::Some(x) = crate::iter::Iterator::next(&mut items) { self.push(x); }
        }
    }
    impl<T, const N: usize> From<[T; N]> for Vec<T> {
        fn from(array: [T; N]) -> Self {
            let mut v = Vec::new();
            let mut items = crate::iter::IntoIterator::into_iter(array);
            while let Option::Some(x) = crate::iter::Iterator::next(&mut items) { v.push(x); }
            v
        }
    }
    fn same_items<T: PartialEq>(a: &[T], b: &[T]) -> bool {
        if palisade::len(a) != palisade::len(b) { return false }
        let mut at = 0;
        while at < palisade::len(a) {
            if a[at] != b[at] { return false }
            at += 1;
        }
        true
    }
    impl<T: PartialEq> PartialEq<Vec<T>> for Vec<T> {
        fn eq(&self, other: &Vec<T>) -> bool { same_items(self.as_slice(), other.as_slice()) }
        fn ne(&self, other: &Vec<T>) -> bool { !same_items(self.as_slice(), other.as_slice()) }
    }
    impl<T: PartialEq, const N: usize> PartialEq<[T; N]> for Vec<T> {
        fn eq(&self, other: &[T; N]) -> bool { same_items(self.as_slice(), other) }
        fn ne(&self, other: &[T; N]) -> bool { !same_items(self.as_slice(), other) }
    }
    impl<T> std::ops::Deref for Vec<T> { type Target = [T]; fn deref(&self) -> &[T] { palisade::slice(self.p, self.length) } }
    impl<T> std::ops::DerefMut for Vec<T> { fn deref_mut(&mut self) -> &mut [T] { palisade::slice(self.p, self.length) } }
    impl<T> std::ops::Index<usize> for Vec<T> { type Output = T; fn index(&self, at: usize) -> &T { if at >= self.length { palisade::fail() } palisade::same(palisade::offset(self.p, at)) } }
    impl<T> std::ops::IndexMut<usize> for Vec<T> { fn index_mut(&mut self, at: usize) -> &mut T { if at >= self.length { palisade::fail() } palisade::same(palisade::offset(self.p, at)) } }
    impl<T, R: Part> crate::slice::Index<R, T> for Vec<T> { fn index(&self, r: R) -> &[T] { let s: &[T] = palisade::slice(self.p, self.length); crate::slice::Index::index(s, r) } }
    impl<T, R: Part> crate::slice::IndexMut<R, T> for Vec<T> { fn index_mut(&mut self, r: R) -> &mut [T] { let s: &mut [T] = palisade::slice(self.p, self.length); crate::slice::IndexMut::index_mut(s, r) } }
    impl<T> Vec<T> {
        pub fn dedup(&mut self) where T: PartialEq {
            let mut at = 1;
            while at < self.length {
                if self[at] == self[at - 1] { crate::mem::drop(self.remove(at)); } else { at += 1; }
            }
        }
        pub fn split_off(&mut self, at: usize) -> Vec<T> {
            if at > self.length { palisade::fail() }
            let mut rest = Vec::new();
            while at < self.length { rest.push(self.remove(at)); }
            rest
        }
        pub fn resize_with<F: FnMut() -> T>(&mut self, n: usize, mut f: F) {
            while self.length > n { crate::mem::drop(self.pop()); }
            while self.length < n { self.push(f()); }
        }
        pub fn pop_if<F: FnOnce(&mut T) -> bool>(&mut self, f: F) -> Option<T> {
            let n = self.length;
            if n > 0 && f(&mut self[n - 1]) { self.pop() } else { Option::None }
        }
        pub fn leak<'a>(self) -> &'a mut [T] {
            let kept = crate::mem::ManuallyDrop::new(self);
            let (p, length) = parts(&kept);
            palisade::slice(p, length)
        }
    }
    impl<T: Clone> From<&[T]> for Vec<T> { fn from(s: &[T]) -> Self { crate::prim::slice_to_vec(s) } }
    pub trait TryFrom<A>: Sized { type Error; fn try_from(value: A) -> crate::result::Result<Self, Self::Error>; }
    impl<T, const N: usize> TryFrom<Vec<T>> for [T; N] {
        type Error = Vec<T>;
        fn try_from(items: Vec<T>) -> crate::result::Result<[T; N], Vec<T>> {
            if items.len() != N { return crate::result::Result::Err(items) }
            let mut items = crate::iter::IntoIterator::into_iter(items);
            crate::result::Result::Ok(crate::array::from_fn(|_| crate::iter::Iterator::next(&mut items).unwrap()))
        }
    }
    impl<'a, T: Copy, const N: usize> TryFrom<&'a [T]> for [T; N] {
        type Error = ();
        fn try_from(items: &'a [T]) -> crate::result::Result<[T; N], ()> {
            if palisade::len(items) != N { return crate::result::Result::Err(()) }
            crate::result::Result::Ok(crate::array::from_fn(|at| items[at]))
        }
    }
    impl<T: Clone> Clone for Vec<T> {
        fn clone(&self) -> Self {
            let mut v = Vec::new();
            let mut at = 0;
            while at < self.length {
                let item: &T = palisade::same(palisade::offset(self.p, at));
                v.push(item.clone());
                at += 1;
            }
            v
        }
    }
    impl<T> crate::iter::FromIterator<T> for Vec<T> {
        fn from_iter<I: crate::iter::Iterator<Item = T>>(mut iter: I) -> Self {
            let mut v = Vec::new();
            loop {
                match iter.next() { Option::Some(x) => v.push(x), Option::None => return v }
            }
        }
    }
    impl<T> crate::iter::FromIterator<T> for crate::boxed::Box<[T]> {
        fn from_iter<I: crate::iter::Iterator<Item = T>>(iter: I) -> Self {
            <Vec<T> as crate::iter::FromIterator<T>>::from_iter(iter).into_boxed_slice()
        }
    }
    impl<T> From<Vec<T>> for crate::boxed::Box<[T]> {
        fn from(values: Vec<T>) -> Self { values.into_boxed_slice() }
    }
    pub struct IntoIter<T> { p: *mut T, at: usize, end: usize }
    impl<T> crate::iter::IntoIterator for Vec<T> {
        type Item = T;
        type IntoIter = IntoIter<T>;
        fn into_iter(self) -> IntoIter<T> {
            let kept = crate::mem::ManuallyDrop::new(self);
            let (p, end) = parts(&kept);
            IntoIter { p, at: 0, end }
        }
    }
    impl<'a, T> crate::iter::IntoIterator for &'a Vec<T> {
        type Item = &'a T;
        type IntoIter = crate::slice::Iter<'a, T>;
        fn into_iter(self) -> crate::slice::Iter<'a, T> { let s: &'a [T] = palisade::slice(self.p, self.length); crate::slice::Iter { slice: s, at: 0, end: self.length } }
    }
    impl<T> crate::iter::Iterator for IntoIter<T> {
        type Item = T;
        fn next(&mut self) -> Option<T> {
            let at = self.at;
            if at < self.end {
                let item = palisade::read(palisade::offset(self.p, at));
                self.at = at + 1;
                Option::Some(item)
            } else {
                Option::None
            }
        }
    }
    impl<T> IntoIter<T> {
        pub fn next_back(&mut self) -> Option<T> {
            let end = self.end;
            if self.at < end {
                self.end = end - 1;
                Option::Some(palisade::read(palisade::offset(self.p, end - 1)))
            } else {
                Option::None
            }
        }
    }
    impl<T> Drop for IntoIter<T> {
        fn drop(&mut self) {
            let (p, mut at, end) = (self.p, self.at, self.end);
            while at < end {
                palisade::drop(palisade::offset(p, at));
                at += 1;
            }
            if palisade::capacity(p) > 0 { palisade::free(p); }
        }
    }
    pub fn from_elem<T: Clone>(value: T, n: usize) -> Vec<T> {
        let mut v = Vec::new();
        let mut at = 0;
        while at < n {
            v.push(value.clone());
            at += 1;
        }
        v
    }
}

pub mod collections {
    use crate::iter::Iterator;
    use crate::option::Option;
    use crate::palisade;
    /// A queue of at most eight elements; more is a limit of the model.
    pub struct VecDeque<T> { p: *mut T, head: usize, length: usize }
    impl<T> VecDeque<T> {
        pub const fn new() -> Self { VecDeque { p: std::ptr::null_mut(), head: 0, length: 0 } }
        pub fn with_capacity(capacity: usize) -> Self { VecDeque::new() }
        pub fn len(&self) -> usize { self.length }
        pub fn is_empty(&self) -> bool { self.length == 0 }
        /// The place of the elements and how many there are, with room for one more.
        fn room(&mut self) -> (*mut T, usize) {
            let (mut p, length) = (self.p, self.length);
            if length == 8 { palisade::bound("a VecDeque with more than 8 elements") }
            if palisade::binary("Eq", p, 0usize) { p = palisade::allocate_array::<T>(8); self.p = p; }
            (p, length)
        }
        pub fn push_back(&mut self, value: T) {
            let (p, length) = self.room();
            palisade::write(palisade::offset(p, (self.head + length) & 7), value);
            self.length = length + 1;
        }
        pub fn push_front(&mut self, value: T) {
            let (p, length) = self.room();
            let head = (self.head + 7) & 7;
            self.head = head;
            palisade::write(palisade::offset(p, head), value);
            self.length = length + 1;
        }
        pub fn pop_front(&mut self) -> Option<T> {
            let length = self.length;
            if length == 0 { return Option::None }
            let head = self.head;
            let item = palisade::read(palisade::offset(self.p, head));
            self.head = (head + 1) & 7;
            self.length = length - 1;
            Option::Some(item)
        }
        pub fn pop_back(&mut self) -> Option<T> {
            let length = self.length;
            if length == 0 { return Option::None }
            self.length = length - 1;
            Option::Some(palisade::read(palisade::offset(self.p, (self.head + length - 1) & 7)))
        }
        pub fn clear(&mut self) { while let Option::Some(x) = self.pop_front() {} }
        pub fn back(&self) -> Option<&T> {
            let length = self.length;
            if length == 0 { return Option::None }
            Option::Some(palisade::same(palisade::offset(self.p, (self.head + length - 1) & 7)))
        }
        pub fn front(&self) -> Option<&T> {
            if self.length == 0 { return Option::None }
            Option::Some(palisade::same(palisade::offset(self.p, self.head)))
        }
    }
    impl<T> VecDeque<T> {
        fn place(&self, at: usize) -> *mut T { palisade::offset(self.p, (self.head + at) & 7) }
        pub fn get(&self, at: usize) -> Option<&T> { if at < self.length { Option::Some(palisade::same(self.place(at))) } else { Option::None } }
        pub fn get_mut(&mut self, at: usize) -> Option<&mut T> { if at < self.length { Option::Some(palisade::same(self.place(at))) } else { Option::None } }
        pub fn front_mut(&mut self) -> Option<&mut T> { self.get_mut(0) }
        pub fn back_mut(&mut self) -> Option<&mut T> { let n = self.length; if n == 0 { Option::None } else { self.get_mut(n - 1) } }
        pub fn contains(&self, item: &T) -> bool where T: PartialEq {
            let mut at = 0;
            while at < self.length {
                if *self.get(at).unwrap() == *item { return true }
                at += 1;
            }
            false
        }
        pub fn iter(&self) -> vec_deque::Iter<'_, T> { vec_deque::Iter { queue: self, at: 0 } }
        pub fn drain<R: crate::vec::Part>(&mut self, range: R) -> vec_deque::Drain<T> {
            if range.from() != 0 || range.to(self.length) != self.length { palisade::bound("a part of a VecDeque is drained") }
            vec_deque::Drain { queue: crate::mem::replace(self, VecDeque::new()) }
        }
        pub fn retain<F: FnMut(&T) -> bool>(&mut self, mut f: F) {
            let mut left = self.length;
            while left > 0 {
                let item = self.pop_front().unwrap();
                if f(&item) { self.push_back(item); }
                left -= 1;
            }
        }
        pub fn append(&mut self, other: &mut VecDeque<T>) { while let Option::Some(x) = other.pop_front() { self.push_back(x); } }
        pub fn capacity(&self) -> usize { 8 }
        pub fn reserve(&mut self, n: usize) {}
    }
    impl<T> std::ops::Index<usize> for VecDeque<T> { type Output = T; fn index(&self, at: usize) -> &T { if at >= self.length { palisade::fail() } palisade::same(self.place(at)) } }
    impl<T> std::ops::IndexMut<usize> for VecDeque<T> { fn index_mut(&mut self, at: usize) -> &mut T { if at >= self.length { palisade::fail() } palisade::same(self.place(at)) } }
    impl<T> crate::iter::Extend<T> for VecDeque<T> {
        fn extend<I: crate::iter::IntoIterator<Item = T>>(&mut self, items: I) where I::IntoIter: crate::iter::Iterator<Item = T> {
            let mut items = items.into_iter();
            while let Option::Some(x) = items.next() { self.push_back(x); }
        }
    }
    impl<T> crate::iter::FromIterator<T> for VecDeque<T> {
        fn from_iter<I: crate::iter::Iterator<Item = T>>(mut items: I) -> Self {
            let mut queue = VecDeque::new();
            while let Option::Some(x) = items.next() { queue.push_back(x); }
            queue
        }
    }
    impl<T, const N: usize> From<[T; N]> for VecDeque<T> {
        fn from(items: [T; N]) -> Self { <VecDeque<T> as crate::iter::FromIterator<T>>::from_iter(crate::iter::IntoIterator::into_iter(items)) }
    }
    impl<T> From<Vec<T>> for VecDeque<T> {
        fn from(items: Vec<T>) -> Self { <VecDeque<T> as crate::iter::FromIterator<T>>::from_iter(crate::iter::IntoIterator::into_iter(items)) }
    }
    impl<T> crate::iter::IntoIterator for VecDeque<T> {
        type Item = T;
        type IntoIter = vec_deque::IntoIter<T>;
        fn into_iter(self) -> vec_deque::IntoIter<T> { vec_deque::IntoIter { queue: self } }
    }
    impl<'a, T> crate::iter::IntoIterator for &'a VecDeque<T> {
        type Item = &'a T;
        type IntoIter = vec_deque::Iter<'a, T>;
        fn into_iter(self) -> vec_deque::Iter<'a, T> { vec_deque::Iter { queue: self, at: 0 } }
    }
    impl<T> Default for VecDeque<T> { fn default() -> Self { VecDeque::new() } }
    impl<T> Drop for VecDeque<T> {
        fn drop(&mut self) {
            while let Option::Some(x) = self.pop_front() {}
            if palisade::binary("Ne", self.p, 0usize) { palisade::free(self.p); }
        }
    }
    pub mod vec_deque {
        pub use super::VecDeque;
        use crate::option::Option;
        pub struct Iter<'a, T> { pub queue: &'a VecDeque<T>, pub at: usize }
        impl<'a, T> crate::iter::Iterator for Iter<'a, T> {
            type Item = &'a T;
            fn next(&mut self) -> Option<&'a T> { let item = self.queue.get(self.at); self.at += 1; item }
        }
        pub struct Drain<T> { pub queue: VecDeque<T> }
        impl<T> crate::iter::Iterator for Drain<T> { type Item = T; fn next(&mut self) -> Option<T> { self.queue.pop_front() } }
        pub struct IntoIter<T> { pub queue: VecDeque<T> }
        impl<T> crate::iter::Iterator for IntoIter<T> { type Item = T; fn next(&mut self) -> Option<T> { self.queue.pop_front() } }
    }

    use crate::vec::Vec;
    /// The order in which elements come. That of a hash is not known: any element may be the first one, and the others follow either way.
    pub struct Order { first: usize, done: usize, count: usize, pub back: bool }
    impl Order {
        pub fn of(count: usize, sorted: bool) -> Order {
            let mut order = Order { first: 0, done: 0, count, back: false };
            if !sorted && count > 1 && !palisade::alone() {
                while order.first + 1 < count && palisade::choose() { order.first += 1; }
                order.back = palisade::choose();
            }
            order
        }
        pub fn next(&mut self) -> Option<usize> {
            let (done, count) = (self.done, self.count);
            if done == count { return Option::None }
            self.done = done + 1;
            let at = if self.back { self.first + count - done } else { self.first + done };
            Option::Some(if at >= count { at - count } else { at })
        }
    }
// MAPS AND SETS
    /// What is in it has no order; the largest is looked for.
    pub struct BinaryHeap<T> { items: Vec<T> }
    impl<T: PartialOrd> BinaryHeap<T> {
        pub const fn new() -> Self { BinaryHeap { items: Vec::new() } }
        pub fn with_capacity(n: usize) -> Self { BinaryHeap { items: Vec::new() } }
        pub fn len(&self) -> usize { self.items.len() }
        pub fn is_empty(&self) -> bool { self.items.len() == 0 }
        fn largest(&self) -> usize {
            let (mut best, mut at) = (0, 1);
            while at < self.items.len() {
                if self.items[best] < self.items[at] { best = at; }
                at += 1;
            }
            best
        }
        pub fn push(&mut self, item: T) { self.items.push(item) }
        pub fn pop(&mut self) -> Option<T> { if self.items.len() == 0 { return Option::None } let at = self.largest(); Option::Some(self.items.swap_remove(at)) }
        pub fn peek(&self) -> Option<&T> { if self.items.len() == 0 { return Option::None } Option::Some(&self.items[self.largest()]) }
        pub fn clear(&mut self) { self.items.clear() }
        pub fn into_sorted_vec(self) -> Vec<T> { let mut items = self.items; crate::prim::slice_sort(items.as_mut_slice()); items }
    }
    impl<T> Default for BinaryHeap<T> { fn default() -> Self { BinaryHeap { items: Vec::new() } } }
    impl<T> crate::iter::FromIterator<T> for BinaryHeap<T> {
        fn from_iter<I: crate::iter::Iterator<Item = T>>(items: I) -> Self { BinaryHeap { items: <Vec<T> as crate::iter::FromIterator<T>>::from_iter(items) } }
    }
}

pub mod str {
    use crate::palisade;
    /// The characters of a text that is known.
    pub struct Chars { text: &'static str, at: usize, behind: usize }
    impl Chars { pub fn of(s: &str) -> Chars { Chars { text: palisade::same(s), at: 0, behind: 0 } } }
    impl crate::iter::Iterator for crate::iter::Rev<Chars> {
        type Item = char;
        fn next(&mut self) -> crate::option::Option<char> {
            let chars = &mut self.iter;
            let end = palisade::text_count(chars.text) - chars.behind;
            if chars.at >= end { return crate::option::Option::None }
            chars.behind += 1;
            crate::option::Option::Some(palisade::text_char(chars.text, end - 1))
        }
    }
    impl crate::iter::Iterator for Chars {
        type Item = char;
        fn next(&mut self) -> crate::option::Option<char> {
            if self.at >= palisade::text_count(self.text) - self.behind { return crate::option::Option::None }
            self.at += 1;
            crate::option::Option::Some(palisade::text_char(self.text, self.at - 1))
        }
    }
}

pub mod string {
    use crate::palisade;
    /// A text that is known; what formatting makes is not, and nothing can be asked about that.
    pub struct String { text: &'static str }
    impl String {
        pub const fn new() -> Self { String { text: "" } }
        pub fn with_capacity(n: usize) -> Self { String { text: "" } }
        pub fn push(&mut self, c: char) { self.text = palisade::text_join(self.text, c); }
        pub fn push_str(&mut self, s: &str) { self.text = palisade::text_join(self.text, s); }
        pub fn len(&self) -> usize { palisade::text_len(self.text) }
        pub fn is_empty(&self) -> bool { palisade::text_len(self.text) == 0 }
        pub fn as_str(&self) -> &str { self.text }
        pub fn clear(&mut self) { self.text = ""; }
    }
    impl Clone for String { fn clone(&self) -> Self { String { text: self.text } } }
    impl Default for String { fn default() -> Self { String { text: "" } } }
    impl std::ops::Deref for String { type Target = str; fn deref(&self) -> &str { self.text } }
    impl AsRef<str> for String { fn as_ref(&self) -> &str { self.text } }
    impl From<char> for String { fn from(c: char) -> Self { String { text: palisade::text_join("", c) } } }
    impl<'a> From<&'a str> for String { fn from(s: &'a str) -> Self { String { text: palisade::same(s) } } }
    impl PartialEq<String> for String {
        fn eq(&self, other: &String) -> bool { palisade::same_value(&self.text, &other.text) }
        fn ne(&self, other: &String) -> bool { !palisade::same_value(&self.text, &other.text) }
    }
    impl PartialEq<str> for String {
        fn eq(&self, other: &str) -> bool { palisade::same_value::<&str>(&self.text, palisade::same(other)) }
        fn ne(&self, other: &str) -> bool { !palisade::same_value::<&str>(&self.text, palisade::same(other)) }
    }
    impl<'a> PartialEq<&'a str> for String {
        fn eq(&self, other: &&'a str) -> bool { palisade::same_value::<&str>(&self.text, palisade::same(other)) }
        fn ne(&self, other: &&'a str) -> bool { !palisade::same_value::<&str>(&self.text, palisade::same(other)) }
    }
    /// What is written into it is not known, but that something is.
    pub trait Write { fn write_fmt<A>(&mut self, text: A) -> crate::result::Result<(), ()>; fn write_str(&mut self, s: &str) -> crate::result::Result<(), ()>; fn write_char(&mut self, c: char) -> crate::result::Result<(), ()>; }
    impl Write for String {
        fn write_fmt<A>(&mut self, text: A) -> crate::result::Result<(), ()> { self.text = palisade::text_join(self.text, text); crate::result::Result::Ok(()) }
        fn write_str(&mut self, s: &str) -> crate::result::Result<(), ()> { self.push_str(s); crate::result::Result::Ok(()) }
        fn write_char(&mut self, c: char) -> crate::result::Result<(), ()> { self.push(c); crate::result::Result::Ok(()) }
    }
    impl<'a> std::ops::Add<&'a str> for String { type Output = String; fn add(self, s: &'a str) -> String { String { text: palisade::text_join(self.text, s) } } }
    impl<'a> std::ops::AddAssign<&'a str> for String { fn add_assign(&mut self, s: &'a str) { self.push_str(s) } }
}
