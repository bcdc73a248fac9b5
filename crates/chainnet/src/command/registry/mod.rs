//! `chainnet registry`: reading and changing the registry of validators on chain.
//!
//! A change is always tried out first, with the account that will send it: what the registry would refuse is refused here, in
//! words. `--dry-run` stops after that and shows what will be different. Where the right to a change is the treasury's Safe's,
//! the Safe's transaction is printed for its owners to sign, and nothing is sent.

mod plan;
mod print;
mod refusal;
mod rewards;
mod safe;
pub(crate) mod send;
mod state;

use alloy_primitives::{Address, U256};
use alloy_signer_local::PrivateKeySigner;
use anyhow::{Context, bail};
use chain::{At, Cached, ChainClient, RawUpstream, contract, remote::RemoteClient};
use contracts::PlatformValidatorRegistry as Registry;
use serde_json::{Value, json};

use self::{
    plan::{Plan, Right, foresee},
    state::State,
};
use crate::{
    cli::RegistryCommand,
    command::nodes,
    config::{Config, SecretKey},
    keys, runtime,
};

/// Records that `status` lists.
const MOST_RECORDS: u64 = 2_048;

/// Carries out one command.
pub(crate) fn run(config: &Config, command: &RegistryCommand) -> anyhow::Result<()> {
    runtime::run_small(async {
        let desk = Desk::open(config).await?;
        match (command, Plan::of(command)) {
            (RegistryCommand::Show { operator, json }, _) => desk.show(*operator, *json).await,
            (_, Some(plan)) => desk.change(command, &plan).await,
            (RegistryCommand::Rewards(rewards), None) => rewards::run(&desk, rewards).await,
            (RegistryCommand::Status { json }, None) => desk.status(*json).await,
            (_, None) => Ok(()),
        }
    })
}

/// Who makes a change.
enum Sender {
    Key(PrivateKeySigner),
    /// The treasury's Safe, whose owners have to sign.
    Safe(Address),
}

impl Sender {
    fn address(&self) -> Address {
        match self {
            Self::Key(key) => key.address(),
            Self::Safe(safe) => *safe,
        }
    }
}

/// What commands work with.
struct Desk<'a> {
    config: &'a Config,
    chain: Cached<RemoteClient>,
    registry: Address,
}

/// A change that the registry would take.
struct Prepared {
    sender: Sender,
    gas: u64,
    before: State,
    expected: State,
}

impl<'a> Desk<'a> {
    async fn open(config: &'a Config) -> anyhow::Result<Self> {
        let chain = nodes::connect(config).await?;
        let registry = config.deployment().contracts.platform_validator_registry;
        if chain.account(registry, At::Head).await?.code.is_empty() {
            bail!(
                "there is no registry at {registry} on this chain; PLATFORM_NETWORK or the deployment record is wrong"
            );
        }
        Ok(Self { config, chain, registry })
    }

    fn upstream(&self) -> &dyn RawUpstream {
        &**self.chain.inner()
    }

    async fn status(&self, json: bool) -> anyhow::Result<()> {
        let state = State::read(&self.chain, self.registry, Address::ZERO).await?;
        let page = Registry::getValidatorsCall { offset: U256::ZERO, limit: U256::from(MOST_RECORDS) };
        let records = contract::call(&self.chain, self.registry, &page, At::Head).await?;
        print::status(&state, &records, json)
    }

    async fn show(&self, operator: Address, json: bool) -> anyhow::Result<()> {
        let state = State::read(&self.chain, self.registry, operator).await?;
        if state.record.status == state::NONE && !state.is_approved {
            bail!(unknown_operator(operator));
        }
        print::operator(operator, &state, json)
    }

    async fn change(&self, command: &RegistryCommand, plan: &Plan) -> anyhow::Result<()> {
        let sender = self.sender(plan).await?;
        // First, so that what is tried out and shown is what the transaction will find.
        let nonce = match &sender {
            Sender::Key(key) if !plan.how.dry_run => send::next_nonce(&self.chain, key.address()).await?,
            Sender::Key(_) | Sender::Safe(_) => 0,
        };
        let prepared = self.prepare(command, plan, sender).await?;
        let mut view = print::call(plan, &prepared, self.registry);
        match &prepared.sender {
            Sender::Safe(safe) => {
                let transaction = safe::transaction(&self.chain, *safe, self.registry, plan).await?;
                print::safe(&mut view, &transaction, &prepared, plan.how)
            }
            Sender::Key(_) if plan.how.dry_run => print::dry_run(&mut view, &prepared, plan.how),
            Sender::Key(key) => {
                let (to, value, input) = (self.registry, plan.value, plan.input.clone());
                let draft = send::Draft { to, value, input, gas: prepared.gas };
                let mined = send::send(&self.chain, key, nonce, draft).await?;
                if let Some(reason) = &mined.reverted {
                    let (hash, block) = (mined.hash, mined.block);
                    let reason = refusal::in_words(reason.as_ref());
                    bail!("the registry refused transaction {hash} in block {block}: {reason}");
                }
                let operator = plan.operator.unwrap_or(key.address());
                let after = State::read(&self.chain, self.registry, operator).await?;
                print::outcome(&mut view, &mined, &prepared.before.changes(&after), plan.how)
            }
        }
    }

