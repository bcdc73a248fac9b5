//! How deeply a JSON value is nested.

/// Whether a value that is known to be JSON is nested deeper than allowed.
pub(crate) fn is_deeper_than(json: &str, most: usize) -> bool {
    // Every level takes a bracket on each side.
    if json.len() <= 2 * most {
        return false;
    }
    let mut depth = 0usize;
    let mut bytes = json.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => skip_string(&mut bytes),
            b'[' | b'{' => {
                depth += 1;
                if depth > most {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// Moves past the closing quote of a string whose opening one was read.
fn skip_string(bytes: &mut std::str::Bytes<'_>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_count_and_brackets_in_strings_do_not() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(!is_deeper_than(&nested(8), 8));
        assert!(is_deeper_than(&nested(9), 8));
        assert!(!is_deeper_than(&format!("[\"{}\"]", "[{\\\"".repeat(50)), 8));
        assert!(!is_deeper_than(&format!("[{}0]", "[],".repeat(50)), 8));
    }
}
