
/// Methods of primitive types: `ptr_add` is `<*mut T>::add`.
pub mod prim {
    use crate::palisade;
    use crate::option::Option;
    pub fn ptr_is_null<T>(p: *const T) -> bool { palisade::binary("Eq", p, 0usize) }
    pub fn ptr_add<T>(p: *const T, by: usize) -> *mut T { palisade::offset(p, by) }
    pub fn ptr_sub<T>(p: *const T, by: usize) -> *mut T { palisade::offset_back(p, by) }
    pub fn ptr_offset<T>(p: *const T, by: isize) -> *mut T { palisade::offset(p, by) }
    pub fn ptr_wrapping_offset<T>(p: *const T, by: isize) -> *mut T { palisade::offset(p, by) }
    /// Whole elements only: the machine has no bytes.
    fn elements<T>(bytes: usize) -> usize {
        let size = palisade::size_of::<T>();
        if size == 1 { return bytes }
        if size == 0 || bytes % size != 0 { palisade::bound("a pointer that is moved by a part of what it points to") }
        bytes / size
    }
    pub fn ptr_byte_add<T>(p: *const T, by: usize) -> *mut T { palisade::offset(p, elements::<T>(by)) }
    pub fn ptr_byte_sub<T>(p: *const T, by: usize) -> *mut T { palisade::offset_back(p, elements::<T>(by)) }
    pub fn ptr_copy_to_nonoverlapping<T>(p: *const T, to: *mut T, count: usize) { unsafe { crate::ptr::copy_nonoverlapping(p, to, count) } }
    pub fn ptr_copy_from_nonoverlapping<T>(p: *mut T, from: *const T, count: usize) { unsafe { crate::ptr::copy_nonoverlapping(from, p, count) } }
    pub fn ptr_is_aligned<T>(p: *const T) -> bool { true }
    pub fn ptr_wrapping_sub<T>(p: *const T, by: usize) -> *mut T { palisade::offset_back(p, by) }
    pub fn ptr_with_addr<T>(p: *const T, address: usize) -> *mut T { palisade::same(address) }
    pub fn ptr_swap<T>(p: *mut T, q: *mut T) { let x = palisade::read(p); let y = palisade::read(q); palisade::write(p, y); palisade::write(q, x); }
    pub fn ptr_wrapping_add<T>(p: *const T, by: usize) -> *mut T { palisade::offset(p, by) }
    pub fn ptr_cast<T, U>(p: *const T) -> *mut U { palisade::cast(p) }
    pub fn ptr_cast_mut<T>(p: *const T) -> *mut T { palisade::same(p) }
    pub fn ptr_cast_const<T>(p: *const T) -> *const T { p }
    pub fn ptr_read<T>(p: *const T) -> T { palisade::read(p) }
    pub fn ptr_write<T>(p: *mut T, value: T) { palisade::write(p, value) }
    pub fn ptr_read_volatile<T>(p: *const T) -> T { palisade::read(p) }
    pub fn ptr_write_volatile<T>(p: *mut T, value: T) { palisade::write(p, value) }
    pub fn ptr_replace<T>(p: *mut T, value: T) -> T { let old = palisade::read(p); palisade::write(p, value); old }
    pub fn ptr_drop_in_place<T>(p: *mut T) { palisade::drop(p) }
    pub fn ptr_addr<T>(p: *const T) -> usize { palisade::same(p) }
    pub fn ptr_expose_provenance<T>(p: *const T) -> usize { palisade::same(p) }
    pub fn ptr_map_addr<T, F: FnOnce(usize) -> usize>(p: *const T, f: F) -> *mut T { palisade::same(f(palisade::same(p))) }
    pub fn ptr_as_ref<'a, T>(p: *const T) -> Option<&'a T> { if ptr_is_null(p) { Option::None } else { Option::Some(palisade::same(p)) } }
    pub fn ptr_as_mut<'a, T>(p: *mut T) -> Option<&'a mut T> { if ptr_is_null(p) { Option::None } else { Option::Some(palisade::same(p)) } }

