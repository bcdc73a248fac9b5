//! Random letters and digits.

use rand::{CryptoRng, Rng, distr::Alphanumeric};

/// So many characters of base 62, each with 5.95 bits.
pub(crate) fn letters(random: &mut (impl CryptoRng + Rng), length: usize) -> String {
    random.sample_iter(Alphanumeric).take(length).map(char::from).collect()
}
