//! What the keeper notices: jails that have ended, validators that are down, validators that signed twice.

use std::collections::{HashMap, HashSet};

use alloy_primitives::Address;
use chain::{Head, contract::ContractError};
use store::{
    Lease,
    keeper::{Begun, KeeperTask, NewAction, NewReport, OffenceKind},
};

use crate::{
    double_sign::Equivocation,
    downtime::{self, Downtime},
    keeper::{Keeper, Memory, Trouble},
    registry::{self, Member, Standing},
};

/// An index so many blocks behind is catching up: what it says is of the past.
const CATCHING_UP: u64 = 8;

impl Keeper {
    /// Whether the keeper's account may slash.
    pub(crate) async fn may_slash(&self) -> Result<bool, ContractError> {
        let Some(account) = self.address() else { return Ok(false) };
        registry::may_slash(&*self.chain, self.settings.registry, account).await
    }

    /// Decides to let out whose jail has ended by the chain's time.
    pub(crate) async fn open_jails(
        &self,
        memory: &mut Memory,
        lease: Lease,
        head: &Head,
    ) -> Result<(), Trouble> {
        let is_over = |member: &&Member| {
            member.standing == Standing::Jailed && member.jailed_until <= head.header.timestamp
        };
        for member in memory.members.iter().filter(is_over) {
            let (operator, until) = (member.operator, member.jailed_until);
            let occasion = format!("unjail:{operator:#x}:{until}");
            if self.signer.is_none() {
                if memory.said.insert(occasion) {
                    tracing::warn!(%operator, until, "a jail has ended, but the keeper has no key to open it");
                }
                continue;
            }
            let action = NewAction { occasion, task: KeeperTask::Unjail, operator, expects: until };
            self.begin(lease, &action).await?;
        }
        Ok(())
    }

    async fn begin(&self, lease: Lease, action: &NewAction) -> Result<bool, Trouble> {
        let is_new = self.db.begin_action(lease, action, self.now()).await? == Begun::New;
        if is_new {
            let (task, operator) = (action.task.name(), action.operator);
            tracing::info!(task, %operator, occasion = action.occasion, "the keeper acts");
            self.metrics.begun(action.task);
        }
        Ok(is_new)
    }

    /// Judges downtime when the index has moved. True when there is something new to be done.
    pub(crate) async fn watch_downtime(
        &self,
        memory: &mut Memory,
        lease: Lease,
        head: &Head,
    ) -> Result<bool, Trouble> {
        let Some(indexed) = self.db.index_head().await?.map(|indexed| indexed.number) else {
            return Ok(false);
        };
        if memory.judged == Some(indexed) || indexed.saturating_add(CATCHING_UP) < head.number() {
            return Ok(false);
        }
        let down = downtime::read_down(&self.db, &self.settings.downtime).await?;
        self.metrics.down.set(i64::try_from(down.len()).unwrap_or(i64::MAX));
        let mut has_begun = false;
        for downtime in &down {
            has_begun |= self.note_downtime(memory, lease, head, downtime).await?;
        }
        memory.judged = Some(indexed);
        self.metrics.judged.set(i64::try_from(indexed).unwrap_or(i64::MAX));
        Ok(has_begun)
    }

    async fn note_downtime(
        &self,
        memory: &mut Memory,
        lease: Lease,
        head: &Head,
        down: &Downtime,
    ) -> Result<bool, Trouble> {
        let member = memory.members.iter().find(|member| member.node == down.node).cloned();
        let whose = member.as_ref().map_or(down.node, |member| member.operator);
        let report = NewReport {
            occasion: format!("downtime:{whose:#x}:{}", down.last_sign),
            kind: OffenceKind::Downtime,
            operator: member.as_ref().map(|member| member.operator),
            node: down.node,
            block_number: down.last_sign,
            proof: None,
            note: format!(
                "{} turns missed in a row, uptime {}.{:04}%, no sign of life from block {} to block {}",
                down.missed_in_a_row,
                down.uptime_ppm / 10_000,
                down.uptime_ppm % 10_000,
                down.last_sign,
                down.as_of
            ),
            seen_at: head.header.timestamp,
        };
        self.report(lease, &report).await?;
        // Who is in jail has been slashed, and waits for its end.
        let Some(member) = member.filter(|member| member.standing == Standing::Active) else {
            return Ok(false);
        };
        if !self.settings.auto_slash
            || downtime::was_slashed_since(&self.db, member.operator, down.last_sign).await?
        {
            return Ok(false);
        }
        self.slash(&mut memory.said, lease, report.occasion, KeeperTask::SlashDowntime, &member).await
    }

    async fn report(&self, lease: Lease, report: &NewReport) -> Result<(), Trouble> {
        if self.db.report_offence(lease, report, self.now()).await? {
            let (offence, node, block) = (report.kind.name(), report.node, report.block_number);
            let (operator, what) = (report.operator.map(|operator| operator.to_string()), &report.note);
            tracing::warn!(offence, %node, operator, block, what, "a validator is reported");
            self.metrics.reported(report.kind);
        }
        Ok(())
    }

    /// Decides on a slash, once for the offence.
    async fn slash(
        &self,
        said: &mut HashSet<String>,
        lease: Lease,
        occasion: String,
        task: KeeperTask,
        member: &Member,
    ) -> Result<bool, Trouble> {
        if !self.may_slash().await? {
            if said.insert(format!("no-role:{occasion}")) {
                let operator = member.operator;
                tracing::warn!(%operator, "the keeper lacks SLASHER_ROLE and does not slash; see the report");
            }
            return Ok(false);
        }
        let expects = u64::from(member.slash_count);
        let action = NewAction { occasion, task, operator: member.operator, expects };
        self.begin(lease, &action).await
    }

    /// Compares single nodes with the chain. True when there is something new to be done.
    pub(crate) async fn compare_nodes(
        &self,
        memory: &mut Memory,
        lease: Lease,
        head: &Head,
    ) -> Result<bool, Trouble> {
        let mut has_begun = false;
        for node in &self.witnesses {
            match memory.sightings.compare(&*self.chain, &**node, head).await {
                Ok(Some(found)) => has_begun |= self.note_double_sign(memory, lease, head, &found).await?,
                Ok(None) => {}
                Err(error) => tracing::debug!(node = node.name(), %error, "a node cannot be compared"),
            }
        }
        self.metrics.forks(memory.sightings.forked.len());
        Ok(has_begun)
    }

    async fn note_double_sign(
        &self,
        memory: &mut Memory,
        lease: Lease,
        head: &Head,
        found: &Equivocation,
    ) -> Result<bool, Trouble> {
        let members: HashMap<Address, Member> =
            memory.members.iter().map(|member| (member.node, member.clone())).collect();
        let mut has_begun = false;
        for &node in &found.signers {
            let member = members.get(&node);
            let whose = member.map_or(node, |member| member.operator);
            let (height, round) = (found.height, found.proof.round);
            let report = NewReport {
                occasion: format!("double-sign:{whose:#x}:{height}:{round}"),
                kind: OffenceKind::DoubleSign,
                operator: member.map(|member| member.operator),
                node,
                block_number: height,
                proof: Some(found.proof.clone()),
                note: format!("its seals are on two blocks of height {height}, round {round}"),
                seen_at: head.header.timestamp,
            };
            self.report(lease, &report).await?;
            if let Some(member) = member.filter(|member| self.settings.auto_slash && member.can_be_slashed())
            {
                let task = KeeperTask::SlashDoubleSign;
                has_begun |= self.slash(&mut memory.said, lease, report.occasion, task, member).await?;
            }
        }
        Ok(has_begun)
    }
}
