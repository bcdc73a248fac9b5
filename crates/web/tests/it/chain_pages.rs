//! The pages of the chain: every one of them with the facts in it.

use alloy_primitives::{Address, B256, Bytes, TxKind, U256};
use alloy_sol_types::SolCall;
use contracts::{PlatformFees, address::FEES, fees::FeeSource};
use domain::{Wei, devnet};
use hyper::StatusCode;

use crate::rig::{FRIEND, Rig, Wishes, first_validator};

/// Pays a fee of so many coins for using the bridge.
fn pay_fee(rig: &Rig, account: usize, nonce: u64, coin: u64) -> B256 {
    let call = PlatformFees::payCall { source: FeeSource::Bridge.id(), r#ref: B256::repeat_byte(7) };
    rig.send(account, nonce, FEES.into(), Wei::from_coin(coin).0, call.abi_encode().into())
}

/// The address of a development account as pages write it.
fn account(index: usize) -> String {
    devnet::ACCOUNTS[index].address.to_checksum(None)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn home_shows_the_head_charts_blocks_and_transactions() {
    let rig = Rig::new().await;
    let empty = rig.get("/").await.page();
    assert!(empty.contains("No transactions yet"), "{empty}");
    let hash = rig.transfer(0, 0, 3);
    rig.mine().await;
    let page = rig.get("/").await.page();
    assert!(page.contains(&format!("href=\"/tx/{hash}\"")), "{page}");
    assert!(page.contains("<a href=\"/block/1\">1</a>"), "{page}");
    assert!(page.contains("<title>Block 1: 1</title>"), "{page}");
    assert!(page.contains("Validator "), "{page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocks_are_paged() {
    let rig = Rig::new().await;
    for _ in 0..30 {
        rig.control.mine(None).await.unwrap();
    }
    rig.settle().await;
    let page = rig.get("/blocks").await.page();
    assert!(page.contains("href=\"/block/30\"") && !page.contains("href=\"/block/5\""), "{page}");
    assert!(page.contains("href=\"/blocks?before=6\"") && page.contains("data-refresh"), "{page}");
    let older = rig.get("/blocks?before=6").await.page();
    assert!(older.contains("href=\"/block/5\"") && older.contains("<i>genesis</i>"), "{older}");
    assert!(!older.contains("data-refresh") && !older.contains("before=0"), "{older}");
    assert_eq!(rig.get("/blocks?before=x").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_block_tells_who_made_it_and_what_is_in_it() {
    let rig = Rig::new().await;
    let hash = rig.transfer(0, 0, 3);
    rig.mine().await;
    rig.mine().await;
    let page = rig.get("/block/1").await.page();
    for fact in [
        &format!("href=\"/tx/{hash}\""),
        "The first proposer in line was on time.",
        "of 5",
        "✓ sealed",
        "21\u{202f}000 / ",
        "State root",
        "href=\"/block/0\"",
        "href=\"/block/2\"",
        &format!("href=\"/address/{}\"", account(0)),
    ] {
        assert!(page.contains(fact), "{fact} in {page}");
    }
    let block_hash = rig.chain.head().block.hash;
    assert!(rig.get(&format!("/block/{block_hash}")).await.page().contains("Block 2"));
    assert!(rig.get("/block/0x1").await.page().contains(&hash.to_string()));
    let genesis = rig.get("/block/0").await.page();
    assert!(genesis.contains("this is where the chain begins"), "{genesis}");
    assert!(genesis.contains("This block has no transactions."), "{genesis}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_block_is_paged_and_stays_light() {
    let rig = Rig::new().await;
    let hashes: Vec<_> = (0..300).map(|nonce| pay_fee(&rig, 0, nonce, 1)).collect();
    rig.mine().await;
    let count = rig.chain.head().block.transactions.len();
    assert!(count > 200, "{count} transactions");
    let first = rig.get("/block/1").await.page();
    assert!(first.contains(&hashes[24].to_string()) && !first.contains(&hashes[25].to_string()));
    assert!(first.contains("href=\"/block/1?from=25#transactions\""), "{first}");
    let second = rig.get("/block/1?from=25").await.page();
    assert!(second.contains(&hashes[25].to_string()) && !second.contains(&hashes[24].to_string()));
    for path in ["/", "/blocks", "/transactions", "/burns", &format!("/address/{}", account(0))] {
        rig.get(path).await.page();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transactions_are_paged_from_the_index() {
    let rig = Rig::new().await;
    assert!(rig.get("/transactions").await.page().contains("No transactions yet."));
    let hashes: Vec<_> = (0..30).map(|nonce| rig.transfer(0, nonce, 1)).collect();
    rig.mine().await;
    let page = rig.get("/transactions").await.page();
    assert!(page.contains(&hashes[29].to_string()) && !page.contains(&hashes[4].to_string()), "{page}");
    assert!(page.contains("href=\"/transactions?before=1-5\""), "{page}");
    let older = rig.get("/transactions?before=1-5").await.page();
    assert!(older.contains(&hashes[4].to_string()) && older.contains(">Newest</a>"), "{older}");
    assert_eq!(rig.get("/transactions?before=1").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_waits_and_is_then_told_in_words() {
    let rig = Rig::new().await;
    let hash = pay_fee(&rig, 0, 0, 10);
    let waiting = rig.get(&format!("/tx/{hash}")).await.page();
    assert!(waiting.contains("Waiting for a block") && waiting.contains("data-refresh"), "{waiting}");
    rig.mine().await;
    let page = rig.get(&format!("/tx/{hash}")).await.page();
    for fact in [
        "✓ Success",
        "<a href=\"/block/1\">1</a>",
        "<b>10 PNC</b>",
        "pay(bytes32,bytes32)",
        "<span class=\"tag\">PlatformFees</span>",
        "<small>= bridge</small>",
        "FeePaid",
        "<small>= 3 PNC</small>",
        "dynamic fee (EIP-1559)",
        &account(0),
    ] {
        assert!(page.contains(fact), "{fact} in {page}");
    }
    assert!(!page.contains("data-refresh"), "what is mined does not change");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_transaction_says_why() {
    let rig = Rig::new().await;
    let call = PlatformFees::payCall { source: B256::repeat_byte(9), r#ref: B256::ZERO };
    let hash = rig.send(0, 0, FEES.into(), U256::from(1), call.abi_encode().into());
    // Nothing but a jump to nowhere.
    let halted = rig.send(0, 1, TxKind::Create, U256::ZERO, Bytes::from_static(&[0xfe]));
    rig.mine().await;
    let page = rig.get(&format!("/tx/{hash}")).await.page();
    assert!(page.contains("✕ Failed") && page.contains("PlatformFeesUnknownSource(bytes32)"), "{page}");
    assert!(page.contains(&B256::repeat_byte(9).to_string()), "{page}");
    let page = rig.get(&format!("/tx/{halted}")).await.page();
    assert!(page.contains("The contract gave no reason."), "{page}");
    assert!(page.contains("a new contract, which was not created"), "{page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_created_contract_is_linked_and_has_its_code() {
    let rig = Rig::new().await;
    // Code that returns one byte of code: PUSH1 1 PUSH1 0 RETURN makes a contract of one zero byte.
    let init = Bytes::from_static(&[0x60, 1, 0x60, 0, 0xf3]);
    let hash = rig.send(0, 0, TxKind::Create, U256::ZERO, init);
    rig.mine().await;
    let created = devnet::ACCOUNTS[0].address.create(0).to_checksum(None);
    let page = rig.get(&format!("/tx/{hash}")).await.page();
    assert!(page.contains("Created contract") && page.contains(&format!("/address/{created}")), "{page}");
    let page = rig.get(&format!("/address/{created}")).await.page();
    assert!(page.contains("contract, moved by its code") && page.contains(">0x00</pre>"), "{page}");
    assert!(page.contains(&hash.to_string()), "its creation is in its history: {page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_events_are_paged_and_odd_input_stays_hexadecimal() {
    let rig = Rig::new().await;
    // Sixty events without a topic and with 512 bytes of data each.
    let init = Bytes::from_static(&alloy_primitives::hex!("603c5b6102006000a0600190038060025700"));
    let hash = rig.send(0, 0, TxKind::Create, U256::ZERO, init);
    let to: Address = FRIEND.parse().unwrap();
    let odd = rig.send(0, 1, to.into(), U256::ZERO, Bytes::from(vec![0xab; 9_000]));
    rig.mine().await;
    let page = rig.get(&format!("/tx/{hash}")).await.page();
    assert!(page.contains("✓ Success") && page.contains("<small>60</small>"), "{page}");
    let next = page.split(&format!("/tx/{hash}?from=")).nth(1).expect("a next page");
    let next: usize = next.split('#').next().unwrap().parse().unwrap();
    assert!((5..=25).contains(&next), "{next}");
    let page = rig.get(&format!("/tx/{hash}?from={next}")).await.page();
    assert!(
        page.contains("First events") && page.contains(&format!("<span class=\"tag\">{next}</span>")),
        "{page}"
    );
    assert_eq!(rig.get(&format!("/tx/{hash}?from=60")).await.status, StatusCode::BAD_REQUEST);
    let page = rig.get(&format!("/tx/{odd}")).await.page();
    assert!(page.contains("The function is not one that we know.") && page.contains("0xabababab"), "{page}");
    assert!(page.contains(&format!("/api/v1/transactions/{odd}")), "{page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_has_a_balance_and_a_history() {
    let rig = Rig::new().await;
    let hash = rig.transfer(0, 0, 3);
    rig.mine().await;
    let page = rig.get(&format!("/address/{FRIEND}")).await.page();
    for fact in ["<b>3 PNC</b>", "<span class=\"tag good\">in</span>", &hash.to_string(), "transactions.csv"]
    {
        assert!(page.contains(fact), "{fact} in {page}");
    }
    let sender = rig.get(&format!("/address/{}", account(0))).await.page();
    assert!(sender.contains("<span class=\"tag warn\">out</span>"), "{sender}");
    let own = rig.get(&format!("/address/{}", first_validator())).await.page();
    assert!(own.contains("href=\"/validators/") && own.contains("ACTIVE"), "{own}");
    let fees = rig.get(&format!("/address/{FEES}")).await.page();
    assert!(
        fees.contains("PlatformFees") && fees.contains("function pay(bytes32 source, bytes32 ref)"),
        "{fees}"
    );
    assert!(
        rig.get("/address/0x0000000000000000000000000000000000000001")
            .await
            .page()
            .contains("no transactions")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_can_be_downloaded() {
    let rig = Rig::new().await;
    let sent = rig.transfer(0, 0, 3);
    let paid = pay_fee(&rig, 0, 1, 10);
    rig.mine().await;
    let reply = rig.get(&format!("/address/{}/transactions.csv", account(0))).await;
    assert_eq!(reply.header("content-type"), Some("text/csv; charset=utf-8"));
    assert_eq!(reply.header("x-row-limit"), Some("10000"));
    assert!(reply.header("content-disposition").unwrap().contains(&account(0)));
    let lines: Vec<_> = reply.text.split("\r\n").collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[0].starts_with("transaction,block,index,time,status,direction,from,to,"));
    assert!(lines[1].starts_with(&format!("{paid},1,1,2026-")), "{lines:?}");
    assert!(lines[1].ends_with(",\"pay(bytes32,bytes32)\""), "{lines:?}");
    assert!(lines[2].starts_with(&sent.to_string()) && lines[2].contains(",success,out,"), "{lines:?}");
    assert!(lines[2].contains(&format!(",{FRIEND},,3,0")), "{lines:?}");
    assert_eq!(rig.get("/address/0x12/transactions.csv").await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn burns_are_summed_by_source_and_day() {
    let rig = Rig::new().await;
    let empty = rig.get("/burns").await.page();
    assert!(empty.contains("No fees were paid yet.") && empty.contains("tournament"), "{empty}");
    let hash = pay_fee(&rig, 0, 0, 10);
    rig.mine().await;
    let page = rig.get("/burns").await.page();
    for fact in ["<b>3</b>", "<b>7</b>", "<b>10</b>", "30%", "70%", &hash.to_string(), "bridge", "10 PNC"] {
        assert!(page.contains(fact), "{fact} in {page}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_network_page_has_settings_examples_and_contracts() {
    let rig = Rig::new().await;
    let page = rig.get("/network").await.page();
    for fact in [
        "8845",
        "0x228d",
        "http://127.0.0.1:8540",
        "eth_blockNumber",
        "defineChain",
        "cast block-number",
        "X-API-Key",
    ] {
        assert!(page.contains(fact), "{fact} in {page}");
    }
    assert!(page.contains(&FEES.to_checksum(None)), "{page}");
    assert!(page.contains("-network.js"), "{page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_of_others_cannot_become_markup() {
    let name = "<script>alert(1)</script>";
    let rig = Rig::with(Wishes { first_name: name, ..Wishes::default() }).await;
    for _ in 0..6 {
        rig.mine().await;
    }
    let paths = ["/".to_owned(), "/blocks".to_owned(), "/block/5".to_owned(), "/search?q=script".to_owned()];
    for path in paths.into_iter().chain([format!("/address/{}", first_validator())]) {
        let reply = rig.get(&path).await;
        assert!(!reply.text.contains(name), "{path}: {}", reply.text);
        assert!(
            reply.status.is_redirection() || reply.text.contains("&lt;script&gt;alert(1)"),
            "{path}: {}",
            reply.text
        );
    }
    let echoed = rig.get("/block/%3Cscript%3Ealert(1)").await;
    assert!(!echoed.text.contains("<script>alert"), "{}", echoed.text);
}
