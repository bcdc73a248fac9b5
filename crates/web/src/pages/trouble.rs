//! Pages for when there is nothing to show: what is wrong, and what to do about it.

use askama::Template;
use axum::response::{IntoResponse, Response};
use hyper::{
    StatusCode,
    header::{self, HeaderValue},
};

use crate::{
    failure::{Failure, Malformed, Missing},
    format::Number,
    frame::{Frame, Section},
    page::show_with,
    site::Site,
    visit::Visit,
    words::Language,
};

words! {
    TroubleWords {
        home: "Home page", "Halaman beranda";
        blocks: "Latest blocks", "Blok terbaru";
        again: "Try again", "Coba lagi";
        status: "Status", "Status";
    }
}

#[derive(Template)]
#[template(path = "trouble.html")]
struct Page {
    frame: Frame,
    w: &'static TroubleWords,
    status: StatusCode,
    title: &'static str,
    detail: String,
    /// Whether the same page may be there in a moment.
    is_passing: bool,
}

/// A failure as a page.
pub(crate) fn explain(site: &Site, visit: &Visit, failure: &Failure) -> Response {
    let (title, detail) = text(failure, visit.language);
    let page = Page {
        frame: Frame::new(site, visit, Section::Elsewhere, title),
        w: TroubleWords::of(visit.language),
        status: failure.status(),
        title,
        detail,
        is_passing: matches!(
            failure,
            Failure::ChainUnavailable(_)
                | Failure::DatabaseUnavailable(_)
                | Failure::TooMany(_)
                | Failure::Missing(Missing::FutureBlock { .. } | Missing::Transaction)
        ),
    };
    let mut response = show_with(failure.status(), &page).unwrap_or_else(IntoResponse::into_response);
    if let Failure::TooMany(seconds) = failure {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(*seconds));
    }
    response
}

fn text(failure: &Failure, language: Language) -> (&'static str, String) {
    let say = |english, indonesian| language.choose(english, indonesian);
    let whole = |title, detail: &'static str| (title, detail.to_owned());
    match failure {
        Failure::NoPage => whole(
            say("There is no such page", "Halaman ini tidak ada"),
            say(
                "Check the address, or search for a block, a transaction or an account.",
                "Periksa alamatnya, atau cari blok, transaksi, atau akun.",
            ),
        ),
        Failure::Missing(missing) => missing_text(missing, language),
        Failure::Malformed(malformed) => malformed_text(malformed, language),
        Failure::ChainUnavailable(_) => whole(
            say("No node answers", "Tidak ada node yang menjawab"),
            say(
                "This page needs the chain, and none of its nodes can be reached right now. Lists of what was indexed still work.",
                "Halaman ini memerlukan rantai, tetapi saat ini tidak satu pun nodenya dapat dijangkau. Daftar yang sudah diindeks tetap tersedia.",
            ),
        ),
        Failure::DatabaseUnavailable(_) => whole(
            say("The index does not answer", "Indeks tidak menjawab"),
            say(
                "It is being looked after. Try again in a moment.",
                "Sedang ditangani. Coba lagi sebentar lagi.",
            ),
        ),
        Failure::TooMany(seconds) => (
            say("Too many requests", "Terlalu banyak permintaan"),
            match language {
                Language::English => format!("Try again in {seconds} seconds."),
                Language::Indonesian => format!("Coba lagi dalam {seconds} detik."),
            },
        ),
        Failure::WrongOrigin => whole(
            say("This did not come from our own page", "Ini tidak berasal dari halaman kami"),
            say(
                "Nothing was changed. Open the page here and try again; a link or a form of another site cannot act for you.",
                "Tidak ada yang diubah. Buka halamannya di sini lalu coba lagi; tautan atau formulir dari situs lain tidak dapat bertindak atas nama Anda.",
            ),
        ),
        Failure::Internal(_) => whole(
            say("Something went wrong here", "Terjadi kesalahan di pihak kami"),
            say(
                "It is our fault and was logged. Try again in a moment.",
                "Ini kesalahan kami dan sudah dicatat. Coba lagi sebentar lagi.",
            ),
        ),
    }
}

