//! Why a claim was refused, in the visitor's words, and when the next may succeed.

use jiff::Timestamp;

use super::ask::Answer;
use crate::{
    format::{span, utc},
    words::Language,
};

/// Why a claim was refused.
pub(super) struct Refusal {
    pub(super) text: String,
    /// Whether the address is at fault.
    pub(super) is_of_address: bool,
    /// Whether the key is.
    pub(super) is_of_key: bool,
    /// What would let the wallet in.
    pub(super) remedy: Option<String>,
    pub(super) next: Option<Next>,
}

/// When the next claim may succeed.
pub(super) struct Next {
    /// Unix seconds.
    pub(super) at: u64,
    pub(super) utc: String,
    pub(super) left: String,
}

impl Refusal {
    pub(super) fn new(answer: &Answer, address: &str, language: Language, now: u64) -> Self {
        let problem = &answer.problem;
        let text = match (language, said(&problem.code, language)) {
            (_, Some(text)) => text.to_owned(),
            (Language::English | Language::Indonesian, None) if !problem.detail.is_empty() => {
                problem.detail.clone()
            }
            (_, None) => language.choose("The faucet does not answer.", "Faucet tidak menjawab.").to_owned(),
        };
        let next = problem.next_claim_at.as_deref().and_then(|text| text.parse::<Timestamp>().ok());
        let next = next.and_then(|at| u64::try_from(at.as_second()).ok());
        // Only an address that was read gets this far, so that what is shown to be typed is one.
        let remedy = (problem.code == "wallet_not_allowlisted")
            .then(|| format!("chainnet allowlist add {address} --team NAME"));
        Self {
            text,
            is_of_address: matches!(
                &*problem.code,
                "invalid_address"
                    | "validation_failed"
                    | "address_reserved"
                    | "address_is_contract"
                    | "wallet_not_allowlisted"
                    | "wallet_cooldown"
            ),
            is_of_key: matches!(&*problem.code, "api_key_missing" | "api_key_invalid" | "permission_missing"),
            remedy,
            next: next.map(|at| Next { at, utc: utc(at), left: span(at.saturating_sub(now), language) }),
        }
    }
}

/// What a code of the faucet means; none for one that has no words here.
const fn said(code: &str, language: Language) -> Option<&'static str> {
    let (english, indonesian) = match code.as_bytes() {
        b"invalid_address" => (
            "This is not an address: it is 0x and 40 hexadecimal digits, and mixed case must be its checksum.",
            "Ini bukan alamat: alamat terdiri dari 0x dan 40 digit heksadesimal, dan huruf besar-kecilnya harus sesuai checksum.",
        ),
        b"validation_failed" => ("Enter the address of your wallet.", "Masukkan alamat dompet Anda."),
        b"honeypot_filled" | b"honeypot_missing" => (
            "A hidden field was filled, as programs do. If your browser did it, reload the page and try again.",
            "Isian tersembunyi terisi, seperti yang dilakukan program. Jika peramban Anda yang mengisinya, muat ulang halaman dan coba lagi.",
        ),
        b"api_key_missing" => (
            "This network is by invitation. Enter an API key with the permission “faucet”.",
            "Jaringan ini khusus undangan. Masukkan kunci API dengan izin “faucet”.",
        ),
        b"api_key_invalid" => (
            "This API key is not accepted: it may be mistyped, expired or revoked.",
            "Kunci API ini tidak diterima: mungkin salah ketik, kedaluwarsa, atau dicabut.",
        ),
        b"permission_missing" => (
            "This API key does not have the permission “faucet”.",
            "Kunci API ini tidak memiliki izin “faucet”.",
        ),
        b"wallet_not_allowlisted" => (
            "This wallet is not on the allowlist of the faucet.",
            "Dompet ini tidak ada dalam daftar izin faucet.",
        ),
        b"address_reserved" => (
            "Nobody can use coin at this address: it is one of the protocol's own, or the faucet's.",
            "Tidak ada yang dapat memakai koin di alamat ini: alamat milik protokol atau milik faucet.",
        ),
        b"address_is_contract" => (
            "This address is a contract. The faucet pays wallets.",
            "Alamat ini adalah kontrak. Faucet membayar dompet.",
        ),
        b"wallet_cooldown" => (
            "This wallet has claimed within the last 24 hours.",
            "Dompet ini sudah mengklaim dalam 24 jam terakhir.",
        ),
        b"ip_limit" => (
            "There were as many claims from your network address as 24 hours allow.",
            "Klaim dari alamat jaringan Anda sudah mencapai batas 24 jam.",
        ),
        b"rate_limited" => {
            ("Too many requests. Wait a moment.", "Terlalu banyak permintaan. Tunggu sebentar.")
        }
        b"faucet_empty" => (
            "The faucet has not enough coin, or has paid all that it may within 24 hours.",
            "Faucet kekurangan koin, atau sudah membayar semua yang boleh dibayarkan dalam 24 jam.",
        ),
        b"chain_unavailable" | b"database_unavailable" | b"timed_out" => (
            "The chain does not answer. Nothing was paid; try again in a moment.",
            "Rantai tidak menjawab. Tidak ada yang dibayar; coba lagi sebentar lagi.",
        ),
        _ => return None,
    };
    Some(language.choose(english, indonesian))
}

#[cfg(test)]
mod tests {
    use api::code::Code;

    use super::*;

    #[test]
    fn every_refusal_of_a_claim_has_words_in_both_languages() {
        for code in [
            Code::InvalidAddress,
            Code::ValidationFailed,
            Code::HoneypotFilled,
            Code::HoneypotMissing,
            Code::ApiKeyMissing,
            Code::ApiKeyInvalid,
            Code::PermissionMissing,
            Code::WalletNotAllowlisted,
            Code::AddressReserved,
            Code::AddressIsContract,
            Code::WalletCooldown,
            Code::IpLimit,
            Code::RateLimited,
            Code::FaucetEmpty,
            Code::ChainUnavailable,
            Code::DatabaseUnavailable,
            Code::TimedOut,
        ] {
            let [english, indonesian] = Language::ALL.map(|language| said(code.word(), language).unwrap());
            assert_ne!(english, indonesian, "{code}");
        }
        assert_eq!(said("moon", Language::English), None);
    }
}
