//! The interfaces that are known.

use std::{collections::HashMap, sync::LazyLock};

use alloy_json_abi::{Error, Event, Function, JsonAbi};
use alloy_primitives::{B256, Selector};
use contracts::artifact::ARTIFACTS;
use serde::Deserialize;

/// What wallets do with tokens.
const TOKENS: [(&str, &[&str]); 4] = [
    (
        "ERC-20",
        &[
            "function transfer(address to, uint256 amount) returns (bool)",
            "function approve(address spender, uint256 amount) returns (bool)",
            "function transferFrom(address from, address to, uint256 amount) returns (bool)",
            "function increaseAllowance(address spender, uint256 addedAmount) returns (bool)",
            "function decreaseAllowance(address spender, uint256 subtractedAmount) returns (bool)",
            "function mint(address to, uint256 amount)",
            "function burn(uint256 amount)",
            "event Transfer(address indexed from, address indexed to, uint256 amount)",
            "event Approval(address indexed owner, address indexed spender, uint256 amount)",
            "error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)",
            "error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)",
        ],
    ),
    (
        "ERC-721",
        &[
            "function safeTransferFrom(address from, address to, uint256 tokenId)",
            "function safeTransferFrom(address from, address to, uint256 tokenId, bytes data)",
            "function setApprovalForAll(address operator, bool approved)",
            "event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)",
            "event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)",
            "event ApprovalForAll(address indexed owner, address indexed operator, bool approved)",
        ],
    ),
    (
        "ERC-1155",
        &[
            "function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data)",
            "function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] values, bytes data)",
            "event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)",
            "event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)",
            "event URI(string value, uint256 indexed id)",
        ],
    ),
    (
        "WETH",
        &[
            "function deposit() payable",
            "function withdraw(uint256 amount)",
            "event Deposit(address indexed to, uint256 amount)",
            "event Withdrawal(address indexed from, uint256 amount)",
        ],
    ),
];

/// Contracts that count in wei and whose words we know.
const OWN: [&str; 3] = ["PlatformValidatorRegistry", "PlatformFees", "PlatformCheckout"];

/// An interface: functions, events and errors.
#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) name: &'static str,
    /// Whether it is one of the network's own contracts.
    pub(crate) is_own: bool,
    abi: JsonAbi,
}

impl Interface {
    /// Its functions as people read them, in order of their names.
    pub(crate) fn functions(&self) -> Vec<String> {
        self.abi.functions().map(Function::full_signature).collect()
    }

    /// Its events as people read them.
    pub(crate) fn events(&self) -> Vec<String> {
        self.abi.events().map(Event::full_signature).collect()
    }
}

/// The part of an artifact that is of interest here.
#[derive(Deserialize)]
struct Artifact {
    abi: JsonAbi,
}

/// Everything known, and where to find it.
struct Known {
    interfaces: Vec<Interface>,
    functions: HashMap<Selector, Vec<usize>>,
    events: HashMap<B256, Vec<usize>>,
    errors: HashMap<Selector, Vec<usize>>,
}

static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    // What is compiled in is right: a test reads all of it.
    let own = ARTIFACTS.iter().filter_map(|(name, text)| {
        let artifact: Artifact = serde_json::from_str(text).ok()?;
        Some(Interface { name, is_own: OWN.contains(name), abi: artifact.abi })
    });
    let tokens = TOKENS.iter().filter_map(|(name, lines)| {
        Some(Interface { name, is_own: false, abi: JsonAbi::parse(lines.iter().copied()).ok()? })
    });
    let interfaces: Vec<_> = own.chain(tokens).collect();
    let mut known =
        Known { functions: HashMap::new(), events: HashMap::new(), errors: HashMap::new(), interfaces };
    for (place, Interface { abi, .. }) in known.interfaces.iter().enumerate() {
        abi.functions().for_each(|found| known.functions.entry(found.selector()).or_default().push(place));
        abi.events().for_each(|found| known.events.entry(found.selector()).or_default().push(place));
        abi.errors().for_each(|found| known.errors.entry(found.selector()).or_default().push(place));
    }
    known
});

impl Known {
    /// The interfaces at some places, the preferred one first.
    fn at<'a>(
        &'a self,
        places: Option<&'a Vec<usize>>,
        preferred: Option<&str>,
    ) -> impl Iterator<Item = &'a Interface> {
        let mut found: Vec<_> =
            places.into_iter().flatten().filter_map(|place| self.interfaces.get(*place)).collect();
        found.sort_by_key(|interface| Some(interface.name) != preferred);
        found.dedup_by_key(|interface| interface.name);
        found.into_iter()
    }
}

/// The interface of this name. The treasury speaks through its Safe.
pub(super) fn interface(name: &str) -> Option<&'static Interface> {
    let name = if name == "Treasury" { "SafeL2" } else { name };
    KNOWN.interfaces.iter().find(|interface| interface.name == name)
}

/// Functions with a selector.
pub(super) fn functions(
    selector: Selector,
    preferred: Option<&str>,
) -> Vec<(&'static Interface, &'static Function)> {
    let interfaces = KNOWN.at(KNOWN.functions.get(&selector), preferred);
    let of = |interface: &'static Interface| {
        interface
            .abi
            .functions()
            .find(|function| function.selector() == selector)
            .map(|found| (interface, found))
    };
    interfaces.filter_map(of).collect()
}

/// Events with a first topic.
pub(super) fn events(topic: B256, preferred: Option<&str>) -> Vec<(&'static Interface, &'static Event)> {
    let interfaces = KNOWN.at(KNOWN.events.get(&topic), preferred);
    let of = |interface: &'static Interface| {
        interface.abi.events().find(|event| event.selector() == topic).map(|found| (interface, found))
    };
    interfaces.filter_map(of).collect()
}

/// Errors with a selector.
pub(super) fn errors(selector: Selector) -> Vec<(&'static Interface, &'static Error)> {
    let interfaces = KNOWN.at(KNOWN.errors.get(&selector), None);
    let of = |interface: &'static Interface| {
        interface.abi.errors().find(|error| error.selector() == selector).map(|found| (interface, found))
    };
    interfaces.filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_compiled_in_can_be_read() {
        assert_eq!(KNOWN.interfaces.len(), ARTIFACTS.len() + TOKENS.len());
        for (name, lines) in TOKENS {
            let abi = &interface(name).unwrap().abi;
            let count = abi.functions().count() + abi.events().count() + abi.errors().count();
            assert_eq!(count, lines.len(), "{name}");
        }
        assert!(
            interface("Treasury").unwrap().functions().iter().any(|line| line.contains("execTransaction"))
        );
    }
}