    pub fn int_wrapping_add<T>(a: T, b: T) -> T { palisade::binary("Add", a, b) }
    pub fn int_wrapping_sub<T>(a: T, b: T) -> T { palisade::binary("Sub", a, b) }
    pub fn int_wrapping_mul<T>(a: T, b: T) -> T { palisade::binary("Mul", a, b) }
    pub fn int_unchecked_add<T>(a: T, b: T) -> T { palisade::binary("Add", a, b) }
    pub fn int_unchecked_sub<T>(a: T, b: T) -> T { palisade::binary("Sub", a, b) }
    pub fn int_overflowing_add<T>(a: T, b: T) -> (T, bool) { palisade::binary("AddWithOverflow", a, b) }
    pub fn int_overflowing_sub<T>(a: T, b: T) -> (T, bool) { palisade::binary("SubWithOverflow", a, b) }
    pub fn int_checked_add<T>(a: T, b: T) -> Option<T> {
        let (value, over): (T, bool) = palisade::binary("AddWithOverflow", a, b);
        if over { Option::None } else { Option::Some(value) }
    }
    pub fn int_checked_sub<T>(a: T, b: T) -> Option<T> {
        let (value, over): (T, bool) = palisade::binary("SubWithOverflow", a, b);
        if over { Option::None } else { Option::Some(value) }
    }
    pub fn int_saturating_sub<T: Copy>(a: T, b: T) -> T {
        if palisade::binary("Lt", a, b) { palisade::binary("Sub", a, a) } else { palisade::binary("Sub", a, b) }
    }
    pub fn int_is_power_of_two<T: Copy>(a: T) -> bool {
        let less: T = palisade::binary("Sub", a, 1usize);
        let low: T = palisade::binary("BitAnd", a, less);
        palisade::binary::<T, usize, bool>("Ne", a, 0usize) && palisade::binary::<T, usize, bool>("Eq", low, 0usize)
    }
    pub fn int_overflowing_mul<T>(a: T, b: T) -> (T, bool) { palisade::binary("MulWithOverflow", a, b) }
    pub fn int_checked_mul<T>(a: T, b: T) -> Option<T> {
        let (value, over): (T, bool) = palisade::binary("MulWithOverflow", a, b);
        if over { Option::None } else { Option::Some(value) }
    }
    pub fn int_checked_div<T: Copy>(a: T, b: T) -> Option<T> { if palisade::binary("Eq", b, 0usize) { Option::None } else { Option::Some(palisade::binary("Div", a, b)) } }
    pub fn int_checked_rem<T: Copy>(a: T, b: T) -> Option<T> { if palisade::binary("Eq", b, 0usize) { Option::None } else { Option::Some(palisade::binary("Rem", a, b)) } }
    pub fn int_rem_euclid<T: Copy>(a: T, b: T) -> T { palisade::binary("Rem", a, b) }
    pub fn int_div_ceil<T: Copy>(a: T, b: T) -> T {
        let less: T = palisade::binary("Sub", b, 1usize);
        let sum: T = palisade::binary("Add", a, less);
        palisade::binary("Div", sum, b)
    }
    pub fn int_is_multiple_of<T: Copy>(a: T, b: T) -> bool { let rest: T = palisade::binary("Rem", a, b); palisade::binary("Eq", rest, 0usize) }
    pub fn int_pow<T: Copy>(a: T, n: u32) -> T {
        let mut result: T = palisade::same(palisade::binary::<T, T, T>("Sub", a, a));
        result = palisade::binary("Add", result, 1usize);
        let mut k = 0;
        while k < n {
            result = palisade::binary("Mul", result, a);
            k += 1;
        }
        result
    }
    pub fn int_wrapping_neg<T: Copy>(a: T) -> T { let zero: T = palisade::binary("Sub", a, a); palisade::binary("Sub", zero, a) }
    pub fn int_wrapping_shl<T>(a: T, by: u32) -> T { palisade::binary("Shl", a, by) }
    pub fn int_wrapping_shr<T>(a: T, by: u32) -> T { palisade::binary("Shr", a, by) }
    pub fn int_saturating_add<T: Copy>(a: T, b: T) -> T {
        let (value, over): (T, bool) = palisade::binary("AddWithOverflow", a, b);
        if over { let zero: T = palisade::binary("Sub", a, a); palisade::binary("Sub", zero, 1usize) } else { value }
    }
    pub fn int_trailing_zeros<T: Copy>(a: T) -> u32 {
        let mut n = 0;
        let mut rest = a;
        while n < palisade::bits(a) {
            let low: T = palisade::binary("BitAnd", rest, 1usize);
            if palisade::binary("Ne", low, 0usize) { return n }
            rest = palisade::binary("Shr", rest, 1usize);
            n += 1;
        }
        n
    }
    pub fn int_count_ones<T: Copy>(a: T) -> u32 {
        let mut n = 0;
        let mut k = 0;
        let mut rest = a;
        while k < palisade::bits(a) {
            let low: T = palisade::binary("BitAnd", rest, 1usize);
            if palisade::binary("Ne", low, 0usize) { n += 1; }
            rest = palisade::binary("Shr", rest, 1usize);
            k += 1;
        }
        n
    }
    pub fn int_leading_zeros<T: Copy>(a: T) -> u32 {
        let mut n = palisade::bits(a);
        let mut rest = a;
        while palisade::binary("Ne", rest, 0usize) {
            rest = palisade::binary("Shr", rest, 1usize);
            n -= 1;
        }
        n
    }
    pub fn int_checked_next_power_of_two<T: Copy>(a: T) -> Option<T> { Option::Some(int_next_power_of_two(a)) }
    pub fn int_next_power_of_two<T: Copy>(a: T) -> T {
        let zero: T = palisade::binary("Sub", a, a);
        let mut power: T = palisade::binary("Add", zero, 1usize);
        while palisade::binary("Lt", power, a) { power = palisade::binary("Add", power, power); }
        power
    }
    pub fn int_abs<T: Copy>(a: T) -> T { let zero: T = palisade::binary("Sub", a, a); if palisade::binary("Lt", a, zero) { palisade::binary("Sub", zero, a) } else { a } }
    pub fn int_min<T: Copy>(a: T, b: T) -> T { if palisade::binary("Lt", b, a) { b } else { a } }
    pub fn int_max<T: Copy>(a: T, b: T) -> T { if palisade::binary("Lt", a, b) { b } else { a } }
    pub fn int_abs_diff<T: Copy>(a: T, b: T) -> T { if palisade::binary("Lt", a, b) { palisade::binary("Sub", b, a) } else { palisade::binary("Sub", a, b) } }
    pub fn int_clamp<T: Copy>(a: T, low: T, high: T) -> T { int_min(int_max(a, low), high) }
    pub fn int_signum<T: Copy>(a: T) -> T {
        let zero: T = palisade::binary("Sub", a, a);
        if palisade::binary("Lt", a, zero) { palisade::binary("Sub", zero, 1usize) } else if palisade::binary("Gt", a, zero) { palisade::binary("Add", zero, 1usize) } else { zero }
    }
    pub fn int_is_negative<T: Copy>(a: T) -> bool { let zero: T = palisade::binary("Sub", a, a); palisade::binary("Lt", a, zero) }
    pub fn int_is_positive<T: Copy>(a: T) -> bool { let zero: T = palisade::binary("Sub", a, a); palisade::binary("Gt", a, zero) }
    pub fn int_rotate_left<T: Copy>(a: T, by: u32) -> T {
        let bits = palisade::bits(a);
        let by = by % bits;
        if by == 0 { return a }
        palisade::binary("BitOr", palisade::binary::<T, u32, T>("Shl", a, by), palisade::binary::<T, u32, T>("Shr", a, bits - by))
    }
    pub fn int_rotate_right<T: Copy>(a: T, by: u32) -> T { let bits = palisade::bits(a); int_rotate_left(a, bits - by % bits) }
    pub fn int_checked_shl<T: Copy>(a: T, by: u32) -> Option<T> { if by < palisade::bits(a) { Option::Some(palisade::binary("Shl", a, by)) } else { Option::None } }
    pub fn int_checked_shr<T: Copy>(a: T, by: u32) -> Option<T> { if by < palisade::bits(a) { Option::Some(palisade::binary("Shr", a, by)) } else { Option::None } }
    pub fn int_wrapping_div<T: Copy>(a: T, b: T) -> T { palisade::binary("Div", a, b) }
    pub fn int_wrapping_rem<T: Copy>(a: T, b: T) -> T { palisade::binary("Rem", a, b) }
    pub fn int_unchecked_mul<T: Copy>(a: T, b: T) -> T { palisade::binary("Mul", a, b) }
    pub fn int_count_zeros<T: Copy>(a: T) -> u32 { palisade::bits(a) - int_count_ones(a) }
    pub fn int_ilog2<T: Copy>(a: T) -> u32 { palisade::bits(a) - 1 - int_leading_zeros(a) }
    pub fn bool_then<T, U, F: FnOnce() -> U>(condition: bool, f: F) -> Option<U> { if condition { Option::Some(f()) } else { Option::None } }
    pub fn bool_then_some<T, U>(condition: bool, value: U) -> Option<U> { if condition { Option::Some(value) } else { Option::None } }

