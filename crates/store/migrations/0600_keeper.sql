-- The keeper: who acts, what was seen of validators, and the transactions that follow. Times of rows are Unix milliseconds.

-- Rights that one process at a time has. Whoever makes use of one writes its row first, so that a holder whose time is over
-- changes nothing.
CREATE TABLE lease (
    name       TEXT PRIMARY KEY,
    -- A name that the process made up.
    holder     TEXT NOT NULL,
    -- Grows when the lease changes hands.
    turn       BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
INSERT INTO lease (name, holder, turn, expires_at) VALUES ('keeper', '', 0, 0);

-- Offences that were seen, each once.
CREATE TABLE keeper_report (
    -- What tells it from every other offence.
    occasion     TEXT PRIMARY KEY,
    -- downtime or double-sign.
    kind         TEXT NOT NULL,
    -- Null for a node that nobody registered.
    operator     BYTEA,
    node         BYTEA NOT NULL,
    -- The last sign of life, or the height that was signed twice.
    block_number BIGINT NOT NULL,
    -- Of a double-sign: the round, the two digests, and the two headers with their seals, RLP.
    round        BIGINT,
    digest_one   BYTEA,
    digest_two   BYTEA,
    header_one   BYTEA,
    header_two   BYTEA,
    note         TEXT NOT NULL,
    -- Chain time, in seconds.
    seen_at      BIGINT NOT NULL,
    created_at   BIGINT NOT NULL
);
CREATE INDEX keeper_report_by_node ON keeper_report (node, kind, seen_at);
CREATE INDEX keeper_report_by_operator ON keeper_report (operator, kind, seen_at);

-- What the keeper does on chain, each thing once.
CREATE TABLE keeper_action (
    id           BIGINT PRIMARY KEY,
    -- What tells it from every other: the jail that it ends, the offence that it punishes.
    occasion     TEXT NOT NULL,
    task         TEXT NOT NULL,
    operator     BYTEA NOT NULL,
    -- What the registry said when it was decided on: the end of the jail, or the number of slashes.
    expects      BIGINT NOT NULL,
    state        TEXT NOT NULL,
    is_open      BOOLEAN NOT NULL,
    -- Transactions that were signed for it.
    attempts     BIGINT NOT NULL,
    -- The one that counts: who signed it, with which nonce; its bytes and their hash.
    signer       BYTEA,
    nonce        BIGINT,
    raw          BYTEA,
    tx_hash      BYTEA,
    -- Whether that transaction does nothing, and stands where one was that is not wanted any more.
    is_void      BOOLEAN NOT NULL,
    block_number BIGINT,
    note         TEXT,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
CREATE UNIQUE INDEX keeper_action_occasion_key ON keeper_action (occasion);
CREATE UNIQUE INDEX keeper_action_nonce_key ON keeper_action (signer, nonce) WHERE is_open;
CREATE INDEX keeper_action_open ON keeper_action (id) WHERE is_open;
