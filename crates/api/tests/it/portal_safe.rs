//! A Safe 1.4.1 as a wallet that signs in: its owners sign, its contract judges.

use alloy_primitives::{Address, B256, Bytes, U256, b256, eip191_hash_message, hex, keccak256};
use alloy_signer::SignerSync;
use alloy_sol_types::{SolCall, SolValue};
use contracts::{
    SafeL2, SafeProxy, SafeProxyFactory,
    address::{SAFE_FALLBACK_HANDLER, SAFE_L2, SAFE_PROXY_FACTORY},
};

use crate::{portal_people::signer, rig::CHAIN_ID};

/// `EIP712Domain(uint256 chainId,address verifyingContract)`.
const DOMAIN: B256 = b256!("47e79534a245952e8b16893a336b85a3d9ea9fa8c573f3d803afb92a79469218");
/// `SafeMessage(bytes message)`.
const MESSAGE: B256 = b256!("60b3cbf8b4a223d68d641b3b6ddf9a298e7f33710cf3d3a9d1146b5a6150fbca");
const SUFFIX: B256 = b256!("6492649264926492649264926492649264926492649264926492649264926492");

/// What the Safe's owners sign when it is to have signed a text.
fn message_hash(safe: Address, text: &str) -> B256 {
    let inner = eip191_hash_message(text).abi_encode();
    let domain = keccak256((DOMAIN, U256::from(CHAIN_ID), safe).abi_encode());
    let message = keccak256((MESSAGE, keccak256(inner)).abi_encode());
    keccak256([&[0x19, 0x01], domain.as_slice(), message.as_slice()].concat())
}

/// The signatures of development accounts, in the order that a Safe wants.
pub(crate) fn safe_signature(safe: Address, text: &str, owners: &[usize]) -> Vec<u8> {
    let hash = message_hash(safe, text);
    let mut owners: Vec<_> = owners.iter().map(|owner| signer(*owner)).collect();
    owners.sort_by_key(|owner| owner.address());
    owners.iter().flat_map(|owner| owner.sign_hash_sync(&hash).unwrap().as_bytes()).collect()
}

/// A Safe of one development account, at the address where its factory will put it.
pub(crate) struct FutureSafe {
    pub(crate) address: Address,
    pub(crate) deployment: Bytes,
}

impl FutureSafe {
    pub(crate) fn of(owner: usize) -> Self {
        let initializer = SafeL2::setupCall {
            _owners: vec![signer(owner).address()],
            _threshold: U256::ONE,
            to: Address::ZERO,
            data: Bytes::new(),
            fallbackHandler: SAFE_FALLBACK_HANDLER,
            paymentToken: Address::ZERO,
            payment: U256::ZERO,
            paymentReceiver: Address::ZERO,
        }
        .abi_encode();
        let salt =
            keccak256([keccak256(&initializer).as_slice(), U256::ZERO.abi_encode().as_slice()].concat());
        let init = [SafeProxy::BYTECODE.as_ref(), SAFE_L2.abi_encode().as_slice()].concat();
        let deployment = SafeProxyFactory::createProxyWithNonceCall {
            _singleton: SAFE_L2,
            initializer: initializer.into(),
            saltNonce: U256::ZERO,
        };
        Self {
            address: SAFE_PROXY_FACTORY.create2(salt, keccak256(init)),
            deployment: deployment.abi_encode().into(),
        }
    }

    /// A signature that says how to deploy the Safe (ERC-6492).
    pub(crate) fn wrap(&self, signature: Vec<u8>) -> String {
        let mut wrapped =
            (SAFE_PROXY_FACTORY, self.deployment.clone(), Bytes::from(signature)).abi_encode_params();
        wrapped.extend(SUFFIX);
        hex::encode_prefixed(wrapped)
    }
}
