
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
    fn zero<T: Copy>(a: T) -> T { palisade::zeroed::<T>() }
    fn is_signed<T: Copy>(a: T) -> bool { let zero: T = zero(a); palisade::binary("Lt", palisade::binary::<T, usize, T>("Sub", zero, 1usize), zero) }
    fn is_below_zero<T: Copy>(a: T) -> bool { is_signed(a) && palisade::binary("Lt", a, zero(a)) }
    fn least<T: Copy>(a: T) -> T {
        let zero: T = zero(a);
        if !is_signed(a) { return zero }
        let one: T = palisade::binary("Add", zero, 1usize);
        palisade::binary("Shl", one, palisade::bits(a) - 1)
    }
    fn most<T: Copy>(a: T) -> T { palisade::binary("Sub", least(a), 1usize) }
    pub fn int_saturating_sub<T: Copy>(a: T, b: T) -> T {
        let (value, over): (T, bool) = palisade::binary("SubWithOverflow", a, b);
        if !over { value } else if is_below_zero(a) || !is_signed(a) { least(a) } else { most(a) }
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
    fn is_minus_one<T: Copy>(a: T) -> bool { is_below_zero(a) && palisade::binary("Eq", a, -1isize) }
    /// Whether the quotient has no place in the type: the least number divided by -1.
    fn leaves<T: Copy>(a: T, b: T) -> bool { is_minus_one(b) && palisade::binary("Eq", a, least(a)) }
    pub fn int_checked_div<T: Copy>(a: T, b: T) -> Option<T> { if palisade::binary("Eq", b, 0usize) || leaves(a, b) { Option::None } else { Option::Some(palisade::binary("Div", a, b)) } }
    pub fn int_checked_rem<T: Copy>(a: T, b: T) -> Option<T> { if palisade::binary("Eq", b, 0usize) || leaves(a, b) { Option::None } else { Option::Some(palisade::binary("Rem", a, b)) } }
    pub fn int_checked_div_euclid<T: Copy>(a: T, b: T) -> Option<T> { if palisade::binary("Eq", b, 0usize) || leaves(a, b) { Option::None } else { Option::Some(int_div_euclid(a, b)) } }
    pub fn int_checked_rem_euclid<T: Copy>(a: T, b: T) -> Option<T> { if palisade::binary("Eq", b, 0usize) || leaves(a, b) { Option::None } else { Option::Some(int_rem_euclid(a, b)) } }
    pub fn int_overflowing_div<T: Copy>(a: T, b: T) -> (T, bool) { if palisade::binary("Eq", b, 0usize) { palisade::fail() } if leaves(a, b) { (a, true) } else { (palisade::binary("Div", a, b), false) } }
    pub fn int_overflowing_rem<T: Copy>(a: T, b: T) -> (T, bool) { if palisade::binary("Eq", b, 0usize) { palisade::fail() } if leaves(a, b) { (zero(a), true) } else { (palisade::binary("Rem", a, b), false) } }
    pub fn int_wrapping_div_euclid<T: Copy>(a: T, b: T) -> T { if leaves(a, b) { a } else { int_div_euclid(a, b) } }
    pub fn int_wrapping_rem_euclid<T: Copy>(a: T, b: T) -> T { if leaves(a, b) { zero(a) } else { int_rem_euclid(a, b) } }
    pub fn int_saturating_neg<T: Copy>(a: T) -> T { int_saturating_sub(zero(a), a) }
    pub fn int_saturating_abs<T: Copy>(a: T) -> T { if is_below_zero(a) { int_saturating_neg(a) } else { a } }
    pub fn int_from_u32<T>(number: u32) -> Option<T> { if number < 0xd800 || number > 0xdfff && number < 0x110000 { Option::Some(palisade::transmute(number)) } else { Option::None } }
    pub fn int_from_u32_unchecked<T>(number: u32) -> T { palisade::transmute(number) }
    pub fn int_to_digit<T: Copy>(a: T, radix: u32) -> Option<u32> {
        let digit: u32 = if is_within(a, 48, 57) { palisade::transmute::<T, u32>(a) - 48 } else if is_within(a, 97, 122) { palisade::transmute::<T, u32>(a) - 87 } else if is_within(a, 65, 90) { palisade::transmute::<T, u32>(a) - 55 } else { return Option::None };
        if digit < radix { Option::Some(digit) } else { Option::None }
    }
    pub fn int_is_digit<T: Copy>(a: T, radix: u32) -> bool { match int_to_digit(a, radix) { Option::Some(_) => true, Option::None => false } }
    pub fn int_from_digit<T>(digit: u32, radix: u32) -> Option<T> { if digit < radix { Option::Some(palisade::transmute(if digit < 10 { digit + 48 } else { digit + 87 })) } else { Option::None } }
    pub fn int_rem_euclid<T: Copy>(a: T, b: T) -> T {
        if palisade::binary("Eq", b, 0usize) { palisade::fail() }
        let rest: T = palisade::binary("Rem", a, b);
        if !is_below_zero(rest) { rest } else if is_below_zero(b) { palisade::binary("Sub", rest, b) } else { palisade::binary("Add", rest, b) }
    }
    pub fn int_div_euclid<T: Copy>(a: T, b: T) -> T {
        if palisade::binary("Eq", b, 0usize) { palisade::fail() }
        let rest: T = palisade::binary("Rem", a, b);
        let quotient: T = palisade::binary("Div", a, b);
        if !is_below_zero(rest) { quotient } else if is_below_zero(b) { palisade::binary("Add", quotient, 1usize) } else { palisade::binary("Sub", quotient, 1usize) }
    }
    pub fn int_checked_abs<T: Copy>(a: T) -> Option<T> { if is_below_zero(a) { int_checked_sub(zero(a), a) } else { Option::Some(a) } }
    pub fn int_checked_neg<T: Copy>(a: T) -> Option<T> { int_checked_sub(zero(a), a) }
    pub fn int_checked_pow<T: Copy>(a: T, n: u32) -> Option<T> {
        let mut result: T = palisade::binary("Add", zero(a), 1usize);
        let mut k = 0;
        while k < n {
            match int_checked_mul(result, a) { Option::Some(more) => result = more, Option::None => return Option::None }
            k += 1;
        }
        Option::Some(result)
    }
    pub fn int_saturating_mul<T: Copy>(a: T, b: T) -> T {
        let (value, over): (T, bool) = palisade::binary("MulWithOverflow", a, b);
        if !over { value } else if is_below_zero(a) != is_below_zero(b) { least(a) } else { most(a) }
    }
    /// The same bits as a number without a sign.
    fn unsigned<T: Copy, U>(a: T) -> U {
        match palisade::bits(a) {
            8 => palisade::same(palisade::binary::<u8, T, u8>("Add", 0u8, a)),
            16 => palisade::same(palisade::binary::<u16, T, u16>("Add", 0u16, a)),
            32 => palisade::same(palisade::binary::<u32, T, u32>("Add", 0u32, a)),
            64 => palisade::same(palisade::binary::<u64, T, u64>("Add", 0u64, a)),
            _ => palisade::bound("a number of 128 bits that loses its sign"),
        }
    }
    pub fn int_unsigned_abs<T: Copy, U>(a: T) -> U { unsigned(int_wrapping_abs(a)) }
    pub fn int_wrapping_abs<T: Copy>(a: T) -> T { if is_below_zero(a) { palisade::binary("Sub", zero(a), a) } else { a } }
    pub fn int_leading_ones<T: Copy>(a: T) -> u32 { int_leading_zeros(palisade::binary::<T, T, T>("Sub", palisade::binary::<T, usize, T>("Sub", zero(a), 1usize), a)) }
    pub fn int_trailing_ones<T: Copy>(a: T) -> u32 { int_trailing_zeros(palisade::binary::<T, T, T>("Sub", palisade::binary::<T, usize, T>("Sub", zero(a), 1usize), a)) }
    pub fn int_is_ascii<T: Copy>(a: &T) -> bool { is_within(*a, 0, 127) }
    fn is_within<T: Copy>(a: T, low: usize, high: usize) -> bool { palisade::binary::<T, usize, bool>("Ge", a, low) && palisade::binary::<T, usize, bool>("Le", a, high) }
    pub fn int_is_ascii_digit<T: Copy>(a: &T) -> bool { is_within(*a, 48, 57) }
    pub fn int_is_ascii_lowercase<T: Copy>(a: &T) -> bool { is_within(*a, 97, 122) }
    pub fn int_is_ascii_uppercase<T: Copy>(a: &T) -> bool { is_within(*a, 65, 90) }
    pub fn int_is_ascii_alphabetic<T: Copy>(a: &T) -> bool { is_within(*a, 97, 122) || is_within(*a, 65, 90) }
    pub fn int_is_ascii_alphanumeric<T: Copy>(a: &T) -> bool { int_is_ascii_alphabetic(a) || is_within(*a, 48, 57) }
    pub fn int_is_ascii_whitespace<T: Copy>(a: &T) -> bool { is_within(*a, 9, 10) || is_within(*a, 12, 13) || is_within(*a, 32, 32) }
    pub fn int_to_ascii_uppercase<T: Copy>(a: &T) -> T { if is_within(*a, 97, 122) { palisade::binary("Sub", *a, 32usize) } else { *a } }
    pub fn int_to_ascii_lowercase<T: Copy>(a: &T) -> T { if is_within(*a, 65, 90) { palisade::binary("Add", *a, 32usize) } else { *a } }
    pub fn int_div_ceil<T: Copy>(a: T, b: T) -> T {
        if palisade::binary("Eq", b, 0usize) { palisade::fail() }
        let quotient: T = palisade::binary("Div", a, b);
        let rest: T = palisade::binary("Rem", a, b);
        if palisade::binary("Eq", rest, 0usize) { quotient } else { palisade::binary("Add", quotient, 1usize) }
    }
    pub fn int_is_multiple_of<T: Copy>(a: T, b: T) -> bool { let rest: T = palisade::binary("Rem", a, b); palisade::binary("Eq", rest, 0usize) }
    pub fn int_pow<T: Copy>(a: T, n: u32) -> T {
        let mut result: T = zero(a);
        result = palisade::binary("Add", result, 1usize);
        let mut k = 0;
        while k < n {
            result = palisade::binary("Mul", result, a);
            k += 1;
        }
        result
    }
    pub fn int_wrapping_neg<T: Copy>(a: T) -> T { let zero: T = zero(a); palisade::binary("Sub", zero, a) }
    pub fn int_wrapping_shl<T>(a: T, by: u32) -> T { palisade::binary("Shl", a, by) }
    pub fn int_wrapping_shr<T>(a: T, by: u32) -> T { palisade::binary("Shr", a, by) }
    pub fn int_saturating_add<T: Copy>(a: T, b: T) -> T {
        let (value, over): (T, bool) = palisade::binary("AddWithOverflow", a, b);
        if !over { value } else if is_below_zero(a) { least(a) } else { most(a) }
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
        if is_below_zero(a) { return 0 }
        while palisade::binary("Ne", rest, 0usize) {
            rest = palisade::binary("Shr", rest, 1usize);
            n -= 1;
        }
        n
    }
    pub fn int_next_power_of_two<T: Copy>(a: T) -> T { match int_checked_next_power_of_two(a) { Option::Some(power) => power, Option::None => zero(a) } }
    pub fn int_checked_next_power_of_two<T: Copy>(a: T) -> Option<T> {
        let mut power: T = palisade::binary("Add", zero(a), 1usize);
        while palisade::binary("Lt", power, a) {
            power = palisade::binary("Add", power, power);
            if palisade::binary("Eq", power, 0usize) { return Option::None }
        }
        Option::Some(power)
    }
    pub fn int_abs<T: Copy>(a: T) -> T { let zero: T = zero(a); if palisade::binary("Lt", a, zero) { palisade::binary("Sub", zero, a) } else { a } }
    pub fn int_min<T: Copy>(a: T, b: T) -> T { if palisade::binary("Lt", b, a) { b } else { a } }
    pub fn int_max<T: Copy>(a: T, b: T) -> T { if palisade::binary("Lt", a, b) { b } else { a } }
    pub fn int_abs_diff<T: Copy, U>(a: T, b: T) -> U { unsigned(if palisade::binary("Lt", a, b) { palisade::binary::<T, T, T>("Sub", b, a) } else { palisade::binary::<T, T, T>("Sub", a, b) }) }
    pub fn int_clamp<T: Copy>(a: T, low: T, high: T) -> T { int_min(int_max(a, low), high) }
    pub fn int_signum<T: Copy>(a: T) -> T {
        let zero: T = zero(a);
        if palisade::binary("Lt", a, zero) { palisade::binary("Sub", zero, 1usize) } else if palisade::binary("Gt", a, zero) { palisade::binary("Add", zero, 1usize) } else { zero }
    }
    pub fn int_is_negative<T: Copy>(a: T) -> bool { let zero: T = zero(a); palisade::binary("Lt", a, zero) }
    pub fn int_is_positive<T: Copy>(a: T) -> bool { let zero: T = zero(a); palisade::binary("Gt", a, zero) }
    pub fn int_rotate_left<T: Copy>(a: T, by: u32) -> T {
        let bits = palisade::bits(a);
        let by = by % bits;
        if by == 0 { return a }
        // The bits that come in from the left are those of a sign: only those that were there count.
        let low: T = palisade::binary("Shr", a, bits - by);
        let all: T = palisade::binary("Sub", zero(a), 1usize);
        let mask: T = palisade::binary("BitXor", palisade::binary::<T, u32, T>("Shl", all, by), all);
        palisade::binary("BitOr", palisade::binary::<T, u32, T>("Shl", a, by), palisade::binary::<T, T, T>("BitAnd", low, mask))
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
    pub fn slice_get<T, I: crate::slice::At<T>>(s: &[T], at: I) -> Option<&I::Output> { <I as crate::slice::At<T>>::at(at, s) }
    pub fn slice_get_mut<T, I: crate::slice::At<T>>(s: &mut [T], at: I) -> Option<&mut I::Output> { <I as crate::slice::At<T>>::at_mut(at, s) }
    pub fn slice_get_unchecked<T, U>(s: &[T], at: usize) -> &T { &s[at] }
    pub fn slice_get_unchecked_mut<T, U>(s: &mut [T], at: usize) -> &mut T { &mut s[at] }
    pub fn slice_first_mut<T>(s: &mut [T]) -> Option<&mut T> { if palisade::len(s) > 0 { Option::Some(&mut s[0]) } else { Option::None } }
    pub fn slice_last_mut<T>(s: &mut [T]) -> Option<&mut T> { let n = palisade::len(s); if n > 0 { Option::Some(&mut s[n - 1]) } else { Option::None } }
    /// The number that a known text stands for.
    pub fn str_parse<T, F: Copy>(s: &str) -> crate::result::Result<F, crate::num::ParseIntError> {
        let zero: F = palisade::zeroed();
        let (mut number, mut at, count) = (zero, 0, palisade::text_count(s));
        let below = count > 0 && is_signed(zero) && palisade::text_char(s, 0) == '-';
        if below || count > 0 && palisade::text_char(s, 0) == '+' { at = 1; }
        if at == count { return crate::result::Result::Err(crate::num::ParseIntError) }
        while at < count {
            let c = palisade::text_char(s, at);
            if !is_within(c, 48, 57) { return crate::result::Result::Err(crate::num::ParseIntError) }
            let digit: F = palisade::binary("Add", zero, palisade::binary::<u32, u32, u32>("Sub", c as u32, 48));
            let tenfold = int_checked_mul(number, palisade::binary("Add", zero, 10usize));
            let next = match tenfold { Option::Some(n) => if below { int_checked_sub(n, digit) } else { int_checked_add(n, digit) }, Option::None => Option::None };
            match next { Option::Some(n) => number = n, Option::None => return crate::result::Result::Err(crate::num::ParseIntError) }
            at += 1;
        }
        crate::result::Result::Ok(number)
    }
    pub fn str_len<T>(s: &str) -> usize { palisade::text_len(s) }
    pub fn str_is_empty<T>(s: &str) -> bool { palisade::text_len(s) == 0 }
    pub fn str_chars<T>(s: &str) -> crate::str::Chars { crate::str::Chars::of(s) }
    pub fn slice_split_at_mut<T>(s: &mut [T], middle: usize) -> (&mut [T], &mut [T]) {
        let n = palisade::len(s);
        if middle > n { palisade::fail() }
        if n == 0 { return (palisade::same(&raw const *s), palisade::same(&raw const *s)) }
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
        if palisade::len(s) != palisade::len(other) { palisade::fail() }
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
    pub fn slice_sort_by<T, F: FnMut(&T, &T) -> std::cmp::Ordering>(s: &mut [T], mut f: F) {
        let mut end = palisade::len(s);
        while end > 1 {
            let mut at = 1;
            while at < end {
                let order: crate::cmp::Ordering = palisade::same(f(&s[at], &s[at - 1]));
                if order.is_lt() { slice_swap(s, at, at - 1); }
                at += 1;
            }
            end -= 1;
        }
    }
    pub fn slice_sort_unstable_by<T, F: FnMut(&T, &T) -> std::cmp::Ordering>(s: &mut [T], f: F) { slice_sort_by(s, f) }
    pub fn slice_sort_by_key<T, K: PartialOrd, F: FnMut(&T) -> K>(s: &mut [T], mut f: F) {
        let mut end = palisade::len(s);
        while end > 1 {
            let mut at = 1;
            while at < end {
                if f(&s[at]) < f(&s[at - 1]) { slice_swap(s, at, at - 1); }
                at += 1;
            }
            end -= 1;
        }
    }
    pub fn slice_sort_unstable_by_key<T, K: PartialOrd, F: FnMut(&T) -> K>(s: &mut [T], f: F) { slice_sort_by_key::<T, K, F>(s, f) }
    pub fn slice_is_sorted<T: PartialOrd>(s: &[T]) -> bool {
        let mut at = 1;
        while at < palisade::len(s) {
            if s[at] < s[at - 1] { return false }
            at += 1;
        }
        true
    }
    pub fn slice_ends_with<T: PartialEq>(s: &[T], other: &[T]) -> bool {
        let (n, m) = (palisade::len(s), palisade::len(other));
        if n < m { return false }
        let mut at = 0;
        while at < m {
            if s[n - m + at] != other[at] { return false }
            at += 1;
        }
        true
    }
    pub fn slice_partition_point<T, F: FnMut(&T) -> bool>(s: &[T], mut f: F) -> usize {
        let mut at = 0;
        while at < palisade::len(s) && f(&s[at]) { at += 1; }
        at
    }
    pub fn slice_binary_search<T: PartialOrd>(s: &[T], x: &T) -> crate::result::Result<usize, usize> {
        let mut at = 0;
        while at < palisade::len(s) {
            if s[at] == *x { return crate::result::Result::Ok(at) }
            if *x < s[at] { return crate::result::Result::Err(at) }
            at += 1;
        }
        crate::result::Result::Err(at)
    }
    pub fn slice_split_first<T>(s: &[T]) -> Option<(&T, &[T])> { let n = palisade::len(s); if n == 0 { return Option::None } let (_, rest) = slice_split_at(s, 1); Option::Some((&s[0], rest)) }
    pub fn slice_split_last<T>(s: &[T]) -> Option<(&T, &[T])> { let n = palisade::len(s); if n == 0 { return Option::None } let (rest, _) = slice_split_at(s, n - 1); Option::Some((&s[n - 1], rest)) }
    pub fn slice_chunks_mut<T>(s: &mut [T], size: usize) -> crate::slice::ChunksMut<'_, T> { if size == 0 { palisade::fail() } crate::slice::ChunksMut { slice: s, at: 0, size } }
    pub fn slice_rotate_left<T>(s: &mut [T], by: usize) {
        if by > palisade::len(s) { palisade::fail() }
        let mut done = 0;
        while done < by {
            let mut at = 1;
            while at < palisade::len(s) {
                slice_swap(s, at, at - 1);
                at += 1;
            }
            done += 1;
        }
    }
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
        if n == 0 { return (palisade::same(&raw const *s), palisade::same(&raw const *s)) }
        let p: *const T = &raw const s[0];
        (palisade::slice(p, middle), palisade::slice(palisade::offset(p, middle), n - middle))
    }
    pub fn slice_windows<T>(s: &[T], size: usize) -> crate::slice::Windows<'_, T> { if size == 0 { palisade::fail() } crate::slice::Windows { slice: s, at: 0, size } }
    pub fn slice_chunks<T>(s: &[T], size: usize) -> crate::slice::Chunks<'_, T> { if size == 0 { palisade::fail() } crate::slice::Chunks { slice: s, at: 0, size } }
    pub fn array_map<T, const N: usize, F: FnMut(T) -> U, U>(a: [T; N], mut f: F) -> [U; N] {
        let kept = crate::mem::ManuallyDrop::new(a);
        let from: *const T = crate::mem::first_of(&kept);
        crate::array::from_fn(|at| f(palisade::read(palisade::offset(from, at))))
    }
    pub fn array_each_ref<T>(s: &[T]) -> &[T] { s }
    pub fn slice_iter<T>(s: &[T]) -> crate::slice::Iter<'_, T> { crate::slice::Iter { slice: s, at: 0, end: palisade::len(s) } }
    pub fn slice_iter_mut<T>(s: &mut [T]) -> crate::slice::IterMut<'_, T> { let end = palisade::len(s); crate::slice::IterMut { slice: s, at: 0, end } }
    pub fn slice_as_ptr<T>(s: &[T]) -> *const T { if palisade::len(s) == 0 { return crate::ptr::dangling() } &raw const s[0] }
    pub fn slice_as_mut_ptr<T>(s: &mut [T]) -> *mut T { if palisade::len(s) == 0 { return crate::ptr::dangling_mut() } &raw mut s[0] }
    pub fn array_as_slice<T>(s: &[T]) -> &[T] { s }
}

pub mod num {
    use crate::option::Option;
    use crate::palisade;
    pub struct ParseIntError;
    pub struct NonZero<T> { number: T }
    impl<T: Copy> NonZero<T> {
        pub fn new(number: T) -> Option<NonZero<T>> { if palisade::binary("Eq", number, 0usize) { Option::None } else { Option::Some(NonZero { number }) } }
        pub fn of(number: T) -> NonZero<T> { NonZero { number } }
        pub unsafe fn new_unchecked(number: T) -> NonZero<T> { NonZero { number } }
        pub fn get(self) -> T { self.number }
    }
    impl<T: Copy> Clone for NonZero<T> { fn clone(&self) -> Self { NonZero { number: self.number } } }
    impl<T: PartialEq> PartialEq for NonZero<T> { fn eq(&self, other: &Self) -> bool { self.number == other.number } }
    impl<T: PartialOrd> PartialOrd for NonZero<T> { fn partial_cmp(&self, other: &Self) -> std::option::Option<std::cmp::Ordering> { self.number.partial_cmp(&other.number) } }
    pub struct Wrapping<T>(pub T);
    impl<T> std::ops::Add for Wrapping<T> { type Output = Self; fn add(self, other: Self) -> Self { Wrapping(palisade::binary("Add", self.0, other.0)) } }
    impl<T> std::ops::Sub for Wrapping<T> { type Output = Self; fn sub(self, other: Self) -> Self { Wrapping(palisade::binary("Sub", self.0, other.0)) } }
    impl<T> std::ops::Mul for Wrapping<T> { type Output = Self; fn mul(self, other: Self) -> Self { Wrapping(palisade::binary("Mul", self.0, other.0)) } }
    impl<T: Copy> std::ops::AddAssign for Wrapping<T> { fn add_assign(&mut self, other: Self) { self.0 = palisade::binary("Add", self.0, other.0) } }
    impl<T: Copy> std::ops::SubAssign for Wrapping<T> { fn sub_assign(&mut self, other: Self) { self.0 = palisade::binary("Sub", self.0, other.0) } }
    impl<T: Clone> Clone for Wrapping<T> { fn clone(&self) -> Self { Wrapping(self.0.clone()) } }
    impl<T: PartialEq> PartialEq for Wrapping<T> { fn eq(&self, other: &Self) -> bool { self.0 == other.0 } }
    impl<T: PartialOrd> PartialOrd for Wrapping<T> { fn partial_cmp(&self, other: &Self) -> std::option::Option<std::cmp::Ordering> { self.0.partial_cmp(&other.0) } }
}
