//! What `assets/wallet.js` needs of a page: the network for wallets (EIP-3085), its words, and where it tells what happens.
//!
//! A page with a wallet has this as `wallet`, prints `{{ wallet }}` above its buttons, and has `wallet.js` among its scripts.

use std::{
    borrow::Cow,
    fmt::{self, Display},
};

use askama::filters::HtmlSafe;
use domain::deployment::WalletNetwork;
use serde::Serialize;

use crate::{door::RpcKey, site::Site, visit::Visit};

words! {
    /// What goes wrong with wallets, and what is waited for. Words of more than one letter case are codes of the API.
    #[derive(Serialize)]
    WalletWords {
        choose: "Which wallet?", "Dompet yang mana?";
        none: "No wallet was found in this browser. Install one (MetaMask, Rabby or any other), or open this page in your wallet's browser.", "Tidak ada dompet di peramban ini. Pasang salah satu (MetaMask, Rabby, atau lainnya), atau buka halaman ini di peramban dompet Anda.";
        refused: "You refused in the wallet. Nothing was signed or sent.", "Anda menolak di dompet. Tidak ada yang ditandatangani atau dikirim.";
        pending: "Your wallet already waits for an answer. Open it, answer there, and try again.", "Dompet Anda masih menunggu jawaban. Buka dompet, jawab di sana, lalu coba lagi.";
        chain: "Your wallet is on another network and could not change to this one. Choose this network in the wallet and try again.", "Dompet Anda berada di jaringan lain dan tidak dapat berpindah ke jaringan ini. Pilih jaringan ini di dompet lalu coba lagi.";
        funds: "This account has too little coin for the amount and the network fee.", "Saldo akun ini tidak cukup untuk jumlah tersebut dan biaya jaringan.";
        failed: "The transaction was undone by the chain; only its network fee was paid.", "Transaksi dibatalkan oleh rantai; hanya biaya jaringannya yang terbayar.";
        unknown: "The transaction is not in a block yet. Do not pay again: this page shows it as soon as it is.", "Transaksi belum masuk blok. Jangan bayar lagi: halaman ini akan menampilkannya begitu masuk.";
        trouble: "The wallet or the server says:", "Dompet atau server mengatakan:";
        confirm: "Confirm in your wallet…", "Konfirmasi di dompet Anda…";
        sign: "Sign the message in your wallet. It costs nothing.", "Tanda tangani pesan di dompet Anda. Gratis.";
        mining: "Sent. Waiting for its block…", "Terkirim. Menunggu bloknya…";
        payments_behind: "The last price has just ended and may have been paid. Try again in a moment.", "Harga terakhir baru saja berakhir dan mungkin sudah dibayar. Coba lagi sebentar lagi.";
        rate_unavailable: "There is no price for the coin at the moment. Try again later.", "Saat ini belum ada harga koin. Coba lagi nanti.";
        invoice_not_open: "This invoice cannot be paid any more.", "Tagihan ini tidak dapat dibayar lagi.";
        chain_unavailable: "No node of the chain answers. Try again in a moment.", "Tidak ada node rantai yang menjawab. Coba lagi sebentar lagi.";
        rate_limited: "Too many requests. Try again in a minute.", "Terlalu banyak permintaan. Coba lagi dalam satu menit.";
        signature_invalid: "The signature is not of this account. Try again.", "Tanda tangan bukan dari akun ini. Coba lagi.";
        challenge_expired: "Signing took too long. Try again.", "Penandatanganan terlalu lama. Coba lagi.";
    }
}

/// What the script of wallets needs of a page.
pub(crate) struct WalletKit<'a> {
    network: Cow<'a, WalletNetwork>,
    words: &'static WalletWords,
}

impl<'a> WalletKit<'a> {
    /// For a visitor.
    pub(crate) fn new(site: &'a Site, visit: &Visit) -> Self {
        let own = visit.rpc_key.as_ref().and_then(|key| own_network(site, key));
        let network = own.map_or(Cow::Borrowed(&site.deployment().wallet), Cow::Owned);
        Self { network, words: WalletWords::of(visit.language) }
    }
}

/// The network with an address that works for a wallet, which can hold a URL but send no header: it has the visitor's key in it.
fn own_network(site: &Site, key: &RpcKey) -> Option<WalletNetwork> {
    let deployment = site.deployment();
    let gateway = deployment.urls.rpc.as_str().trim_end_matches('/');
    let url = format!("{gateway}/rpc/{}", key.expose()).parse().ok()?;
    Some(WalletNetwork { rpc_urls: vec![url], ..deployment.wallet.clone() })
}

impl Display for WalletKit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        data(f, "wallet-network", &*self.network)?;
        data(f, "wallet-words", self.words)?;
        f.write_str("<p id=\"alert\" class=\"note bad\" role=\"alert\"></p>")?;
        f.write_str("<p id=\"progress\" class=\"note\" role=\"status\"></p>")
    }
}

impl HtmlSafe for WalletKit<'_> {}

/// Data for a script, which no text in it can end.
fn data(f: &mut fmt::Formatter<'_>, id: &str, value: &impl Serialize) -> fmt::Result {
    let json = serde_json::to_string(value).map_err(|_| fmt::Error)?.replace('<', "\\u003c");
    write!(f, "<script type=\"application/json\" id=\"{id}\">{json}</script>")
}
