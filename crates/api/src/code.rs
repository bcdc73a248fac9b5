//! The stable words of refusals: one table of code, status, title and meaning.
//!
//! `docs/errors.md`, the OpenAPI document and the docs page are made from it or compared with it by tests.

use std::fmt;

macro_rules! codes {
    ($($name:ident = $word:literal, $status:literal, $title:literal, $meaning:literal;)+) => {
        /// A word that callers may decide by.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = $meaning] $name,)+
        }

        impl Code {
            /// Every code, by status.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The word itself.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }

            /// The HTTP status it comes with.
            pub const fn status(self) -> u16 {
                match self { $(Self::$name => $status,)+ }
            }

            /// The problem's title.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)+ }
            }

            /// When it is given.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)+ }
            }

            /// The code with this word.
            pub fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$name),)+ _ => None }
            }
        }
    };
}

codes! {
    InvalidAddress = "invalid_address", 400, "Invalid address",
        "The address is not `0x` and 40 hexadecimal digits, or its mixed-case checksum (EIP-55) is wrong.";
    InvalidBlockNumber = "invalid_block_number", 400, "Invalid block number",
        "The block is named by neither a decimal number, a `0x` quantity, a block hash nor `latest`.";
    InvalidHash = "invalid_hash", 400, "Invalid hash", "The hash is not `0x` and 64 hexadecimal digits.";
    InvalidLimit = "invalid_limit", 400, "Invalid limit", "`limit` is not a whole number from 1 to 100.";
    InvalidCursor = "invalid_cursor", 400, "Invalid cursor",
        "`cursor` is not one that this list gave out as `nextCursor`.";
    InvalidParameter = "invalid_parameter", 400, "Invalid parameter",
        "A query parameter has a value that it cannot have, or is given twice.";
    UnknownParameter = "unknown_parameter", 400, "Unknown parameter",
        "The query has a parameter that this resource does not know; a misspelt one would be ignored silently.";
    InvalidJson = "invalid_json", 400, "Invalid JSON", "The body is not the JSON that was expected.";
    BatchRefused = "batch_refused", 400, "Batches are refused",
        "A GraphQL request carries one operation; send several queries as fields of one operation.";
    InvalidQuery = "invalid_query", 400, "Invalid query", "The GraphQL document does not parse or does not fit the schema.";
    QueryTooLarge = "query_too_large", 400, "Query too large",
        "The GraphQL document is too deep, too complex, or has too many fields, aliases or tokens.";
    HoneypotFilled = "honeypot_filled", 400, "Field must be empty",
        "`website` is not empty. It is there to catch programs that fill every field.";
    HoneypotMissing = "honeypot_missing", 400, "Field missing",
        "`website` is missing. On the private testnet it must be there, and empty.";
    InvalidIdempotencyKey = "invalid_idempotency_key", 400, "Invalid idempotency key",
        "`Idempotency-Key` is not 1 to 255 visible ASCII characters, or is there twice.";
    ApiKeyAmbiguous = "api_key_ambiguous", 400, "Two API keys", "Two different developer keys were sent; send one.";
    ApiKeyMissing = "api_key_missing", 401, "API key missing",
        "An API key is needed here: in `X-API-Key`, as a bearer token in `Authorization` or, in the portal, in `X-Platform-Dev-Key`.";
    ApiKeyInvalid = "api_key_invalid", 401, "API key invalid",
        "The API key is not one that is known here. The faucet says so of revoked and expired keys too, and of those that may not be used from this address.";
    ApiKeyRevoked = "api_key_revoked", 401, "API key revoked", "The wallet has taken this developer key back.";
    ApiKeyExpired = "api_key_expired", 401, "API key expired", "The plan of this developer key is over.";
    SessionMissing = "session_missing", 401, "Session missing",
        "A wallet must be signed in here: by the cookie of the session, or its token as a bearer token in `Authorization`.";
    SessionInvalid = "session_invalid", 401, "Session invalid", "The session is not known, or was ended.";
    SessionExpired = "session_expired", 401, "Session expired",
        "The session was not used for 30 minutes, or has reached its end.";
    SignatureInvalid = "signature_invalid", 401, "Signature invalid",
        "The signature is not one of the wallet over the challenge's message. The challenge is used up.";
    ChallengeExpired = "challenge_expired", 401, "Challenge expired",
        "The challenge is not known, was answered before, or is older than five minutes.";
    PaymentRequired = "payment_required", 402, "Payment required",
        "This costs coin. `order` says how much, and which transaction pays it.";
    PermissionMissing = "permission_missing", 403, "Permission missing",
        "The API key is good, but does not have the permission `faucet`.";
    WalletNotAllowlisted = "wallet_not_allowlisted", 403, "Wallet not on the allowlist",
        "On the private testnet the faucet pays wallets that an operator has put on its allowlist.";
    ScopeMissing = "scope_missing", 403, "Scope missing",
        "The developer key is good, but lacks the scope that `requiredScope` names.";
    OriginMismatch = "origin_mismatch", 403, "Origin not allowed",
        "A change that is asked for with a session's cookie must come from a page of this network: its `Origin` is missing or another.";
    WalletMismatch = "wallet_mismatch", 403, "Another wallet", "The address is not that of the wallet that is signed in.";
    NotFound = "not_found", 404, "Not found", "There is nothing at this path.";
    BlockNotFound = "block_not_found", 404, "Block not found", "There is no such block, or not yet.";
    TransactionNotFound = "transaction_not_found", 404, "Transaction not found",
        "No block and no waiting transaction has this hash.";
    ValidatorNotFound = "validator_not_found", 404, "Validator not found", "No validator registered with this address.";
    ApplicationNotFound = "application_not_found", 404, "Application not found", "There is no application with this id.";
    ConfirmationNotFound = "confirmation_not_found", 404, "Confirmation not found",
        "No link that confirms an e-mail address has this token, or it is older than 7 days.";
    ClaimNotFound = "claim_not_found", 404, "Claim not found", "No claim of the faucet was answered with this hash.";
    OrderNotFound = "order_not_found", 404, "Order not found", "The wallet has no order with this id.";
    KeyNotFound = "key_not_found", 404, "Key not found", "The wallet has no developer key with this id.";
    InvoiceNotFound = "invoice_not_found", 404, "Invoice not found",
        "The wallet has no invoice with this id, or no payment link has this token.";
    QuoteNotFound = "quote_not_found", 404, "Quote not found",
        "The invoice has no quote that can be paid; ask for one with `POST /pay/{token}/quote`.";
    DeliveryNotFound = "delivery_not_found", 404, "Delivery not found",
        "The wallet has no delivery of a webhook with this id.";
    MethodNotAllowed = "method_not_allowed", 405, "Method not allowed",
        "The path exists, but not for this method; `Allow` names those it takes.";
    ApplicationExists = "application_exists", 409, "Application exists",
        "The operator already has an application that is not closed.";
    KeyLimitReached = "key_limit_reached", 409, "Key limit reached",
        "The wallet has five active keys, those included that it has ordered and not yet claimed.";
    OrderNotPaid = "order_not_paid", 409, "Order not paid",
        "No payment of the order is in a block yet, as far as is known. `order` is the order as it stands.";
    OrderClaimed = "order_claimed", 409, "Order claimed",
        "The key of the order was made before, and its secret shown then.";
    OrderNotOpen = "order_not_open", 409, "Order not open",
        "The order is paid or has expired; only one that awaits its payment can be cancelled. `order` is the order as it stands.";
    InvoiceNotOpen = "invoice_not_open", 409, "Invoice not open",
        "The invoice is paid, has expired or was taken back.";
    ExternalIdExists = "external_id_exists", 409, "External id exists",
        "The wallet has an invoice with this `externalId`; `invoice` is the one that exists.";
    WebhookNotConfigured = "webhook_not_configured", 409, "Webhook not configured",
        "The wallet has not saved a webhook URL yet.";
    DeliveryPruned = "delivery_pruned", 410, "Delivery deleted",
        "Deliveries of webhooks are kept for 30 days; this one was deleted.";
    BodyTooLarge = "body_too_large", 413, "Body too large", "The request's body is larger than this resource takes.";
    UriTooLong = "uri_too_long", 414, "URI too long", "The path and the query together are longer than 2048 bytes.";
    UnsupportedMediaType = "unsupported_media_type", 415, "Unsupported media type",
        "The body's `Content-Type` is not `application/json`.";
    ValidationFailed = "validation_failed", 422, "Validation failed",
        "Fields of the body are missing or not acceptable; `errors` names each.";
    UnknownField = "unknown_field", 422, "Unknown field", "The body has a member that this resource does not know.";
    IdempotencyKeyReused = "idempotency_key_reused", 422, "Idempotency key reused",
        "The `Idempotency-Key` was used for a request with another body.";
    PlanUnknown = "plan_unknown", 422, "Plan unknown", "The plan is none of `monthly`, `quarterly` and `yearly`, nor one of their titles.";
    WebhookUrlBlocked = "webhook_url_blocked", 422, "Webhook URL blocked",
        "Webhooks are not sent to this URL; `reason` says why.";
    AddressReserved = "address_reserved", 422, "Address reserved",
        "Nobody can use coin at this address: it is zero, one of the protocol's own, or the faucet's.";
    AddressIsContract = "address_is_contract", 422, "Address is a contract",
        "The address has code. The faucet pays wallets.";
    WalletCooldown = "wallet_cooldown", 429, "Wallet has claimed",
        "This wallet has claimed within the last 24 hours; `nextClaimAt` says when it may again.";
    IpLimit = "ip_limit", 429, "Too many claims",
        "There were three claims from this network address within 24 hours; `nextClaimAt` says when the next may be.";
    RateLimited = "rate_limited", 429, "Too many requests",
        "This client has used up its requests of the minute; `Retry-After` says when to come back.";
    Internal = "internal_error", 500, "Internal error", "Our fault. The request id finds the cause in the log.";
    FaucetEmpty = "faucet_empty", 503, "Faucet empty",
        "The faucet has not enough coin, or has paid out all that it may within 24 hours.";
    ChainUnavailable = "chain_unavailable", 503, "Chain unavailable",
        "No node of the chain answers. Trying again helps.";
    DatabaseUnavailable = "database_unavailable", 503, "Database unavailable",
        "The database behind this resource does not answer. Trying again helps.";
    RateUnavailable = "rate_unavailable", 503, "Rate unavailable",
        "The operator has not said what the coin costs, so that there is no price for an invoice.";
    PaymentsBehind = "payments_behind", 503, "Payments behind",
        "The last quote has just ended and may have been paid, which is not known yet. Trying again helps.";
    TooManyStreams = "too_many_streams", 503, "Too many streams",
        "Too many payment links are being watched. Ask for the state instead, or try again.";
    TooManyConnections = "too_many_connections", 503, "Too many connections",
        "Too many connections are open, in all or from this client. Close some, or try again.";
    TimedOut = "timed_out", 504, "Timed out", "The answer took too long to make. Trying again may help.";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_parse_back_and_are_in_order_of_status() {
        for code in Code::ALL {
            assert_eq!(Code::from_word(code.word()), Some(*code));
        }
        assert!(Code::ALL.is_sorted_by_key(|code| code.status()));
        assert_eq!(Code::from_word("moon"), None);
    }

    #[test]
    fn the_documentation_lists_exactly_these_codes() {
        let listed: Vec<(String, u16)> = include_str!("../../../docs/errors.md")
            .lines()
            .filter_map(|line| {
                let mut cells = line.strip_prefix("| `")?.splitn(2, "` | ");
                let word = cells.next()?.to_owned();
                let status = cells.next()?.split(' ').next()?.parse().ok()?;
                Some((word, status))
            })
            .collect();
        let known: Vec<(String, u16)> =
            Code::ALL.iter().map(|code| (code.word().to_owned(), code.status())).collect();
        assert_eq!(listed, known);
    }
}
