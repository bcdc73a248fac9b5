//! A wallet that signs locally and counts its own nonce.

use alloy_consensus::{SignableTransaction, TxEip1559, TxEip2930, TxEnvelope, TxLegacy};
use alloy_eips::{eip2718::Encodable2718, eip2930::AccessList};
use alloy_primitives::{Address, B256, Bytes, Signature, TxKind, U256};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use domain::{Network, devnet};

/// What a transaction does; the wallet adds who sends it, in which order and on which chain.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Who is called; [`TxKind::Create`] deploys.
    pub to: TxKind,
    /// Wei sent along.
    pub value: U256,
    /// Call data or init code.
    pub input: Bytes,
    /// Gas the transaction may use.
    pub gas_limit: u64,
    /// Gas price, or fee cap of an EIP-1559 transaction.
    pub gas_price: u128,
    /// Tip of an EIP-1559 transaction.
    pub tip: u128,
    /// Access list of an EIP-2930 or EIP-1559 transaction.
    pub access_list: AccessList,
}

impl Draft {
    /// A plain transfer at no price.
    pub fn transfer(to: Address, value: U256) -> Self {
        Self { value, gas_limit: 21_000, ..Self::call(to, Bytes::new()) }
    }

    /// A call with a million gas at no price.
    pub fn call(to: Address, input: impl Into<Bytes>) -> Self {
        Self {
            to: TxKind::Call(to),
            value: U256::ZERO,
            input: input.into(),
            gas_limit: 1_000_000,
            gas_price: 0,
            tip: 0,
            access_list: AccessList::default(),
        }
    }

    /// A deployment with three million gas at no price.
    pub fn deploy(init_code: impl Into<Bytes>) -> Self {
        Self { to: TxKind::Create, gas_limit: 3_000_000, ..Self::call(Address::ZERO, init_code) }
    }
}

/// A transaction ready to be sent.
#[derive(Debug, Clone)]
pub struct SignedTransaction {
    /// Its bytes, as `eth_sendRawTransaction` takes them.
    pub raw: Bytes,
    /// Its hash.
    pub hash: B256,
    /// The nonce it uses.
    pub nonce: u64,
}

/// A key with its next nonce.
#[derive(Debug, Clone)]
pub struct Wallet {
    signer: PrivateKeySigner,
    chain_id: u64,
    nonce: u64,
}

impl Wallet {
    /// The wallet of a private key on the devnet; `None` if the key is not a valid one.
    pub fn from_key(key: B256) -> Option<Self> {
        let signer = PrivateKeySigner::from_bytes(&key).ok()?;
        Some(Self { signer, chain_id: Network::Devnet.chain_id(), nonce: 0 })
    }

    /// The wallet of a funded development account, 0 to 9.
    ///
    /// # Panics
    /// For an index above 9.
    #[expect(clippy::indexing_slicing, clippy::expect_used, reason = "a fixed table of ten valid keys")]
    pub fn dev(index: usize) -> Self {
        Self::from_key(devnet::ACCOUNTS[index].key).expect("the table's keys are valid")
    }

    /// The same key on another chain.
    #[must_use]
    pub fn on_chain(mut self, chain_id: u64) -> Self {
        self.chain_id = chain_id;
        self
    }

    /// The wallet's address.
    pub fn address(&self) -> Address {
        self.signer.address()
    }

    /// The nonce of the next transaction.
    pub fn nonce(&self) -> u64 {
        self.nonce
    }

    /// Continues at this nonce: another one used the key, or a gap is wanted.
    pub fn set_nonce(&mut self, nonce: u64) {
        self.nonce = nonce;
    }

    /// Where the next deployment will live.
    pub fn next_contract(&self) -> Address {
        self.address().create(self.nonce)
    }

    /// Signs a message for people (EIP-191).
    ///
    /// # Panics
    /// Never: signing with a key in memory cannot fail.
    #[expect(clippy::expect_used, reason = "signing with a key in memory cannot fail")]
    pub fn sign_message(&self, message: &[u8]) -> Signature {
        self.signer.sign_message_sync(message).expect("a local signature")
    }

    /// Signs a legacy transaction with replay protection.
    pub fn sign_legacy(&mut self, draft: Draft) -> SignedTransaction {
        let Draft { to, value, input, gas_limit, gas_price, .. } = draft;
        let (chain_id, nonce) = (Some(self.chain_id), self.nonce);
        self.seal(TxLegacy { chain_id, nonce, gas_price, gas_limit, to, value, input })
    }

    /// Signs an EIP-2930 transaction.
    pub fn sign_access_list(&mut self, draft: Draft) -> SignedTransaction {
        let Draft { to, value, input, gas_limit, gas_price, access_list, .. } = draft;
        let (chain_id, nonce) = (self.chain_id, self.nonce);
        self.seal(TxEip2930 { chain_id, nonce, gas_price, gas_limit, to, value, input, access_list })
    }

    /// Signs an EIP-1559 transaction.
    pub fn sign_dynamic_fee(&mut self, draft: Draft) -> SignedTransaction {
        let Draft { to, value, input, gas_limit, gas_price, tip, access_list } = draft;
        self.seal(TxEip1559 {
            chain_id: self.chain_id,
            nonce: self.nonce,
            gas_limit,
            max_fee_per_gas: gas_price,
            max_priority_fee_per_gas: tip,
            to,
            value,
            access_list,
            input,
        })
    }

    #[expect(clippy::expect_used, reason = "a local key can sign every 32-byte hash")]
    fn seal<T: SignableTransaction<Signature>>(&mut self, transaction: T) -> SignedTransaction
    where
        TxEnvelope: From<alloy_consensus::Signed<T>>,
    {
        let signature = self.signer.sign_hash_sync(&transaction.signature_hash()).expect("a valid key signs");
        let envelope = TxEnvelope::from(transaction.into_signed(signature));
        let nonce = self.nonce;
        self.nonce += 1;
        SignedTransaction { raw: envelope.encoded_2718().into(), hash: *envelope.tx_hash(), nonce }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_consensus::{Transaction, transaction::SignerRecoverable};
    use alloy_eips::eip2718::Decodable2718;

    #[test]
    fn every_kind_of_transaction_decodes_to_its_sender_and_the_next_nonce() {
        let mut wallet = Wallet::dev(3);
        let draft = || Draft::transfer(Address::repeat_byte(7), U256::from(5));
        let signed =
            [wallet.sign_legacy(draft()), wallet.sign_access_list(draft()), wallet.sign_dynamic_fee(draft())];
        for (nonce, signed) in signed.iter().enumerate() {
            let decoded = TxEnvelope::decode_2718_exact(&signed.raw).unwrap();
            assert_eq!(decoded.recover_signer().unwrap(), devnet::ACCOUNTS[3].address);
            assert_eq!(decoded.nonce(), nonce as u64);
            assert_eq!(decoded.chain_id(), Some(Network::Devnet.chain_id()));
            assert_eq!(*decoded.tx_hash(), signed.hash);
        }
    }
}
