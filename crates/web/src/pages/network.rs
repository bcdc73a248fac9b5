//! How to connect: a button for wallets, the settings by hand, examples for programs, and where the contracts are.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use domain::Network;

use crate::{
    frame::{Frame, Section},
    page::{Shown, show as show_page},
    parts::{AddressLink, Mono},
    site::Site,
    visit::Visit,
    wallet::WalletKit,
};

words! {
    NetworkWords {
        title: "Connect to this network", "Hubungkan ke jaringan ini";
        wallet: "Wallet", "Dompet";
        add: "Add to my wallet", "Tambahkan ke dompet saya";
        add_about: "One click adds the network to MetaMask, Rabby and other browser wallets. Your wallet asks you before it does so.", "Satu klik menambahkan jaringan ke MetaMask, Rabby, dan dompet peramban lainnya. Dompet akan bertanya dulu kepada Anda.";
        no_script: "The button needs JavaScript; the settings beside it do not.", "Tombol ini memerlukan JavaScript; pengaturan di sebelahnya tidak.";
        done: "The network is in your wallet.", "Jaringan sudah ada di dompet Anda.";
        settings: "Settings by hand", "Pengaturan manual";
        name: "Network name", "Nama jaringan";
        rpc: "RPC URL", "URL RPC";
        chain_id: "Chain ID", "ID rantai";
        symbol: "Currency symbol", "Simbol mata uang";
        coin: "Coin", "Koin";
        decimals: "decimals", "desimal";
        explorer: "Block explorer URL", "URL penjelajah blok";
        access: "Access", "Akses";
        by_key: "This network is by invitation: every RPC request needs an API key, in the header X-API-Key or, for wallets that can only hold a URL, as the end of the URL: /rpc/<your key>.", "Jaringan ini khusus undangan: setiap permintaan RPC memerlukan kunci API, di header X-API-Key atau, untuk dompet yang hanya dapat menyimpan URL, di akhir URL: /rpc/<kunci Anda>.";
        open: "No key is needed; 300 requests per minute and address.", "Tidak perlu kunci; 300 permintaan per menit per alamat.";
        examples: "From programs", "Dari program";
        copy: "Copy", "Salin";
        contracts: "Contracts", "Kontrak";
        contract: "Contract", "Kontrak";
        address: "Address", "Alamat";
        purpose: "What it does", "Kegunaannya";
        registry: "register of validators: stake, rewards, slashing", "daftar validator: taruhan, imbalan, pemotongan";
        fees: "takes platform fees and burns 30% of each", "menerima biaya platform dan membakar 30% dari setiap biaya";
        checkout: "takes payments of invoices", "menerima pembayaran tagihan";
        treasury: "holds what operations live on; 3 of 5 owners sign", "menyimpan dana operasional; 3 dari 5 pemilik menandatangani";
        safe: "Safe 1.4.1, as published", "Safe 1.4.1, seperti dipublikasikan";
        multicall: "many reads in one call", "banyak pembacaan dalam satu panggilan";
        create2: "deploys to addresses known beforehand", "membuat kontrak pada alamat yang sudah diketahui";
    }
}

#[derive(Template)]
#[template(path = "network.html")]
struct Page<'a> {
    frame: Frame,
    w: &'static NetworkWords,
    wallet: WalletKit<'a>,
    name: Mono,
    rpc: Mono,
    chain_id: Mono,
    chain_id_hex: String,
    symbol: Mono,
    coin: String,
    decimals: u8,
    explorer: Mono,
    access: String,
    needs_key: bool,
    examples: Vec<Example>,
    contracts: Vec<(&'static str, AddressLink, &'static str)>,
}

struct Example {
    id: &'static str,
    name: &'static str,
    text: String,
}

