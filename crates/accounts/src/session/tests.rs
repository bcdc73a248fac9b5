//! Sessions over a clock that stands still and a chain that cannot be reached; wallets that are contracts are tried with the
//! API, on a real chain.

use std::sync::atomic::{AtomicI64, Ordering};

use alloy_primitives::{B256, U256, hex};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use async_trait::async_trait;
use chain::{Account, At, Block, ChainError, FoundTransaction, Head, Receipt, SendError, Sent};
use store::{engine_tests, testing::TestDb};
use tokio::sync::watch;

use super::*;

const NOW: i64 = 1_767_225_600_123;
const MINUTE: i64 = 60_000;

struct NoChain;

fn nobody<T>() -> Result<T, ChainError> {
    Err(ChainError::Unavailable(None))
}

#[async_trait]
impl ChainClient for NoChain {
    async fn chain_id(&self) -> Result<u64, ChainError> {
        nobody()
    }

    fn heads(&self) -> watch::Receiver<Option<Arc<Head>>> {
        watch::channel(None).1
    }

    fn is_reachable(&self) -> bool {
        false
    }

    async fn block(&self, _: u64) -> Result<Option<Arc<Block>>, ChainError> {
        nobody()
    }

    async fn block_by_hash(&self, _: B256) -> Result<Option<Arc<Block>>, ChainError> {
        nobody()
    }

    async fn receipts(&self, _: &Block) -> Result<Arc<Vec<Receipt>>, ChainError> {
        nobody()
    }

    async fn transaction(&self, _: B256) -> Result<Option<FoundTransaction>, ChainError> {
        nobody()
    }

    async fn account(&self, _: Address, _: At) -> Result<Account, ChainError> {
        nobody()
    }

    async fn call(&self, _: Address, _: Bytes, _: At) -> Result<Bytes, ChainError> {
        nobody()
    }

    async fn call_creation(&self, _: Bytes, _: At) -> Result<Bytes, ChainError> {
        nobody()
    }

    async fn gas_price(&self) -> Result<U256, ChainError> {
        nobody()
    }

    async fn pending_nonce(&self, _: Address) -> Result<u64, ChainError> {
        nobody()
    }

    async fn send_transaction(&self, _: Bytes) -> Result<Sent, SendError> {
        Err(SendError::Unknown(ChainError::Unavailable(None)))
    }
}

struct Rig {
    db: Db,
    sessions: Arc<Sessions>,
    clock: Arc<AtomicI64>,
    wallet: PrivateKeySigner,
}

impl Rig {
    fn new(test: &TestDb) -> Self {
        let clock = Arc::new(AtomicI64::new(NOW));
        let now = clock.clone();
        let now: Clock = Arc::new(move || Timestamp::from_millisecond(now.load(Ordering::SeqCst)).unwrap());
        let settings =
            SessionSettings { public_url: "https://portal.example.org".parse().unwrap(), chain_id: 8845 };
        let sessions = Arc::new(Sessions::new(test.db(), Arc::new(NoChain), now, settings));
        let wallet = PrivateKeySigner::from_bytes(&B256::repeat_byte(7)).unwrap();
        Self { db: test.db(), sessions, clock, wallet }
    }

    fn advance(&self, millis: i64) {
        self.clock.fetch_add(millis, Ordering::SeqCst);
    }

    fn sign(&self, challenge: &Challenge) -> Bytes {
        self.wallet.sign_message_sync(challenge.message.as_bytes()).unwrap().as_bytes().to_vec().into()
    }

    async fn sign_in(&self) -> SignedIn {
        let challenge = self.sessions.challenge(self.wallet.address()).await.unwrap();
        self.sessions.sign_in(challenge.id, &self.sign(&challenge), None).await.unwrap()
    }

    async fn last_seen(&self, token: &SessionToken) -> i64 {
        let row = self.db.find_session(token.hash()).await.unwrap().unwrap();
        row.last_seen_at.cast_signed() - NOW
    }
}

