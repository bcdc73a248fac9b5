//! Analysed contract code, shared by all executions of the process.
//!
//! Finding the jump destinations of a large contract costs more than a typical call of it, and code never
//! changes under its hash, so the result is kept across blocks and calls.

use std::sync::LazyLock;

use alloy_primitives::B256;
use quick_cache::{Weighter, sync::Cache};
use revm::bytecode::Bytecode;

use crate::state::{StateError, StateView};

const CACHE_BYTES: u64 = 32 * 1024 * 1024;
const EXPECTED_CONTRACTS: usize = 4096;

static ANALYSED: LazyLock<Cache<B256, Bytecode, CodeSize>> =
    LazyLock::new(|| Cache::with_weighter(EXPECTED_CONTRACTS, CACHE_BYTES, CodeSize));

#[derive(Clone)]
struct CodeSize;

impl Weighter<B256, Bytecode> for CodeSize {
    fn weight(&self, _: &B256, code: &Bytecode) -> u64 {
        // Code, its jump table (one bit per byte) and the entry itself.
        let len = code.len() as u64;
        len + len / 8 + 128
    }
}

/// The code with this hash, analysed.
pub(super) fn load(state: &StateView, hash: B256) -> Result<Bytecode, StateError> {
    ANALYSED.get_or_insert_with(&hash, || Ok(Bytecode::new_legacy(state.code(hash)?)))
}
