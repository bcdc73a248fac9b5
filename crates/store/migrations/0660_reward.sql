-- Rewards for ranges of blocks, each sent once. Times of rows are Unix milliseconds, amounts are wei as decimal text.

CREATE TABLE reward_run (
    id         BIGINT PRIMARY KEY,
    from_block BIGINT NOT NULL,
    to_block   BIGINT NOT NULL,
    pool       TEXT NOT NULL,
    created_at BIGINT NOT NULL
);

-- What each operator is to get, and the transaction that pays it: stored before any node sees it.
CREATE TABLE reward_payment (
    run_id       BIGINT NOT NULL REFERENCES reward_run (id),
    operator     BYTEA NOT NULL,
    amount       TEXT NOT NULL,
    signer       BYTEA,
    nonce        BIGINT,
    raw          BYTEA,
    tx_hash      BYTEA,
    -- The block it was paid in.
    block_number BIGINT,
    updated_at   BIGINT NOT NULL,
    PRIMARY KEY (run_id, operator)
) /* in key order */;
