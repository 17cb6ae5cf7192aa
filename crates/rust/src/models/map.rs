    /// Keys and what belongs to them. A map with an order is kept in it; without one, it may be gone through in several orders.
    pub struct MAP<K, V> { keys: Vec<K>, values: Vec<V> }
    impl<K: BOUND, V> MAP<K, V> {
        pub const fn new() -> Self { MAP { keys: Vec::new(), values: Vec::new() } }
        pub fn with_capacity(n: usize) -> Self { MAP { keys: Vec::new(), values: Vec::new() } }
        pub fn len(&self) -> usize { self.keys.len() }
        pub fn is_empty(&self) -> bool { self.keys.len() == 0 }
        /// Where a key is or would be, and whether it is there.
        fn find(&self, key: &K) -> (usize, bool) {
            let mut at = 0;
            while at < self.keys.len() {
                if self.keys[at] == *key { return (at, true) }
                if SORTED && *key < self.keys[at] { return (at, false) }
                at += 1;
            }
            (at, false)
        }
        pub fn contains_key(&self, key: &K) -> bool { self.find(key).1 }
        pub fn get(&self, key: &K) -> Option<&V> { let (at, is) = self.find(key); if is { Option::Some(&self.values[at]) } else { Option::None } }
        pub fn get_key_value(&self, key: &K) -> Option<(&K, &V)> { let (at, is) = self.find(key); if is { Option::Some((&self.keys[at], &self.values[at])) } else { Option::None } }
        pub fn get_mut(&mut self, key: &K) -> Option<&mut V> { let (at, is) = self.find(key); if is { Option::Some(&mut self.values[at]) } else { Option::None } }
        pub fn insert(&mut self, key: K, value: V) -> Option<V> {
            let (at, is) = self.find(&key);
            if is { return Option::Some(crate::mem::replace(&mut self.values[at], value)) }
            self.put(at, key, value);
            Option::None
        }
        fn put(&mut self, at: usize, key: K, value: V) {
            if SORTED { self.keys.insert(at, key); self.values.insert(at, value); } else { self.keys.push(key); self.values.push(value); }
        }
        fn cut(&mut self, at: usize) -> (K, V) {
            if SORTED { (self.keys.remove(at), self.values.remove(at)) } else { (self.keys.swap_remove(at), self.values.swap_remove(at)) }
        }
        pub fn remove(&mut self, key: &K) -> Option<V> { match self.remove_entry(key) { Option::Some((_, value)) => Option::Some(value), Option::None => Option::None } }
        pub fn remove_entry(&mut self, key: &K) -> Option<(K, V)> {
            let (at, is) = self.find(key);
            if is { Option::Some(self.cut(at)) } else { Option::None }
        }
        pub fn entry(&mut self, key: K) -> MAPS::Entry<'_, K, V> {
            let (at, is) = self.find(&key);
            if is { MAPS::Entry::Occupied(MAPS::OccupiedEntry { map: self, at, key }) } else { MAPS::Entry::Vacant(MAPS::VacantEntry { map: self, at, key }) }
        }
        pub fn clear(&mut self) { self.keys.clear(); self.values.clear(); }
        pub fn retain<F: FnMut(&K, &mut V) -> bool>(&mut self, mut f: F) {
            let mut at = 0;
            while at < self.keys.len() {
                if f(&self.keys[at], &mut self.values[at]) { at += 1; } else { self.cut(at); }
            }
        }
        pub fn iter(&self) -> MAPS::Iter<'_, K, V> { MAPS::Iter { map: self, order: Order::of(self.keys.len(), SORTED) } }
        pub fn keys(&self) -> MAPS::Keys<'_, K, V> { MAPS::Keys { all: self.iter() } }
        pub fn values(&self) -> MAPS::Values<'_, K, V> { MAPS::Values { all: self.iter() } }
        pub fn iter_mut(&mut self) -> MAPS::IterMut<'_, K, V> { let order = Order::of(self.keys.len(), SORTED); MAPS::IterMut { map: self, order } }
        pub fn values_mut(&mut self) -> MAPS::ValuesMut<'_, K, V> { MAPS::ValuesMut { all: self.iter_mut() } }
        pub fn first_key_value(&self) -> Option<(&K, &V)> { if self.keys.len() > 0 { Option::Some((&self.keys[0], &self.values[0])) } else { Option::None } }
        pub fn last_key_value(&self) -> Option<(&K, &V)> { let n = self.keys.len(); if n > 0 { Option::Some((&self.keys[n - 1], &self.values[n - 1])) } else { Option::None } }
        pub fn pop_first(&mut self) -> Option<(K, V)> { if self.keys.len() > 0 { Option::Some((self.keys.remove(0), self.values.remove(0))) } else { Option::None } }
        pub fn pop_last(&mut self) -> Option<(K, V)> { let n = self.keys.len(); if n > 0 { Option::Some((self.keys.remove(n - 1), self.values.remove(n - 1))) } else { Option::None } }
    }
    impl<K, V> Default for MAP<K, V> { fn default() -> Self { MAP { keys: Vec::new(), values: Vec::new() } } }
    impl<K: Clone, V: Clone> Clone for MAP<K, V> { fn clone(&self) -> Self { MAP { keys: self.keys.clone(), values: self.values.clone() } } }
    impl<'k, K: BOUND, V, Q: ?Sized> std::ops::Index<&'k Q> for MAP<K, V> {
        type Output = V;
        fn index(&self, key: &'k Q) -> &V { match self.get(palisade::same(key)) { Option::Some(value) => value, Option::None => palisade::fail() } }
    }
    impl<K: BOUND, V> crate::iter::Extend<(K, V)> for MAP<K, V> {
        fn extend<I: crate::iter::IntoIterator<Item = (K, V)>>(&mut self, items: I) where I::IntoIter: crate::iter::Iterator<Item = (K, V)> {
            let mut items = items.into_iter();
            while let Option::Some((key, value)) = items.next() { self.insert(key, value); }
        }
    }
    impl<K: BOUND, V> crate::iter::FromIterator<(K, V)> for MAP<K, V> {
        fn from_iter<I: crate::iter::Iterator<Item = (K, V)>>(mut items: I) -> Self {
            let mut map = MAP::new();
            while let Option::Some((key, value)) = items.next() { map.insert(key, value); }
            map
        }
    }
    impl<K: BOUND, V, const N: usize> From<[(K, V); N]> for MAP<K, V> {
        fn from(items: [(K, V); N]) -> Self {
            let mut map = MAP::new();
            let mut items = crate::iter::IntoIterator::into_iter(items);
            while let Option::Some((key, value)) = crate::iter::Iterator::next(&mut items) { map.insert(key, value); }
            map
        }
    }
    impl<K: BOUND, V> crate::iter::IntoIterator for MAP<K, V> {
        type Item = (K, V);
        type IntoIter = MAPS::IntoIter<K, V>;
        fn into_iter(self) -> MAPS::IntoIter<K, V> {
            let back = Order::of(self.keys.len(), SORTED).back;
            MAPS::IntoIter { map: self, back }
        }
    }
    impl<'a, K: BOUND, V> crate::iter::IntoIterator for &'a MAP<K, V> {
        type Item = (&'a K, &'a V);
        type IntoIter = MAPS::Iter<'a, K, V>;
        fn into_iter(self) -> MAPS::Iter<'a, K, V> { MAPS::Iter { map: self, order: Order::of(self.keys.len(), SORTED) } }
    }
    impl<'a, K: BOUND, V> crate::iter::IntoIterator for &'a mut MAP<K, V> {
        type Item = (&'a K, &'a mut V);
        type IntoIter = MAPS::IterMut<'a, K, V>;
        fn into_iter(self) -> MAPS::IterMut<'a, K, V> { let order = Order::of(self.keys.len(), SORTED); MAPS::IterMut { map: self, order } }
    }
    pub mod MAPS {
        use super::{MAP, Order};
        use crate::option::Option;
        use crate::palisade;
        pub struct OccupiedEntry<'a, K, V> { pub map: &'a mut MAP<K, V>, pub at: usize, pub key: K }
        pub struct VacantEntry<'a, K, V> { pub map: &'a mut MAP<K, V>, pub at: usize, pub key: K }
        pub enum Entry<'a, K, V> { Occupied(OccupiedEntry<'a, K, V>), Vacant(VacantEntry<'a, K, V>) }
        impl<'a, K: BOUND, V> Entry<'a, K, V> {
            pub fn or_insert(self, value: V) -> &'a mut V { match self { Entry::Occupied(e) => e.into_mut(), Entry::Vacant(e) => e.insert(value) } }
            pub fn or_insert_with<F: FnOnce() -> V>(self, f: F) -> &'a mut V { match self { Entry::Occupied(e) => e.into_mut(), Entry::Vacant(e) => e.insert(f()) } }
            pub fn or_default(self) -> &'a mut V where V: Default { match self { Entry::Occupied(e) => e.into_mut(), Entry::Vacant(e) => e.insert(<V as Default>::default()) } }
            pub fn and_modify<F: FnOnce(&mut V)>(self, f: F) -> Self {
                match self { Entry::Occupied(mut e) => { f(e.get_mut()); Entry::Occupied(e) } Entry::Vacant(e) => Entry::Vacant(e) }
            }
            pub fn key(&self) -> &K { match self { Entry::Occupied(e) => &e.key, Entry::Vacant(e) => &e.key } }
        }
        impl<'a, K: BOUND, V> OccupiedEntry<'a, K, V> {
            pub fn get(&self) -> &V { &self.map.values[self.at] }
            pub fn get_mut(&mut self) -> &mut V { &mut self.map.values[self.at] }
            pub fn into_mut(self) -> &'a mut V { palisade::same(&raw mut self.map.values[self.at]) }
            pub fn insert(&mut self, value: V) -> V { crate::mem::replace(&mut self.map.values[self.at], value) }
            pub fn remove(self) -> V { let (_, value) = self.map.cut(self.at); value }
            pub fn key(&self) -> &K { &self.key }
        }
        impl<'a, K: BOUND, V> VacantEntry<'a, K, V> {
            pub fn insert(self, value: V) -> &'a mut V {
                self.map.put(self.at, self.key, value);
                palisade::same(&raw mut self.map.values[self.at])
            }
            pub fn key(&self) -> &K { &self.key }
        }
        pub struct Iter<'a, K, V> { pub map: &'a MAP<K, V>, pub order: Order }
        impl<'a, K, V> crate::iter::Iterator for Iter<'a, K, V> {
            type Item = (&'a K, &'a V);
            fn next(&mut self) -> Option<(&'a K, &'a V)> {
                match self.order.next() { Option::Some(at) => Option::Some((&self.map.keys[at], &self.map.values[at])), Option::None => Option::None }
            }
        }
        pub struct IterMut<'a, K, V> { pub map: &'a mut MAP<K, V>, pub order: Order }
        impl<'a, K, V> crate::iter::Iterator for IterMut<'a, K, V> {
            type Item = (&'a K, &'a mut V);
            fn next(&mut self) -> Option<(&'a K, &'a mut V)> {
                match self.order.next() { Option::Some(at) => Option::Some((palisade::same(&raw const self.map.keys[at]), palisade::same(&raw mut self.map.values[at]))), Option::None => Option::None }
            }
        }
        pub struct Keys<'a, K, V> { pub all: Iter<'a, K, V> }
        impl<'a, K, V> crate::iter::Iterator for Keys<'a, K, V> {
            type Item = &'a K;
            fn next(&mut self) -> Option<&'a K> { match crate::iter::Iterator::next(&mut self.all) { Option::Some((key, _)) => Option::Some(key), Option::None => Option::None } }
        }
        pub struct Values<'a, K, V> { pub all: Iter<'a, K, V> }
        impl<'a, K, V> crate::iter::Iterator for Values<'a, K, V> {
            type Item = &'a V;
            fn next(&mut self) -> Option<&'a V> { match crate::iter::Iterator::next(&mut self.all) { Option::Some((_, value)) => Option::Some(value), Option::None => Option::None } }
        }
        pub struct ValuesMut<'a, K, V> { pub all: IterMut<'a, K, V> }
        impl<'a, K, V> crate::iter::Iterator for ValuesMut<'a, K, V> {
            type Item = &'a mut V;
            fn next(&mut self) -> Option<&'a mut V> { match crate::iter::Iterator::next(&mut self.all) { Option::Some((_, value)) => Option::Some(value), Option::None => Option::None } }
        }
        pub struct IntoIter<K, V> { pub map: MAP<K, V>, pub back: bool }
        impl<K: BOUND, V> crate::iter::Iterator for IntoIter<K, V> {
            type Item = (K, V);
            fn next(&mut self) -> Option<(K, V)> { if self.back { self.map.pop_last() } else { self.map.pop_first() } }
        }
    }

    pub struct SET<T> { items: Vec<T> }
    impl<T: BOUND> SET<T> {
        pub const fn new() -> Self { SET { items: Vec::new() } }
        pub fn with_capacity(n: usize) -> Self { SET { items: Vec::new() } }
        pub fn len(&self) -> usize { self.items.len() }
        pub fn is_empty(&self) -> bool { self.items.len() == 0 }
        fn find(&self, item: &T) -> (usize, bool) {
            let mut at = 0;
            while at < self.items.len() {
                if self.items[at] == *item { return (at, true) }
                if SORTED && *item < self.items[at] { return (at, false) }
                at += 1;
            }
            (at, false)
        }
        pub fn contains(&self, item: &T) -> bool { self.find(item).1 }
        pub fn insert(&mut self, item: T) -> bool {
            let (at, is) = self.find(&item);
            if is { return false }
            if SORTED { self.items.insert(at, item) } else { self.items.push(item) }
            true
        }
        pub fn remove(&mut self, item: &T) -> bool { let (at, is) = self.find(item); if is { self.items.remove(at); } is }
        pub fn take(&mut self, item: &T) -> Option<T> { let (at, is) = self.find(item); if is { Option::Some(self.items.remove(at)) } else { Option::None } }
        pub fn clear(&mut self) { self.items.clear() }
        pub fn retain<F: FnMut(&T) -> bool>(&mut self, f: F) { self.items.retain(f) }
        pub fn iter(&self) -> SETS::Iter<'_, T> { SETS::Iter { items: &self.items, order: Order::of(self.items.len(), SORTED) } }
        pub fn first(&self) -> Option<&T> { if self.items.len() > 0 { Option::Some(&self.items[0]) } else { Option::None } }
        pub fn last(&self) -> Option<&T> { let n = self.items.len(); if n > 0 { Option::Some(&self.items[n - 1]) } else { Option::None } }
        pub fn pop_first(&mut self) -> Option<T> { if self.items.len() > 0 { Option::Some(self.items.remove(0)) } else { Option::None } }
        pub fn pop_last(&mut self) -> Option<T> { self.items.pop() }
    }
    impl<T> Default for SET<T> { fn default() -> Self { SET { items: Vec::new() } } }
    impl<T: Clone> Clone for SET<T> { fn clone(&self) -> Self { SET { items: self.items.clone() } } }
    impl<T: BOUND> crate::iter::FromIterator<T> for SET<T> {
        fn from_iter<I: crate::iter::Iterator<Item = T>>(mut items: I) -> Self {
            let mut set = SET::new();
            while let Option::Some(item) = items.next() { set.insert(item); }
            set
        }
    }
    impl<T: BOUND> crate::iter::Extend<T> for SET<T> {
        fn extend<I: crate::iter::IntoIterator<Item = T>>(&mut self, items: I) where I::IntoIter: crate::iter::Iterator<Item = T> {
            let mut items = items.into_iter();
            while let Option::Some(item) = items.next() { self.insert(item); }
        }
    }
    impl<T: BOUND, const N: usize> From<[T; N]> for SET<T> {
        fn from(items: [T; N]) -> Self { <SET<T> as crate::iter::FromIterator<T>>::from_iter(crate::iter::IntoIterator::into_iter(items)) }
    }
    impl<T: BOUND> crate::iter::IntoIterator for SET<T> {
        type Item = T;
        type IntoIter = SETS::IntoIter<T>;
        fn into_iter(self) -> SETS::IntoIter<T> { let back = Order::of(self.items.len(), SORTED).back; SETS::IntoIter { set: self, back } }
    }
    impl<'a, T: BOUND> crate::iter::IntoIterator for &'a SET<T> {
        type Item = &'a T;
        type IntoIter = SETS::Iter<'a, T>;
        fn into_iter(self) -> SETS::Iter<'a, T> { SETS::Iter { items: &self.items, order: Order::of(self.items.len(), SORTED) } }
    }
    pub mod SETS {
        use super::{SET, Order};
        use crate::option::Option;
        pub struct Iter<'a, T> { pub items: &'a crate::vec::Vec<T>, pub order: Order }
        impl<'a, T> crate::iter::Iterator for Iter<'a, T> {
            type Item = &'a T;
            fn next(&mut self) -> Option<&'a T> { match self.order.next() { Option::Some(at) => Option::Some(&self.items[at]), Option::None => Option::None } }
        }
        pub struct IntoIter<T> { pub set: SET<T>, pub back: bool }
        impl<T: BOUND> crate::iter::Iterator for IntoIter<T> {
            type Item = T;
            fn next(&mut self) -> Option<T> { if self.back { self.set.pop_last() } else { self.set.pop_first() } }
        }
    }