fn missing_text(missing: &Missing, language: Language) -> (&'static str, String) {
    let say = |english, indonesian| language.choose(english, indonesian);
    let whole = |title, detail: &'static str| (title, detail.to_owned());
    match missing {
        Missing::FutureBlock { number, head } => (
            say("This block is not mined yet", "Blok ini belum ditambang"),
            match language {
                Language::English => {
                    format!("Block {} comes after the newest one, {}.", Number(*number), Number(*head))
                }
                Language::Indonesian => {
                    format!("Blok {} berada setelah blok terbaru, {}.", Number(*number), Number(*head))
                }
            },
        ),
        Missing::BlockHash => whole(
            say("No block has this hash", "Tidak ada blok dengan hash ini"),
            say(
                "The hash is well formed, but no block of this chain has it. Is it of another network?",
                "Hash ini benar bentuknya, tetapi tidak ada blok di rantai ini yang memilikinya. Mungkin dari jaringan lain?",
            ),
        ),
        Missing::Transaction => whole(
            say("This transaction is not known", "Transaksi ini tidak dikenal"),
            say(
                "The hash is well formed, but the transaction is in no block and none of our nodes has it waiting. If you have just sent it, try again in a moment; otherwise it may have been replaced, or be of another network.",
                "Hash ini benar bentuknya, tetapi transaksinya tidak ada di blok mana pun dan tidak sedang menunggu di node kami. Jika baru saja dikirim, coba lagi sebentar lagi; jika tidak, mungkin sudah diganti atau dari jaringan lain.",
            ),
        ),
        Missing::Validator => whole(
            say("No validator has this address", "Tidak ada validator dengan alamat ini"),
            say(
                "Neither an operator nor a node of the validator program has it.",
                "Tidak ada operator atau node program validator yang memilikinya.",
            ),
        ),
        Missing::Application => whole(
            say("There is no such application", "Pendaftaran ini tidak ada"),
            say(
                "Check the link that you were given when you applied.",
                "Periksa tautan yang Anda terima saat mendaftar.",
            ),
        ),
        Missing::PaymentLink => whole(
            say("This is not a payment link", "Ini bukan tautan pembayaran"),
            say(
                "Ask whoever sent it to you for the whole link.",
                "Minta tautan lengkapnya kepada pengirimnya.",
            ),
        ),
        Missing::OfWallet => whole(
            say("Your wallet has no such thing", "Dompet Anda tidak memilikinya"),
            say(
                "It may belong to another wallet, or be so old that it was deleted. Are you signed in with the right one?",
                "Mungkin milik dompet lain, atau sudah begitu lama sehingga dihapus. Apakah Anda masuk dengan dompet yang benar?",
            ),
        ),
        Missing::Anything => whole(
            say("Nothing was found", "Tidak ada yang ditemukan"),
            say(
                "Search for a block number, a hash, an address or a validator's name.",
                "Cari nomor blok, hash, alamat, atau nama validator.",
            ),
        ),
        Missing::Portal => whole(
            say("This server has no developer portal", "Server ini tidak memiliki portal pengembang"),
            say("Its operator has not set it up.", "Operatornya belum menyiapkannya."),
        ),
        Missing::Faucet => whole(
            say("This network has no faucet", "Jaringan ini tidak memiliki faucet"),
            say("Its coin has a price.", "Koinnya memiliki harga."),
        ),
    }
}

fn malformed_text(malformed: &Malformed, language: Language) -> (&'static str, String) {
    let say = |english, indonesian| language.choose(english, indonesian);
    let whole = |title, detail: &'static str| (title, detail.to_owned());
    match malformed {
        Malformed::Block(text) => (
            say("This is not a block", "Ini bukan blok"),
            format!(
                "“{text}” {}",
                say(
                    "is neither a number nor 0x with 64 hexadecimal digits.",
                    "bukan nomor dan bukan pula 0x dengan 64 digit heksadesimal."
                )
            ),
        ),
        Malformed::Hash(text) => (
            say("This is not a transaction hash", "Ini bukan hash transaksi"),
            match language {
                Language::English => format!(
                    "A hash is 0x and 64 hexadecimal digits; this has {} characters: “{text}”.",
                    text.chars().count()
                ),
                Language::Indonesian => format!(
                    "Hash terdiri dari 0x dan 64 digit heksadesimal; ini {} karakter: “{text}”.",
                    text.chars().count()
                ),
            },
        ),
        Malformed::Address(text) => (
            say("This is not an address", "Ini bukan alamat"),
            format!(
                "{} “{text}”.",
                say(
                    "An address is 0x and 40 hexadecimal digits; this is",
                    "Alamat terdiri dari 0x dan 40 digit heksadesimal; ini"
                )
            ),
        ),
        Malformed::Checksum(text) => (
            say("This address has a typing error", "Alamat ini salah ketik"),
            format!(
                "{} “{text}”.",
                say(
                    "Capital and small letters are a checksum (EIP-55), and it is wrong for",
                    "Huruf besar dan kecil adalah checksum (EIP-55), dan itu salah untuk"
                )
            ),
        ),
        Malformed::Parameter(name) => {
            let (title, detail) =
                whole(say("A parameter cannot be read", "Sebuah parameter tidak dapat dibaca"), name);
            (title, format!("`{detail}`"))
        }
    }
}