    pub fn slice_len<T>(s: &[T]) -> usize { palisade::len(s) }
    pub fn slice_is_empty<T>(s: &[T]) -> bool { palisade::len(s) == 0 }
    pub fn slice_get<T, U>(s: &[T], at: usize) -> Option<&T> { if at < palisade::len(s) { Option::Some(&s[at]) } else { Option::None } }
    pub fn slice_get_mut<T, U>(s: &mut [T], at: usize) -> Option<&mut T> { if at < palisade::len(s) { Option::Some(&mut s[at]) } else { Option::None } }
    pub fn slice_get_unchecked<T, U>(s: &[T], at: usize) -> &T { &s[at] }
    pub fn slice_get_unchecked_mut<T, U>(s: &mut [T], at: usize) -> &mut T { &mut s[at] }
    pub fn slice_first_mut<T>(s: &mut [T]) -> Option<&mut T> { if palisade::len(s) > 0 { Option::Some(&mut s[0]) } else { Option::None } }
    pub fn slice_last_mut<T>(s: &mut [T]) -> Option<&mut T> { let n = palisade::len(s); if n > 0 { Option::Some(&mut s[n - 1]) } else { Option::None } }
    pub fn str_len<T>(s: &str) -> usize { palisade::text_len(s) }
    pub fn str_is_empty<T>(s: &str) -> bool { palisade::text_len(s) == 0 }
    pub fn str_chars<T>(s: &str) -> crate::str::Chars { crate::str::Chars::of(s) }
    pub fn slice_split_at_mut<T>(s: &mut [T], middle: usize) -> (&mut [T], &mut [T]) {
        let n = palisade::len(s);
        if middle > n { palisade::fail() }
        let p: *const T = &raw const s[0];
        (palisade::slice(p, middle), palisade::slice(palisade::offset(p, middle), n - middle))
    }
    pub fn slice_clone_from_slice<T: Clone>(s: &mut [T], other: &[T]) {
        if palisade::len(s) != palisade::len(other) { palisade::fail() }
        let mut at = 0;
        while at < palisade::len(s) {
            s[at] = other[at].clone();
            at += 1;
        }
    }
    pub fn slice_starts_with<T: PartialEq>(s: &[T], other: &[T]) -> bool {
        if palisade::len(s) < palisade::len(other) { return false }
        let mut at = 0;
        while at < palisade::len(other) {
            if s[at] != other[at] { return false }
            at += 1;
        }
        true
    }
    pub fn slice_contains<T: PartialEq>(s: &[T], x: &T) -> bool {
        let mut at = 0;
        while at < palisade::len(s) {
            if s[at] == *x { return true }
            at += 1;
        }
        false
    }
    pub fn slice_first<T>(s: &[T]) -> Option<&T> { if palisade::len(s) > 0 { Option::Some(&s[0]) } else { Option::None } }
    pub fn slice_last<T>(s: &[T]) -> Option<&T> { let n = palisade::len(s); if n > 0 { Option::Some(&s[n - 1]) } else { Option::None } }
    pub fn slice_swap<T>(s: &mut [T], a: usize, b: usize) {
        let x = palisade::read(&raw const s[a]);
        let y = palisade::read(&raw const s[b]);
        palisade::write(&raw mut s[a], y);
        palisade::write(&raw mut s[b], x);
    }
    pub fn slice_fill<T: Clone>(s: &mut [T], value: T) {
        let mut at = 0;
        while at < palisade::len(s) {
            s[at] = value.clone();
            at += 1;
        }
    }
    pub fn slice_copy_from_slice<T: Copy>(s: &mut [T], other: &[T]) {
        let mut at = 0;
        while at < palisade::len(s) {
            s[at] = other[at];
            at += 1;
        }
    }
    pub fn slice_to_vec<T: Clone>(s: &[T]) -> crate::vec::Vec<T> {
        let mut v = crate::vec::Vec::new();
        let mut at = 0;
        while at < palisade::len(s) {
            v.push(s[at].clone());
            at += 1;
        }
        v
    }
    pub fn slice_into_vec<T>(b: crate::boxed::Box<[T]>) -> crate::vec::Vec<T> {
        let mut v = crate::vec::Vec::new();
        let p = crate::boxed::Box::into_raw(b);
        let s: &[T] = palisade::same(p);
        let mut at = 0;
        while at < palisade::len(s) {
            v.push(palisade::read(&raw const s[at]));
            at += 1;
        }
        palisade::free(p);
        v
    }
    fn slice_order<T: PartialOrd>(s: &mut [T]) {
        let mut end = palisade::len(s);
        while end > 1 {
            let mut at = 1;
            while at < end {
                if s[at] < s[at - 1] { slice_swap(s, at, at - 1); }
                at += 1;
            }
            end -= 1;
        }
    }
    pub fn slice_sort<T: PartialOrd>(s: &mut [T]) { slice_order(s) }
    pub fn slice_sort_unstable<T: PartialOrd>(s: &mut [T]) { slice_order(s) }
    pub fn slice_reverse<T>(s: &mut [T]) {
        let n = palisade::len(s);
        let mut at = 0;
        while at + at + 1 < n {
            slice_swap(s, at, n - 1 - at);
            at += 1;
        }
    }
    pub fn slice_split_at<T>(s: &[T], middle: usize) -> (&[T], &[T]) {
        let n = palisade::len(s);
        if middle > n { palisade::fail() }
        let p: *const T = &raw const s[0];
        (palisade::slice(p, middle), palisade::slice(palisade::offset(p, middle), n - middle))
    }
    pub fn slice_windows<T>(s: &[T], size: usize) -> crate::slice::Windows<'_, T> { if size == 0 { palisade::fail() } crate::slice::Windows { slice: s, at: 0, size } }
    pub fn slice_chunks<T>(s: &[T], size: usize) -> crate::slice::Chunks<'_, T> { crate::slice::Chunks { slice: s, at: 0, size } }
    pub fn array_map<T, const N: usize, F: FnMut(T) -> U, U>(a: [T; N], mut f: F) -> [U; N] {
        let kept = crate::mem::ManuallyDrop::new(a);
        let from: *const T = crate::mem::first_of(&kept);
        crate::array::from_fn(|at| f(palisade::read(palisade::offset(from, at))))
    }
    pub fn array_each_ref<T>(s: &[T]) -> &[T] { s }
    pub fn slice_iter<T>(s: &[T]) -> crate::slice::Iter<'_, T> { crate::slice::Iter { slice: s, at: 0, end: palisade::len(s) } }
    pub fn slice_iter_mut<T>(s: &mut [T]) -> crate::slice::IterMut<'_, T> { let end = palisade::len(s); crate::slice::IterMut { slice: s, at: 0, end } }
    pub fn slice_as_ptr<T>(s: &[T]) -> *const T { &raw const s[0] }
    pub fn slice_as_mut_ptr<T>(s: &mut [T]) -> *mut T { &raw mut s[0] }
    pub fn array_as_slice<T>(s: &[T]) -> &[T] { s }
}