/// `GET /network`.
pub(crate) async fn show(State(site): State<Arc<Site>>, visit: Visit) -> Shown {
    let w = NetworkWords::of(visit.language);
    let deployment = site.deployment();
    let wallet = &deployment.wallet;
    let needs_key = deployment.network == Network::Devnet;
    let contracts = deployment.contracts.named().into_iter();
    show_page(&Page {
        frame: Frame::new(&site, &visit, Section::Developers, w.title).with_scripts(&["network.js"]),
        w,
        wallet: WalletKit::new(&site, &visit),
        name: Mono(wallet.chain_name.clone()),
        rpc: Mono(deployment.urls.rpc.to_string()),
        chain_id: Mono(deployment.chain_id.to_string()),
        chain_id_hex: wallet.chain_id.clone(),
        symbol: Mono(wallet.native_currency.symbol.clone()),
        coin: wallet.native_currency.name.clone(),
        decimals: wallet.native_currency.decimals,
        explorer: Mono(deployment.urls.explorer.to_string()),
        access: deployment.access.clone(),
        needs_key,
        examples: examples(&site, needs_key),
        contracts: contracts
            .map(|(name, address)| (name, AddressLink::new(address, None).full(), purpose(name, w)))
            .collect(),
    })
}

fn purpose(name: &str, w: &NetworkWords) -> &'static str {
    match name {
        "PlatformValidatorRegistry" => w.registry,
        "PlatformFees" => w.fees,
        "PlatformCheckout" => w.checkout,
        "Treasury" => w.treasury,
        "Multicall3" => w.multicall,
        "Create2Deployer" => w.create2,
        _ => w.safe,
    }
}

/// Programs that read the newest block's number.
fn examples(site: &Site, needs_key: bool) -> Vec<Example> {
    let deployment = site.deployment();
    let (rpc, id) = (deployment.urls.rpc.to_string(), deployment.chain_id);
    let (name, symbol) = (&deployment.wallet.chain_name, site.symbol());
    let coin = &deployment.wallet.native_currency.name;
    let curl_key = if needs_key { " \\\n  -H \"X-API-Key: $KEY\"" } else { "" };
    let header = "{ 'X-API-Key': process.env.KEY }";
    let viem_key =
        if needs_key { format!(", {{\n  fetchOptions: {{ headers: {header} }},\n}}") } else { String::new() };
    let ethers = if needs_key {
        format!(
            "const request = new FetchRequest('{rpc}');\nrequest.setHeader('X-API-Key', process.env.KEY);\nconst provider = new JsonRpcProvider(request, {id});"
        )
    } else {
        format!("const provider = new JsonRpcProvider('{rpc}', {id});")
    };
    let names = if needs_key { "FetchRequest, JsonRpcProvider" } else { "JsonRpcProvider" };
    let cast_url = if needs_key { format!("{}/rpc/$KEY", rpc.trim_end_matches('/')) } else { rpc.clone() };
    vec![
        Example {
            id: "curl",
            name: "curl",
            text: format!(
                "curl {rpc} \\\n  -H 'Content-Type: application/json'{curl_key} \\\n  -d '{{\"jsonrpc\":\"2.0\",\"method\":\"eth_blockNumber\",\"params\":[],\"id\":1}}'"
            ),
        },
        Example {
            id: "viem",
            name: "viem",
            text: format!(
                "import {{ createPublicClient, defineChain, http }} from 'viem';\n\nconst chain = defineChain({{\n  id: {id},\n  name: '{name}',\n  nativeCurrency: {{ name: '{coin}', symbol: '{symbol}', decimals: 18 }},\n  rpcUrls: {{ default: {{ http: ['{rpc}'] }} }},\n}});\nconst transport = http('{rpc}'{viem_key});\nconst client = createPublicClient({{ chain, transport }});\nconsole.log(await client.getBlockNumber());"
            ),
        },
        Example {
            id: "ethers",
            name: "ethers",
            text: format!(
                "import {{ {names} }} from 'ethers';\n\n{ethers}\nconsole.log(await provider.getBlockNumber());"
            ),
        },
        Example {
            id: "foundry",
            name: "Foundry",
            text: format!(
                "cast block-number --rpc-url {cast_url}\nforge create src/Counter.sol:Counter --rpc-url {cast_url} --interactive --broadcast"
            ),
        },
    ]
}
