//! A fresh devnet shown in use, so that a newcomer's first look at the pages finds something on them.
//!
//! The last three of the well-known accounts do what users do, each step through the same doors as theirs: transfers, fees of the
//! platform's features, a contract, a call that fails, a plan that is bought, an invoice that is paid, a claim at the faucet.
//! It is played once: accounts that have done something are left alone.

mod wallet;

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};

use access::PLACEHOLDERS;
use alloy_primitives::{Bytes, U256, bytes};
use alloy_sol_types::SolCall;
use anyhow::Context;
use api::{ApiState, Edge, Portal};
use contracts::{PlatformFees::payCall, fees::FeeSource};
use domain::{Wei, devnet, portal::AmountIdr};
use http_body_util::Full;
use hyper::Request;
use merchant::{Done, KeyTerms, NewInvoice, PaymentRequest};
use store::AllowedWallet;

use self::wallet::Wallet;

/// Creates a contract that answers 42 to everything.
const CONTRACT: Bytes = bytes!("600a600c600039600a6000f3602a60005260206000f3");
/// From where the claim comes: an address that no visitor can have (RFC 5737), so that nobody's limit is touched.
const STAGE: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

/// What the demonstration is played with.
pub(crate) struct Demo {
    pub(crate) api: Arc<ApiState>,
    pub(crate) faucet: Option<Edge>,
}

impl Demo {
    /// Plays it, if the accounts have not done anything yet.
    pub(crate) async fn play(self) -> anyhow::Result<()> {
        let [.., visitor, merchant, customer] = devnet::ACCOUNTS;
        let chain = &self.api.chain;
        let mut wallets = Vec::new();
        for account in [visitor, merchant, customer] {
            let wallet = Wallet::open(chain.clone(), self.api.deployment.chain_id, account).await?;
            if wallet.is_used() {
                return Ok(());
            }
            wallets.push(wallet);
        }
        let [visitor, merchant, customer] = &mut wallets[..] else { return Ok(()) };
        self.use_the_chain(customer, merchant).await?;
        if let Some(portal) = &self.api.portal {
            run_a_shop(portal, merchant, customer).await.context("the shop could not be shown")?;
        }
        if let Some(faucet) = &self.faucet {
            self.claim(faucet, visitor).await.context("the faucet could not be shown")?;
        }
        Ok(())
    }

    /// Transfers, fees, a new contract, and a call that is undone.
    async fn use_the_chain(&self, customer: &mut Wallet, merchant: &mut Wallet) -> anyhow::Result<()> {
        let fees = self.api.deployment.contracts.platform_fees;
        customer.send(Some(merchant.address()), coin("250"), Bytes::new()).await?;
        merchant.send(Some(customer.address()), coin("12.75"), Bytes::new()).await?;
        merchant.send(None, U256::ZERO, CONTRACT).await?;
        let features = FeeSource::ALL.into_iter().filter(|source| *source != FeeSource::DeveloperPortal);
        for (source, price) in features.zip(["4.2", "2.5", "1.8", "6", "9.4", "3.1"]) {
            let call = payCall { source: source.id(), r#ref: source.id() };
            customer.send(Some(fees), coin(price), call.abi_encode().into()).await?;
        }
        // A fee of nothing is refused by the contract.
        let nothing = payCall { source: FeeSource::Payments.id(), r#ref: FeeSource::Payments.id() };
        let last = customer.send(Some(fees), U256::ZERO, nothing.abi_encode().into()).await?;
        customer.wait_for(last).await?;
        Ok(())
    }

    /// A wallet on the allowlist claims test coin.
    async fn claim(&self, faucet: &Edge, visitor: &Wallet) -> anyhow::Result<()> {
        let entry = AllowedWallet {
            wallet: visitor.address(),
            team: "demonstration".parse()?,
            note: Some("shown in use at the first start".to_owned()),
            added_at: u64::try_from(self.api.clock.now().as_millisecond()).unwrap_or_default(),
        };
        self.api.db.add_allowed_wallet(&entry).await?;
        let body = serde_json::json!({ "address": visitor.address(), "website": "" }).to_string();
        let [known, ..] = PLACEHOLDERS;
        let request = Request::post("/claim")
            .header("content-type", "application/json")
            .header("x-api-key", known.key)
            .body(Full::new(hyper::body::Bytes::from(body)))?;
        let status = faucet.answer(STAGE, request).await.status();
        anyhow::ensure!(status.is_success(), "the claim was answered with {status}");
        Ok(())
    }
}

/// A merchant buys a plan and sends two invoices, one of which is paid.
async fn run_a_shop(portal: &Portal, merchant: &mut Wallet, customer: &mut Wallet) -> anyhow::Result<()> {
    let terms = KeyTerms::read("monthly", Some("Toko Demo".to_owned()), None)?;
    let order = portal.orders.open(merchant.address(), terms, None).await?;
    let payment = merchant.pay(&order.request).await?;
    portal.orders.claim(merchant.address(), order.row.id, Some(payment), None).await?;
    let paid = invoice("Ibu Sari", 185_000, "Kopi Gayo, 1 kg")?;
    let open = invoice("Pak Budi", 420_000, "Sewa ruang rapat")?;
    let Done::Now(record) = portal.invoices.create(merchant.address(), paid, None).await? else {
        return Ok(());
    };
    portal.invoices.create(merchant.address(), open, None).await?;
    let (record, quote) = portal.checkout.quote(record.invoice.token).await?;
    let request = PaymentRequest::quote(&portal.checkout.terms(&record.invoice, &quote));
    let payment = customer.pay(&request).await?;
    customer.wait_for(payment).await
}

fn invoice(customer: &str, rupiah: u64, note: &str) -> anyhow::Result<NewInvoice> {
    Ok(NewInvoice {
        customer_label: customer.parse()?,
        amount: AmountIdr::try_from(rupiah)?,
        note: note.parse()?,
        external_id: None,
        lifetime: domain::portal::InvoiceLifetime::default(),
    })
}

fn coin(text: &str) -> U256 {
    text.parse::<Wei>().unwrap_or_default().0
}
