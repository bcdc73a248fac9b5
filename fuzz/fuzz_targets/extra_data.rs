//! Any bytes as the extraData of a header, and as a header.
//!
//! Whatever decodes encodes to the same bytes again, so that nobody can give one block two faces; and the hashes of a header
//! exist exactly when its extraData is IBFT's.

#![no_main]

use alloy_consensus::Header;
use alloy_rlp::Decodable;
use ibft::{extra_data::ExtraData, hash};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(extra) = ExtraData::decode(data) {
        assert_eq!(extra.encode().as_ref(), data, "two encodings of one value");
        // Each shorter form is a form of its own: it must not pass for the whole.
        assert!(ExtraData::decode(&extra.encode_for_seal()).is_err());
        assert!(ExtraData::decode(&extra.encode_for_block_hash()).is_err());
    }
    let header = Header { number: 1, extra_data: data.to_vec().into(), ..Header::default() };
    check(&header);
    if let Ok(header) = Header::decode(&mut &*data) {
        check(&header);
    }
});

fn check(header: &Header) {
    let is_ibft = ExtraData::decode(&header.extra_data).is_ok();
    assert_eq!(hash::block_hash(header).is_ok(), is_ibft);
    assert_eq!(hash::seal_hash(header).is_ok(), is_ibft);
}
