//! `chainnet partner`: a key and a wallet for the faucet, in one step.

use access::Keys;
use jiff::Timestamp;
use store::AllowedWallet;

use super::keys::{print_issued, terms};
use crate::{
    cli::{PartnerAdd, PartnerCommand},
    config::Config,
    process, runtime, wiring,
};

/// Carries out one command.
pub(crate) fn run(config: &Config, command: &PartnerCommand) -> anyhow::Result<()> {
    let PartnerCommand::Add(partner) = command;
    runtime::run_small(async {
        let db = process::open_database(config).await?;
        let result = add(config, &Keys::new(db.clone()), partner).await;
        db.close().await;
        result
    })
}

async fn add(config: &Config, keys: &Keys, partner: &PartnerAdd) -> anyhow::Result<()> {
    let now = Timestamp::now();
    let terms = terms(config, &partner.team, partner.permissions, &partner.bounds, now)?;
    let wallet = AllowedWallet {
        wallet: partner.wallet,
        team: partner.team.clone(),
        note: partner.note.clone(),
        added_at: wiring::clock()(),
    };
    print_issued(&keys.add_partner(&terms, &wallet, now).await?, now, partner.json)
}
