-- Gateway keys, what they were used for, and the wallets that the faucet pays. Times are Unix milliseconds.

-- Grows with every change of a key, so that a look at one row tells whoever keeps the keys in memory to read them again;
-- one row. Whoever changes a key writes it first.
CREATE TABLE gateway_key_revision (
    id       BIGINT PRIMARY KEY,
    revision BIGINT NOT NULL
);
INSERT INTO gateway_key_revision (id, revision) VALUES (1, 0);

-- A key is never deleted: its usage stays, and a placeholder that was revoked does not come back.
CREATE TABLE gateway_key (
    id                  TEXT PRIMARY KEY,
    -- SHA-256 of the secret part.
    secret_hash         BYTEA NOT NULL,
    team                TEXT NOT NULL,
    -- Bits: 1 rpc, 2 faucet, 4 explorer.
    permissions         SMALLINT NOT NULL,
    -- Where it may be used from, separated by commas; empty for everywhere.
    networks            TEXT NOT NULL,
    requests_per_minute BIGINT NOT NULL,
    created_at          BIGINT NOT NULL,
    expires_at          BIGINT,
    revoked_at          BIGINT,
    -- The key that a rotation put in its place.
    replaced_by         TEXT
);

-- What a key was used for on a day, counted in days since 1970.
CREATE TABLE key_usage (
    key_id   TEXT NOT NULL REFERENCES gateway_key (id),
    day      BIGINT NOT NULL,
    requests BIGINT NOT NULL,
    denied   BIGINT NOT NULL,
    units    BIGINT NOT NULL,
    PRIMARY KEY (key_id, day)
) /* in key order */;

-- Wallets that the faucet pays on a network where not every wallet may claim.
CREATE TABLE faucet_allowlist (
    wallet   BYTEA PRIMARY KEY,
    team     TEXT NOT NULL,
    note     TEXT,
    added_at BIGINT NOT NULL
);
