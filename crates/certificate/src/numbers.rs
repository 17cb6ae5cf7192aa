//! Numbers as bytes.

/// Appends a number, seven bits a byte, the lowest first.
pub(crate) fn put(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends a list of numbers. Different lists become different bytes.
pub fn encode(numbers: &[i64], out: &mut Vec<u8>) {
    for &number in numbers {
        put(((number << 1) ^ (number >> 63)) as u64, out);
    }
}

/// The list of numbers that these bytes are; `None` where they are none.
pub fn decode(bytes: &[u8], numbers: &mut Vec<i64>) -> Option<()> {
    numbers.clear();
    let mut rest = bytes;
    while !rest.is_empty() {
        let mut number = 0u64;
        let mut shift = 0;
        loop {
            let (&byte, behind) = rest.split_first()?;
            rest = behind;
            let bits = u64::from(byte & 0x7f);
            // The last byte holds one bit only; and no number is longer than it needs to be.
            if shift == 63 && bits > 1 || (byte == 0 && shift > 0) {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
            if shift > 63 {
                return None;
            }
        }
        numbers.push((number >> 1) as i64 ^ -((number & 1) as i64));
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let numbers = [0, 1, -1, 63, 64, -64, -65, i64::MAX, i64::MIN, 1 << 40];
        let mut bytes = Vec::new();
        encode(&numbers, &mut bytes);
        let mut back = Vec::new();
        assert!(decode(&bytes, &mut back).is_some());
        assert_eq!(back, numbers);
        bytes.push(0x80);
        assert!(decode(&bytes, &mut back).is_none());
    }

    #[test]
    fn every_number_has_one_form() {
        let mut back = Vec::new();
        assert!(decode(&[0x80, 0x00], &mut back).is_none());
        assert!(decode(&[0xff; 11], &mut back).is_none());
        let mut too_large = [0xff; 10];
        too_large[9] = 0x02;
        assert!(decode(&too_large, &mut back).is_none());
        too_large[9] = 0x01;
        assert!(decode(&too_large, &mut back).is_some());
        assert_eq!(back, [i64::MIN]);
    }
}
