//! The key that a connection has presented last.

use parking_lot::Mutex;

use crate::{
    KeyText,
    key::{Claim, Presented, is_same},
};

/// The key that was last presented, such as on a connection: whoever presents the same again is spared the hashing. It does not print
/// itself.
#[derive(Default)]
pub struct LastKey(Mutex<Option<(KeyText, Claim)>>);

impl LastKey {
    /// What a presented text claims; `None` when it cannot be a key.
    pub(crate) fn claim(&self, text: &str) -> Option<Claim> {
        let mut last = self.0.lock();
        if let Some((known, claim)) = &*last
            && is_same(known.0.as_bytes(), text.as_bytes())
        {
            return Some(*claim);
        }
        let claim = Presented::parse(text)?.claim();
        *last = Some((KeyText(text.to_owned()), claim));
        Some(claim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::FreshKey;

    #[test]
    fn the_last_key_is_known_again_and_no_other() {
        let (one, other) = (FreshKey::generate(&mut rand::rng()), FreshKey::generate(&mut rand::rng()));
        let last = LastKey::default();
        let claimed = |text: &str| last.claim(text).map(|claim| (claim.id, claim.secret_hash));
        for key in [&one, &one, &other, &other, &one] {
            assert_eq!(claimed(key.text.expose()), Some((key.id, key.secret_hash)));
        }
        let text = one.text.expose();
        assert!(claimed(&text[..text.len() - 1]).is_some_and(|(_, hash)| hash != one.secret_hash));
        assert_eq!(claimed("nonsense"), None);
        assert_eq!(claimed(""), None);
    }
}
