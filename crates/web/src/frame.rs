//! The frame around every page: title, navigation, search, preferences, alarm and footer.

use crate::{
    assets,
    format::Number,
    site::Site,
    visit::{Theme, Visit},
    words::Language,
};

/// Bytes of the longest place that a choice leads back to.
const LONGEST_PLACE: usize = 500;

words! {
    /// Words of the frame.
    FrameWords {
        skip: "Skip to content", "Langsung ke isi";
        chain: "Chain", "Rantai";
        blocks: "Blocks", "Blok";
        transactions: "Transactions", "Transaksi";
        burns: "Burns", "Pembakaran";
        validators: "Validators", "Validator";
        ranking: "Ranking", "Peringkat";
        program: "Program", "Program";
        apply: "Apply", "Daftar";
        expansion: "Expansion", "Ekspansi";
        developers: "Developers", "Pengembang";
        portal: "Portal", "Portal";
        network: "Connect a wallet", "Hubungkan dompet";
        api: "API", "API";
        graphql: "GraphQL", "GraphQL";
        faucet: "Faucet", "Faucet";
        menu: "Menu", "Menu";
        search_label: "Search by block, transaction, address or validator name", "Cari blok, transaksi, alamat, atau nama validator";
        search_hint: "Block, hash, address or name", "Blok, hash, alamat, atau nama";
        search: "Search", "Cari";
        head: "Block", "Blok";
        theme: "Colours", "Warna";
        system: "System", "Sistem";
        light: "Light", "Terang";
        dark: "Dark", "Gelap";
        language: "Language", "Bahasa";
        chain_silent: "No node answers right now. You see what was known last; pages of the newest blocks may be missing.", "Saat ini tidak ada node yang menjawab. Yang tampil adalah data terakhir; halaman blok terbaru mungkin belum ada.";
        copied: "Copied", "Disalin";
        copy: "Copy", "Salin";
        about: "An IBFT 2.0 network: blocks are final when they appear.", "Jaringan IBFT 2.0: blok final begitu muncul.";
    }
}

/// Which part of the navigation a page belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// The first page.
    Home,
    /// Blocks, transactions, addresses, burns.
    Chain,
    /// Validators, program, expansion.
    Validators,
    /// Portal, network, interfaces.
    Developers,
    /// The faucet.
    Faucet,
    /// None of them.
    Elsewhere,
}

impl Section {
    /// The name in templates.
    const fn name(self) -> &'static str {
        match self {
            Self::Home => "home",
            Self::Chain => "chain",
            Self::Validators => "validators",
            Self::Developers => "developers",
            Self::Faucet => "faucet",
            Self::Elsewhere => "elsewhere",
        }
    }
}

/// The frame around a page. Templates extend `base.html` and have it as `frame`.
pub(crate) struct Frame {
    /// The page's title.
    pub(crate) title: String,
    pub(crate) section: Section,
    pub(crate) w: &'static FrameWords,
    pub(crate) language: Language,
    pub(crate) theme: Theme,
    /// Where a choice of language or colours leads back to.
    pub(crate) place: String,
    pub(crate) network_name: String,
    pub(crate) symbol: String,
    pub(crate) head: Option<u64>,
    pub(crate) is_chain_silent: bool,
    pub(crate) has_portal: bool,
    pub(crate) has_faucet: bool,
    /// Scripts of this page beside the common one.
    pub(crate) scripts: &'static [&'static str],
}

impl Frame {
    /// The frame of a page with this title.
    pub(crate) fn new(site: &Site, visit: &Visit, section: Section, title: impl Into<String>) -> Self {
        let wallet = &site.deployment().wallet;
        Self {
            title: title.into(),
            section,
            w: FrameWords::of(visit.language),
            language: visit.language,
            theme: visit.theme,
            place: if visit.place.len() > LONGEST_PLACE { "/".to_owned() } else { visit.place.clone() },
            network_name: wallet.chain_name.clone(),
            symbol: wallet.native_currency.symbol.clone(),
            head: site.last_head().map(|head| head.number()),
            is_chain_silent: !site.is_chain_reachable(),
            has_portal: site.api.portal.is_some(),
            has_faucet: site.faucet.is_some() || site.deployment().urls.faucet.is_some(),
            scripts: &[],
        }
    }

    /// With scripts of its own, by their names in `assets/`.
    pub(crate) fn with_scripts(mut self, scripts: &'static [&'static str]) -> Self {
        self.scripts = scripts;
        self
    }

    pub(crate) fn asset(&self, name: &str) -> String {
        assets::path(name)
    }

    pub(crate) fn head_number(&self) -> String {
        self.head.map_or_else(|| "–".to_owned(), |head| Number(head).to_string())
    }

    /// Whether the page belongs to the section of this name.
    pub(crate) fn is_in(&self, name: &str) -> bool {
        self.section.name() == name
    }
}
