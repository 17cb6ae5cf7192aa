//! Limits of time and memory as the user writes them.

pub use palisade::limits::{held, machine};
use std::time::Duration;

/// `60s`, `1500ms`, `2m`, `1h 30m`; a bare number means seconds.
pub fn parse_timeout(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let seconds = text.parse::<f64>().ok();
    let duration = match seconds {
        Some(seconds) => Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())?,
        None => humantime::parse_duration(text)
            .map_err(|_| "write a time such as `60s`, `1500ms` or `2m`".to_owned())?,
    };
    if duration.is_zero() {
        return Err("a search needs more than no time at all".to_owned());
    }
    Ok(duration)
}

/// `8GiB`, `500M`, `2000000B`. A number alone is an error: 8 bytes are never meant, and what was meant is not known.
pub fn parse_memory(text: &str) -> Result<u64, String> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!(
            "an amount of memory needs a unit: `{text}GiB`, `{text}MiB` or `{text}B`"
        ));
    }
    let size = text
        .parse::<bytesize::ByteSize>()
        .map_err(|_| "write an amount of memory such as `8GiB` or `500M`".to_owned())?;
    if size.as_u64() == 0 {
        return Err("a search needs more than no memory at all".to_owned());
    }
    Ok(size.as_u64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(parse_timeout("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(parse_timeout("1500ms"), Ok(Duration::from_millis(1500)));
        assert_eq!(parse_timeout("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(parse_timeout("5"), Ok(Duration::from_secs(5)));
        assert_eq!(parse_timeout("0.5"), Ok(Duration::from_millis(500)));
        for wrong in ["", "s", "-1", "0s", "1 parsec", "NaN", "1e300"] {
            assert!(parse_timeout(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_memory("8GiB"), Ok(8 << 30));
        assert_eq!(parse_memory("64 MiB"), Ok(64 << 20));
        assert_eq!(parse_memory("500M"), Ok(500_000_000));
        assert_eq!(parse_memory("1000B"), Ok(1000));
        for wrong in ["", "GiB", "-1", "0", "8 houses", "8", "1000"] {
            assert!(parse_memory(wrong).is_err(), "{wrong}");
        }
    }
}
