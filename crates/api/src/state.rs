//! What handlers work with. Built once by the binary; everything in it is shared.

use std::sync::Arc;

use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use chain::{At, Block, ChainClient, Head};
use contracts::PlatformValidatorRegistry::getAccountingCall;
use domain::deployment::Deployment;
use jiff::Timestamp;
use store::Db;
use tokio::sync::watch;
use validators::{Applications, Board};

use crate::{
    clock::Clock,
    code::Code,
    edge::answer::Holds,
    extract::path::BlockName,
    portal::Portal,
    problem::Problem,
    view::{
        AddressText,
        account::{AccountValidatorView, AccountView},
        block::{BlockView, proposer, validator_count},
        chain::{ChainReading, ChainView},
    },
};

/// What handlers work with.
pub struct ApiState {
    /// The chain.
    pub chain: Arc<dyn ChainClient>,
    /// The network that is served.
    pub deployment: Deployment,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// When the process started.
    pub started_at: Timestamp,
    /// The product's version.
    pub version: &'static str,
    /// The index.
    pub db: Db,
    /// Everything about the validators, per head.
    pub boards: watch::Receiver<Option<Arc<Board>>>,
    /// Applications to become a validator.
    pub applications: Applications,
    /// The developer and merchant portal, where there is one.
    pub portal: Option<Portal>,
}

impl ApiState {
    /// The served head, as long as the chain can be reached.
    pub(crate) fn head(&self) -> Result<Arc<Head>, Problem> {
        let head = self.chain.heads().borrow().clone();
        head.filter(|_| self.chain.is_reachable()).ok_or_else(Problem::chain_unavailable)
    }

    /// The developer and merchant portal.
    pub(crate) fn portal(&self) -> Result<&Portal, Problem> {
        let refuse = || Problem::new(Code::NotFound, "This server has no developer portal.");
        self.portal.as_ref().ok_or_else(refuse)
    }

    /// The chain as a whole, at `head`.
    pub(crate) async fn chain_view(&self, head: &Head) -> Result<ChainView, Problem> {
        let reading = ChainReading {
            gas_price: self.chain.gas_price().await?,
            validator_count: validator_count(head),
            total_staked: self.total_staked(head).await?,
        };
        Ok(ChainView::new(&self.deployment, head, &reading))
    }

    /// Stake of all members of the registry.
    pub(crate) async fn total_staked(&self, head: &Head) -> Result<U256, Problem> {
        let registry = self.deployment.contracts.platform_validator_registry;
        let input = getAccountingCall {}.abi_encode().into();
        let output = self.chain.call(registry, input, At::Number(head.number())).await?;
        let accounting = getAccountingCall::abi_decode_returns(&output)
            .map_err(|error| Problem::new(Code::Internal, Code::Internal.meaning()).with_cause(error))?;
        Ok(accounting.staked)
    }

    /// The block that a caller names.
    pub(crate) async fn block(&self, name: BlockName) -> Result<Arc<Block>, Problem> {
        let block = match name {
            BlockName::Latest => self.chain.block(self.head()?.number()).await?,
            BlockName::Number(number) => self.chain.block(number).await?,
            BlockName::Hash(hash) => self.chain.block_by_hash(hash).await?,
        };
        block.ok_or_else(|| Problem::new(Code::BlockNotFound, Code::BlockNotFound.meaning()))
    }

    /// The block that a caller names, as it is shown.
    pub(crate) async fn block_view(&self, name: BlockName) -> Result<BlockView, Problem> {
        let block = self.block(name).await?;
        Ok(BlockView::new(&block, self.proposer_moniker(&block)))
    }

    /// The display name of the validator that proposed a block.
    pub(crate) fn proposer_moniker(&self, block: &Block) -> Option<String> {
        proposer(&block.header).and_then(|proposer| self.moniker(proposer))
    }

    /// An account at `head`, with what the network knows about it.
    pub(crate) async fn account_view(&self, address: Address, head: &Head) -> Result<AccountView, Problem> {
        let account = self.chain.account(address, At::Number(head.number())).await?;
        Ok(AccountView::new(address, &account, self.label(address), self.validator_of(address)))
    }

    /// What is known of the validators.
    pub(crate) fn board(&self) -> Result<Arc<Board>, Problem> {
        let board = self.boards.borrow().clone();
        board.filter(|_| self.chain.is_reachable()).ok_or_else(Problem::chain_unavailable)
    }

    /// How long an answer made from a board holds.
    pub(crate) fn holds_board(&self, board: &Board) -> Holds {
        if board.is_current() { Holds::Head(board.block_hash) } else { Holds::Moment }
    }

    /// How long an answer made from the index holds that is at this block.
    pub(crate) fn holds_at(&self, block: Option<u64>) -> Holds {
        match self.head() {
            Ok(head) if Some(head.number()) == block => Holds::Head(head.hash),
            Ok(_) | Err(_) => Holds::Moment,
        }
    }

    /// Milliseconds since 1970.
    pub(crate) fn now_millis(&self) -> u64 {
        u64::try_from(self.clock.now().as_millisecond()).unwrap_or(0)
    }

    /// The display name of the validator that seals with this address.
    fn moniker(&self, consensus: Address) -> Option<String> {
        let board = self.boards.borrow();
        let record = board.as_ref()?.find_node(consensus)?;
        Some(record.moniker.clone()).filter(|moniker| !moniker.is_empty())
    }

    fn validator_of(&self, address: Address) -> Option<AccountValidatorView> {
        let board = self.boards.borrow();
        board.as_ref()?.find(address).map(|record| AccountValidatorView {
            address: AddressText(record.address()),
            moniker: record.moniker.clone(),
            status: record.standing.name().to_owned(),
        })
    }

    /// What the network knows an address as.
    pub fn label(&self, address: Address) -> Option<String> {
        if address == contracts::address::BURN {
            return Some("Burn address".to_owned());
        }
        let named = self.deployment.contracts.named();
        named.iter().find(|(_, contract)| *contract == address).map(|(name, _)| (*name).to_owned())
    }
}