    /// Finds out who sends it, and that the registry would take it.
    async fn prepare(
        &self,
        command: &RegistryCommand,
        plan: &Plan,
        sender: Sender,
    ) -> anyhow::Result<Prepared> {
        let operator = plan.operator.unwrap_or(sender.address());
        let before = State::read(&self.chain, self.registry, operator).await?;
        if plan.is_known && before.record.status == state::NONE {
            bail!(unknown_operator(operator));
        }
        if let RegistryCommand::Slash { again: false, .. } = command
            && before.record.status == state::JAILED
        {
            let until = state::time(before.record.jailedUntil);
            bail!("{operator} was slashed and is in jail until {until}; --again slashes it once more");
        }
        let request = json!({
            "from": sender.address(),
            "to": self.registry,
            "value": format!("{:#x}", plan.value),
            "data": plan.input,
        });
        self.try_out("eth_call", &json!([&request, "latest"])).await?;
        let gas = self.try_out("eth_estimateGas", &json!([&request])).await?;
        let gas: U256 = serde_json::from_value(gas).context("the node's estimate is not understood")?;
        let time = self.chain.heads().borrow().as_ref().map_or(0, |head| head.header.timestamp);
        let expected = foresee(command, &before, sender.address(), time);
        Ok(Prepared { sender, gas: u64::try_from(gas).unwrap_or(u64::MAX), before, expected })
    }

    async fn try_out(&self, method: &'static str, params: &Value) -> anyhow::Result<Value> {
        match nodes::ask(self.upstream(), method, params).await? {
            Ok(result) => Ok(result),
            Err(refused) => match refused.revert_data() {
                Some(data) => bail!("the registry refuses: {}", refusal::in_words(Some(&data))),
                None => bail!("the node refuses with {}: {}", refused.code, refused.message),
            },
        }
    }

    /// Whoever has the right: the key, or the treasury's Safe.
    async fn sender(&self, plan: &Plan) -> anyhow::Result<Sender> {
        self.sender_with(plan.right, plan.how.safe).await
    }

    async fn sender_with(&self, right: Right, wants_safe: bool) -> anyhow::Result<Sender> {
        let safe = contract::call(&self.chain, self.registry, &Registry::treasuryCall {}, At::Head).await?;
        if wants_safe {
            return Ok(Sender::Safe(safe));
        }
        let key = self.key(right)?;
        let (role, name) = match right {
            Right::Admin => (state::admin_role(), "ADMIN_ROLE"),
            Right::Slasher => (state::slasher_role(), "SLASHER_ROLE"),
            Right::Operator | Right::Anybody => return key.map(Sender::Key).with_context(no_key),
        };
        let has_role = async |account: Address| {
            contract::call(&self.chain, self.registry, &Registry::hasRoleCall { role, account }, At::Head)
                .await
        };
        match key {
            Some(key) if has_role(key.address()).await? => Ok(Sender::Key(key)),
            _ if has_role(safe).await? => Ok(Sender::Safe(safe)),
            Some(key) => bail!(refusal::missing_role(key.address(), name, safe)),
            None => bail!(no_key()),
        }
    }

    /// The configured key, or the network's own for what is to be done.
    fn key(&self, right: Right) -> anyhow::Result<Option<PrivateKeySigner>> {
        let (network, data) = (self.config.network, &self.config.data);
        let key = match (&self.config.registry_key, right) {
            (Some(key), _) => Some(SecretKey::expose(key)),
            (None, Right::Slasher) => keys::keeper_key(network, data)?,
            (None, Right::Admin | Right::Operator | Right::Anybody) => keys::admin_key(network, data)?,
        };
        key.map(|key| PrivateKeySigner::from_bytes(&key).context("the registry's key is not one")).transpose()
    }
}

fn no_key() -> String {
    "there is no key to sign with: name one with REGISTRY_KEY, or print the Safe's transaction with --safe"
        .to_owned()
}

fn unknown_operator(operator: Address) -> String {
    format!("{operator} never registered; `chainnet registry status` lists who did")
}