engine_tests! {
    async fn challenges_differ_and_say_whole_seconds(test: TestDb) {
        let rig = Rig::new(test);
        let one = rig.sessions.challenge(rig.wallet.address()).await.unwrap();
        let other = rig.sessions.challenge(rig.wallet.address()).await.unwrap();
        assert_eq!(one.expires_at.to_string(), "2026-01-01T00:05:00Z");
        assert!(one.message.contains("\nIssued At: 2026-01-01T00:00:00Z\n"), "{}", one.message);
        let nonce = |challenge: &Challenge| {
            let line = challenge.message.lines().find_map(|line| line.strip_prefix("Nonce: ")).unwrap();
            assert!(line.len() == 22 && line.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{line}");
            line.to_owned()
        };
        assert_ne!(nonce(&one), nonce(&other));
        assert_ne!(one.id, other.id);
    }

    async fn of_many_who_send_the_same_signature_one_is_signed_in(test: TestDb) {
        let rig = Rig::new(test);
        let challenge = rig.sessions.challenge(rig.wallet.address()).await.unwrap();
        let signature = rig.sign(&challenge);
        let sending: Vec<_> = (0..16)
            .map(|_| {
                let (sessions, signature) = (rig.sessions.clone(), signature.clone());
                tokio::spawn(async move { sessions.sign_in(challenge.id, &signature, None).await })
            })
            .collect();
        let mut signed_in = 0;
        for sent in sending {
            match sent.await.unwrap() {
                Ok(_) => signed_in += 1,
                Err(error) => assert!(matches!(error, SignInError::ChallengeExpired), "{error:?}"),
            }
        }
        assert_eq!(signed_in, 1);
    }

    async fn a_key_needs_no_chain_and_a_contract_may_try_again(test: TestDb) {
        let rig = Rig::new(test);
        assert_eq!(rig.sign_in().await.session.account_type, AccountType::Eoa);
        let challenge = rig.sessions.challenge(Address::repeat_byte(9)).await.unwrap();
        let wrapped = Bytes::from(hex::decode("6492".repeat(16)).unwrap());
        for signature in [rig.sign(&challenge), wrapped, Bytes::new()] {
            let refused = rig.sessions.sign_in(challenge.id, &signature, None).await.unwrap_err();
            assert!(matches!(refused, SignInError::Chain(_)), "{refused:?}");
        }
        rig.advance(5 * MINUTE);
        let late = rig.sessions.sign_in(challenge.id, &rig.sign(&challenge), None).await.unwrap_err();
        assert!(matches!(late, SignInError::ChallengeExpired), "{late:?}");
    }

    async fn a_use_is_noted_once_a_minute(test: TestDb) {
        let rig = Rig::new(test);
        let token = rig.sign_in().await.token;
        for (step, seen) in [(MINUTE - 1, 0), (1, MINUTE), (MINUTE - 1, MINUTE), (1, 2 * MINUTE)] {
            rig.advance(step);
            rig.sessions.check(token.expose()).await.unwrap();
            assert_eq!(rig.last_seen(&token).await, seen);
        }
        rig.advance(30 * MINUTE);
        assert!(matches!(rig.sessions.check(token.expose()).await, Err(SessionDenied::Expired)));
        assert_eq!(rig.last_seen(&token).await, 2 * MINUTE, "a refusal is no use");
    }

    async fn what_is_over_is_forgotten_in_time(test: TestDb) {
        let rig = Rig::new(test);
        let token = rig.sign_in().await.token;
        rig.sessions.challenge(rig.wallet.address()).await.unwrap();
        assert_eq!(rig.sessions.forget_old().await.unwrap(), 0);
        rig.advance(12 * 60 * MINUTE);
        assert_eq!(rig.sessions.forget_old().await.unwrap(), 2, "the challenges");
        assert!(matches!(rig.sessions.check(token.expose()).await, Err(SessionDenied::Expired)));
        rig.advance(24 * 60 * MINUTE + 1);
        assert_eq!(rig.sessions.forget_old().await.unwrap(), 1, "the session");
        assert!(matches!(rig.sessions.check(token.expose()).await, Err(SessionDenied::Invalid)));
    }
}
