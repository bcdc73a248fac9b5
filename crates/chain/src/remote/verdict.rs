//! What a node means when it refuses a transaction.
//!
//! Besu has codes for some refusals; geth, Anvil and the rest of Besu's have one code and different words. So the words
//! decide, here and nowhere else, and what is not recognised is the cautious case.

use crate::Rejection;

/// What a refusal says about the transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The node has it already.
    Known,
    /// The node does not take it.
    Rejected(Rejection),
    /// Trouble of the node's own, or nothing we understand; it may have taken it.
    Unclear,
}

/// Words of a refusal and what they mean; the first that fit count.
const WORDS: &[(&str, Verdict)] = &[
    ("already known", Verdict::Known),
    ("already imported", Verdict::Known),
    ("known transaction", Verdict::Known),
    ("nonce too low", Verdict::Rejected(Rejection::NonceTooLow)),
    ("replacement transaction underpriced", Verdict::Rejected(Rejection::NonceOccupied)),
    ("underpriced", Verdict::Rejected(Rejection::Underpriced)),
    ("base fee", Verdict::Rejected(Rejection::Underpriced)),
    ("gas price", Verdict::Rejected(Rejection::Underpriced)),
    ("insufficient funds", Verdict::Rejected(Rejection::InsufficientFunds)),
    ("upfront cost exceeds", Verdict::Rejected(Rejection::InsufficientFunds)),
    ("pool is full", Verdict::Rejected(Rejection::NotNow)),
    ("too distant", Verdict::Rejected(Rejection::NotNow)),
    ("lower nonce", Verdict::Rejected(Rejection::NotNow)),
    ("nonce too high", Verdict::Rejected(Rejection::NotNow)),
    ("too many requests", Verdict::Rejected(Rejection::NotNow)),
    ("limit exceeded", Verdict::Rejected(Rejection::NotNow)),
    ("chainid", Verdict::Rejected(Rejection::Other)),
    ("chain id", Verdict::Rejected(Rejection::Other)),
    ("invalid sender", Verdict::Rejected(Rejection::Other)),
    ("invalid signature", Verdict::Rejected(Rejection::Other)),
    ("intrinsic gas", Verdict::Rejected(Rejection::Other)),
    ("block gas limit", Verdict::Rejected(Rejection::Other)),
    ("gas cap", Verdict::Rejected(Rejection::Other)),
    ("gas limit too high", Verdict::Rejected(Rejection::Other)),
    ("is suspended", Verdict::Rejected(Rejection::NotNow)),
    ("not authorized", Verdict::Rejected(Rejection::Other)),
    ("not supported", Verdict::Rejected(Rejection::Other)),
];

/// Codes whose words were not recognised.
const CODES: &[(i64, Verdict)] = &[
    (-32001, Verdict::Rejected(Rejection::NonceTooLow)),
    (-32004, Verdict::Rejected(Rejection::InsufficientFunds)),
    (-32009, Verdict::Rejected(Rejection::Underpriced)),
    // Not JSON-RPC as the node knows it, so that nothing was looked at: parse error, invalid request, unknown method, invalid
    // parameters, a method that is switched off.
    (-32700, Verdict::Rejected(Rejection::Other)),
    (-32600, Verdict::Rejected(Rejection::Other)),
    (-32601, Verdict::Rejected(Rejection::Other)),
    (-32602, Verdict::Rejected(Rejection::Other)),
    (-32604, Verdict::Rejected(Rejection::Other)),
];

impl Verdict {
    /// Reads a node's refusal.
    pub(super) fn of(code: i64, message: &str) -> Self {
        let message = message.to_lowercase();
        let by_words = WORDS.iter().find(|(words, _)| message.contains(words)).map(|(_, verdict)| *verdict);
        let by_code = || CODES.iter().find(|(known, _)| *known == code).map(|(_, verdict)| *verdict);
        by_words.or_else(by_code).unwrap_or(Self::Unclear)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_besu_geth_and_anvil_are_understood() {
        use Rejection::*;
        let rejected = Verdict::Rejected;
        for (code, message, expected) in [
            (-32000, "Known transaction", Verdict::Known),
            (-32000, "already known", Verdict::Known),
            (-32003, "transaction already imported", Verdict::Known),
            (-32001, "Nonce too low", rejected(NonceTooLow)),
            (-32000, "nonce too low: next nonce 7, tx nonce 3", rejected(NonceTooLow)),
            (-32003, "nonce too low", rejected(NonceTooLow)),
            (-32000, "Replacement transaction underpriced", rejected(NonceOccupied)),
            (-32000, "transaction underpriced: gas tip cap 0, minimum needed 1", rejected(Underpriced)),
            (-32009, "Gas price below current base fee", rejected(Underpriced)),
            (-32009, "Gas price below configured minimum gas price", rejected(Underpriced)),
            (-32000, "max fee per gas less than block base fee: address 0x…", rejected(Underpriced)),
            (-32004, "Upfront cost exceeds account balance", rejected(InsufficientFunds)),
            (-32000, "insufficient funds for gas * price + value: balance 0", rejected(InsufficientFunds)),
            (-32003, "Insufficient funds for gas * price + value", rejected(InsufficientFunds)),
            (-32000, "txpool is full", rejected(NotNow)),
            (-32000, "Transaction nonce is too distant from current sender nonce", rejected(NotNow)),
            (-32000, "An invalid transaction with a lower nonce exists", rejected(NotNow)),
            (-32007, "Sender account not authorized to send transactions", rejected(Other)),
            (-32000, "Transaction gas limit exceeds transaction gas cap of 16777216", rejected(Other)),
            (-32000, "transaction gas limit too high (cap: 16777216, tx: 20000000)", rejected(Other)),
            (
                -32000,
                "Sender is suspended until block 70: a transaction of it took too long",
                rejected(NotNow),
            ),
            (-32000, "Wrong chainId", rejected(Other)),
            (-32002, "Invalid signature", rejected(Other)),
            (-32602, "Invalid block, unable to parse RLP", rejected(Other)),
            (-32603, "Internal error", Verdict::Unclear),
            (-32000, "the upstream is busy", Verdict::Unclear),
            (-32002, "request timed out", Verdict::Unclear),
        ] {
            assert_eq!(Verdict::of(code, message), expected, "{code} {message}");
        }
    }
}
