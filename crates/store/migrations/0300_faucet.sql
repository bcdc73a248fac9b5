-- Claims of the faucet. Times are Unix milliseconds, amounts of wei are decimal text.

-- How many claims there were; one row. Whoever reserves a claim writes it first, so that the limits are checked by one
-- claimant at a time.
CREATE TABLE faucet_till (
    id     BIGINT PRIMARY KEY,
    claims BIGINT NOT NULL
);
INSERT INTO faucet_till (id, claims) VALUES (1, 0);

-- Who signs and sends; one row. Whoever signs writes it first, so that of two senders only the one that holds the lease
-- can.
CREATE TABLE faucet_sender (
    id         BIGINT PRIMARY KEY,
    -- A name that the process made up.
    holder     TEXT NOT NULL,
    -- Grows when the lease changes hands.
    turn       BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
INSERT INTO faucet_sender (id, holder, turn, expires_at) VALUES (1, '', 0, 0);

CREATE TABLE faucet_claim (
    -- In the order of their reservation.
    id           BIGINT PRIMARY KEY,
    wallet       BYTEA NOT NULL,
    -- A keyed hash of the claimant's network address, which itself is not kept.
    visitor      BYTEA NOT NULL,
    amount_wei   TEXT NOT NULL,
    state        TEXT NOT NULL,
    -- Both follow from the state; columns because the indexes below need them.
    is_open      BOOLEAN NOT NULL,
    is_charged   BOOLEAN NOT NULL,
    -- The transaction that pays it: who signed it, with which nonce, at which head; its bytes and their hash.
    payer        BYTEA,
    nonce        BIGINT,
    signed_block BIGINT,
    raw          BYTEA,
    tx_hash      BYTEA,
    -- Where the transaction was mined.
    block_number BIGINT,
    -- Why it was released or failed.
    note         TEXT,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);

-- One open claim per wallet, one open transaction per nonce, and one claim per transaction. A claim that was released does not
-- count: the wallet's next one may get the same nonce, and so the very same transaction.
CREATE UNIQUE INDEX faucet_claim_wallet_key ON faucet_claim (wallet) WHERE is_open;
CREATE UNIQUE INDEX faucet_claim_payer_nonce_key ON faucet_claim (payer, nonce) WHERE is_open;
CREATE UNIQUE INDEX faucet_claim_tx_hash_key ON faucet_claim (tx_hash) WHERE is_charged;
CREATE INDEX faucet_claim_by_tx_hash ON faucet_claim (tx_hash);
CREATE INDEX faucet_claim_by_wallet ON faucet_claim (wallet, created_at);
CREATE INDEX faucet_claim_by_visitor ON faucet_claim (visitor, created_at) WHERE is_charged;
CREATE INDEX faucet_claim_by_time ON faucet_claim (created_at) WHERE is_charged;
CREATE INDEX faucet_claim_by_block ON faucet_claim (block_number);
CREATE INDEX faucet_claim_open ON faucet_claim (id) WHERE is_open;

-- Transactions that can never be mined any more, because another one took their nonce. Kept so that a claimant who knows
-- only the first hash still finds the claim.
CREATE TABLE faucet_former_hash (
    tx_hash  BYTEA PRIMARY KEY,
    claim_id BIGINT NOT NULL REFERENCES faucet_claim (id)
);
