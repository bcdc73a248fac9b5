-- The index: what the chain has said, laid out for lists and sums. It can be dropped and built again from any node.
--
-- A place in the chain is one number, so that it can be a key that only grows: the block's number times 2^20 plus the
-- index of the transaction, or of the log, in the block. A timestamp is the header's own, in seconds. Amounts of wei are
-- decimal text. Numbers of 64 bits that are not compared here (gas, nonce, size) keep their bits in a signed column.

-- How far the index is; one row. Whoever writes moves it from the block it knows, so only one of two writers can.
CREATE TABLE index_cursor (
    id BIGINT PRIMARY KEY,
    chain_id BIGINT NOT NULL,
    genesis_hash BYTEA NOT NULL,
    -- Grows when the index is dropped, so that a writer notices that what it remembers is gone.
    generation BIGINT NOT NULL,
    -- The last block; -1 and zeros before the first.
    number BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    timestamp BIGINT NOT NULL,
    -- Number of rows in accounts, and so the next id.
    accounts BIGINT NOT NULL
);

-- Addresses by a small number, in the order in which the chain first names them.
CREATE TABLE accounts (
    id BIGINT PRIMARY KEY,
    address BYTEA NOT NULL
);
CREATE UNIQUE INDEX accounts_address_key ON accounts (address);

CREATE TABLE blocks (
    number BIGINT PRIMARY KEY,
    hash BYTEA NOT NULL,
    timestamp BIGINT NOT NULL,
    proposer BIGINT NOT NULL,
    round BIGINT NOT NULL,
    transaction_count BIGINT NOT NULL,
    gas_used BIGINT NOT NULL,
    gas_limit BIGINT NOT NULL,
    size BIGINT NOT NULL,
    -- Who sealed it: bit i of byte i/8 is the validator i of the set in force. What our node holds; others may differ.
    seals BYTEA NOT NULL
);

-- Found by place only: a transaction by its hash is the node's to answer.
CREATE TABLE transactions (
    place BIGINT PRIMARY KEY,
    hash BYTEA NOT NULL,
    sender BIGINT NOT NULL,
    recipient BIGINT,
    created BIGINT,
    value TEXT NOT NULL,
    success BOOLEAN NOT NULL,
    gas_used BIGINT NOT NULL,
    fee TEXT NOT NULL,
    selector BYTEA,
    nonce BIGINT NOT NULL
);

-- The transactions of an account: sent, received, or created by.
CREATE TABLE account_transactions (
    account BIGINT NOT NULL,
    place BIGINT NOT NULL,
    PRIMARY KEY (account, place)
) /* in key order */;

-- Validator sets by the first block they were in force for: 20 bytes an address, ascending.
CREATE TABLE validator_sets (
    first_block BIGINT PRIMARY KEY,
    members BYTEA NOT NULL
);

-- What became of every turn to propose: 0 missed, 1 kept, 2 unclear.
CREATE TABLE turns (
    validator BIGINT NOT NULL,
    block BIGINT NOT NULL,
    round BIGINT NOT NULL,
    outcome SMALLINT NOT NULL,
    PRIMARY KEY (validator, block, round)
) /* in key order */;

-- Sums of a validator over spans of time: 3600 s, 86400 s, and 0 for ever.
CREATE TABLE validator_activity (
    span BIGINT NOT NULL,
    start BIGINT NOT NULL,
    validator BIGINT NOT NULL,
    proposed BIGINT NOT NULL,
    kept BIGINT NOT NULL,
    missed BIGINT NOT NULL,
    unclear BIGINT NOT NULL,
    sealed BIGINT NOT NULL,
    -- Blocks for which it was in the set.
    blocks BIGINT NOT NULL,
    first_block BIGINT NOT NULL,
    last_proposed BIGINT,
    last_sealed BIGINT,
    PRIMARY KEY (span, start, validator)
) /* in key order */;

-- Votes in headers. The voter is the block's proposer.
CREATE TABLE votes (
    block BIGINT PRIMARY KEY,
    voter BIGINT NOT NULL,
    recipient BIGINT NOT NULL,
    adds BOOLEAN NOT NULL
);

-- Logs of our contracts, decoded. The subject is whom it is about: operator, payer or merchant.
CREATE TABLE contract_events (
    place BIGINT PRIMARY KEY,
    transaction_place BIGINT NOT NULL,
    kind SMALLINT NOT NULL,
    subject BIGINT,
    event TEXT NOT NULL
);
CREATE INDEX contract_events_by_kind ON contract_events (kind, place);
CREATE INDEX contract_events_by_subject ON contract_events (subject, place);

-- Sums of fees per source over spans of time: 86400 s, and 0 for ever.
CREATE TABLE fee_sums (
    span BIGINT NOT NULL,
    start BIGINT NOT NULL,
    source BYTEA NOT NULL,
    payments BIGINT NOT NULL,
    collected TEXT NOT NULL,
    burned TEXT NOT NULL,
    held TEXT NOT NULL,
    PRIMARY KEY (span, start, source)
) /* in key order */;
