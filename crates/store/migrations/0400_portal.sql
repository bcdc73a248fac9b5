-- The developer and merchant portal. Times are Unix milliseconds, but for a quote's deadline, which is the chain's and in
-- seconds; amounts of wei are decimal text; ids are their 16 bytes; states are their words.

-- A wallet that has signed in, or is owed something. Whoever changes what belongs to a wallet writes its row first, so
-- that its limits are checked by one at a time. The counts are what the dashboard shows; counting invoices would grow with
-- their number.
CREATE TABLE portal_wallet (
    address       BYTEA PRIMARY KEY,
    revision      BIGINT NOT NULL,
    -- Of the wallet's last event.
    sequence      BIGINT NOT NULL,
    open_count    BIGINT NOT NULL,
    paid_count    BIGINT NOT NULL,
    expired_count BIGINT NOT NULL,
    void_count    BIGINT NOT NULL,
    revenue_idr   BIGINT NOT NULL,
    revenue_wei   TEXT NOT NULL,
    created_at    BIGINT NOT NULL
);

-- What paid invoices brought on a day, counted in days since 1970.
CREATE TABLE portal_revenue (
    wallet      BYTEA NOT NULL,
    day         BIGINT NOT NULL,
    invoices    BIGINT NOT NULL,
    amount_idr  BIGINT NOT NULL,
    amount_wei  TEXT NOT NULL,
    PRIMARY KEY (wallet, day)
) /* in key order */;

CREATE TABLE portal_challenge (
    id          BYTEA PRIMARY KEY,
    address     BYTEA NOT NULL,
    -- The whole text to sign.
    message     TEXT NOT NULL,
    expires_at  BIGINT NOT NULL,
    consumed_at BIGINT
);
CREATE INDEX portal_challenge_by_expiry ON portal_challenge (expires_at);

CREATE TABLE portal_session (
    id           BYTEA PRIMARY KEY,
    -- SHA-256 of the token.
    token_hash   BYTEA NOT NULL,
    wallet       BYTEA NOT NULL REFERENCES portal_wallet (address),
    is_contract  BOOLEAN NOT NULL,
    created_at   BIGINT NOT NULL,
    last_seen_at BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    revoked_at   BIGINT
);
CREATE UNIQUE INDEX portal_session_token_hash_key ON portal_session (token_hash);
CREATE INDEX portal_session_by_wallet ON portal_session (wallet, id);
CREATE INDEX portal_session_by_expiry ON portal_session (expires_at);

CREATE TABLE portal_order (
    id         BYTEA PRIMARY KEY,
    wallet     BYTEA NOT NULL REFERENCES portal_wallet (address),
    kind       TEXT NOT NULL,
    -- Of a key: the plan, its name and its scopes as bits (1 dashboard:read, 2 invoices:read, 4 invoices:write).
    plan       TEXT,
    key_name   TEXT,
    scopes     SMALLINT,
    amount_wei TEXT NOT NULL,
    -- The `ref` of the payment.
    reference  BYTEA NOT NULL,
    state      TEXT NOT NULL,
    -- Follows from kind and state: whether it takes one of the wallet's slots for keys.
    holds_slot BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    paid_at    BIGINT,
    claimed_at BIGINT
);
CREATE UNIQUE INDEX portal_order_reference_key ON portal_order (reference);
CREATE INDEX portal_order_by_wallet ON portal_order (wallet, id);
CREATE INDEX portal_order_slots ON portal_order (wallet) WHERE holds_slot;
CREATE INDEX portal_order_awaiting ON portal_order (expires_at) WHERE state = 'awaiting_payment';

CREATE TABLE portal_key (
    -- The public part.
    id             TEXT PRIMARY KEY,
    wallet         BYTEA NOT NULL REFERENCES portal_wallet (address),
    order_id       BYTEA NOT NULL REFERENCES portal_order (id),
    plan           TEXT NOT NULL,
    name           TEXT NOT NULL,
    scopes         SMALLINT NOT NULL,
    -- HMAC-SHA256 of the whole key under the pepper of this version.
    mac            BYTEA NOT NULL,
    pepper_version SMALLINT NOT NULL,
    last4          TEXT NOT NULL,
    created_at     BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL,
    revoked_at     BIGINT,
    last_used_at   BIGINT
);
CREATE UNIQUE INDEX portal_key_order_id_key ON portal_key (order_id);
CREATE INDEX portal_key_by_wallet ON portal_key (wallet, created_at);

CREATE TABLE portal_invoice (
    id                BYTEA PRIMARY KEY,
    wallet            BYTEA NOT NULL REFERENCES portal_wallet (address),
    -- Of the payment link: 16 random bytes.
    token             BYTEA NOT NULL,
    customer_label    TEXT NOT NULL,
    amount_idr        BIGINT NOT NULL,
    note              TEXT NOT NULL,
    external_id       TEXT,
    state             TEXT NOT NULL,
    created_at        BIGINT NOT NULL,
    expires_at        BIGINT NOT NULL,
    paid_at           BIGINT,
    -- When the merchant took it back while a quote could still be paid.
    void_requested_at BIGINT,
    -- When it expired or was voided.
    closed_at         BIGINT
);
CREATE UNIQUE INDEX portal_invoice_token_key ON portal_invoice (token);
CREATE UNIQUE INDEX portal_invoice_wallet_external_id_key ON portal_invoice (wallet, external_id);
CREATE INDEX portal_invoice_by_wallet ON portal_invoice (wallet, id);
CREATE INDEX portal_invoice_by_state ON portal_invoice (wallet, state, id);
CREATE INDEX portal_invoice_open ON portal_invoice (expires_at) WHERE state = 'open';
CREATE INDEX portal_invoice_voiding ON portal_invoice (void_requested_at) WHERE state = 'open' AND void_requested_at IS NOT NULL;

CREATE TABLE portal_quote (
    -- The hash of its terms.
    id          BYTEA PRIMARY KEY,
    invoice_id  BYTEA NOT NULL REFERENCES portal_invoice (id),
    amount_wei  TEXT NOT NULL,
    rate_id     BIGINT NOT NULL,
    rate_e8     BIGINT NOT NULL,
    deadline    BIGINT NOT NULL,
    salt        BYTEA NOT NULL,
    -- Whether it can still be paid: not settled, and its deadline not passed on the chain.
    is_live     BOOLEAN NOT NULL,
    created_at  BIGINT NOT NULL
);
CREATE UNIQUE INDEX portal_quote_invoice_id_key ON portal_quote (invoice_id) WHERE is_live;
CREATE INDEX portal_quote_by_invoice ON portal_quote (invoice_id, created_at);
CREATE INDEX portal_quote_live ON portal_quote (deadline) WHERE is_live;

-- Every payment to the checkout of a quote of ours, and every fee to the portal. Keyed by its place on the chain: reading
-- a block again adds nothing.
CREATE TABLE portal_payment (
    tx_hash      BYTEA NOT NULL,
    log_index    BIGINT NOT NULL,
    id           BYTEA NOT NULL,
    -- Whose: the merchant, the wallet of the order, or who paid when nobody knows what for.
    wallet       BYTEA NOT NULL,
    purpose      TEXT NOT NULL,
    exception    TEXT NOT NULL,
    invoice_id   BYTEA,
    order_id     BYTEA,
    quote_id     BYTEA,
    payer        BYTEA NOT NULL,
    amount_wei   TEXT NOT NULL,
    block_number BIGINT NOT NULL,
    block_time   BIGINT NOT NULL,
    PRIMARY KEY (tx_hash, log_index)
) /* in key order */;
CREATE UNIQUE INDEX portal_payment_id_key ON portal_payment (id);
CREATE INDEX portal_payment_by_wallet ON portal_payment (wallet, id);
CREATE INDEX portal_payment_by_invoice ON portal_payment (invoice_id);
CREATE INDEX portal_payment_by_order ON portal_payment (order_id);
CREATE INDEX portal_payment_by_block ON portal_payment (block_number, log_index);

-- The last block whose payments are credited; one row. Whoever credits writes it first.
CREATE TABLE portal_cursor (
    id           BIGINT PRIMARY KEY,
    -- -1 before the first.
    block_number BIGINT NOT NULL,
    block_hash   BYTEA NOT NULL,
    block_time   BIGINT NOT NULL
);
INSERT INTO portal_cursor (id, block_number, block_hash, block_time) VALUES (1, -1, '', 0);

-- What the coin costs. Rows are added, never changed; the last one counts.
CREATE TABLE portal_rate (
    id          BIGINT PRIMARY KEY,
    rate_e8     BIGINT NOT NULL,
    set_by      TEXT NOT NULL,
    note        TEXT,
    created_at  BIGINT NOT NULL
);

-- Answers to requests that carried an Idempotency-Key.
CREATE TABLE portal_idempotency (
    wallet      BYTEA NOT NULL,
    route       TEXT NOT NULL,
    key         TEXT NOT NULL,
    -- SHA-256 of the request's body.
    fingerprint BYTEA NOT NULL,
    status      SMALLINT NOT NULL,
    body        BYTEA NOT NULL,
    expires_at  BIGINT NOT NULL,
    PRIMARY KEY (wallet, route, key)
) /* in key order */;
CREATE INDEX portal_idempotency_by_expiry ON portal_idempotency (expires_at);

-- Where a wallet's events are sent. Deliveries are taken endpoint by endpoint, so that one that does not answer holds up
-- nobody else's: this row says when the endpoint is to be looked at, and who has it.
CREATE TABLE portal_webhook (
    wallet            BYTEA PRIMARY KEY REFERENCES portal_wallet (address),
    url               TEXT NOT NULL,
    state             TEXT NOT NULL,
    -- Why and when it was disabled.
    disabled_reason   TEXT,
    disabled_at       BIGINT,
    -- Sealed: version of the key, nonce and ciphertext.
    secret            BYTEA NOT NULL,
    -- The one that follows after a rotation, and when it takes over.
    next_secret       BYTEA,
    next_active_at    BIGINT,
    -- Since when nothing was delivered, and how often in a row that failed.
    failing_since     BIGINT,
    failures          BIGINT NOT NULL,
    delivered_count   BIGINT NOT NULL,
    failed_count      BIGINT NOT NULL,
    -- When one of its deliveries may be tried; none when it is disabled or nothing waits.
    due_at            BIGINT,
    -- Before this nothing is sent to it, whatever is due.
    paused_until      BIGINT NOT NULL,
    -- Until when whoever took it has it for itself, and how often it was taken.
    leased_until      BIGINT NOT NULL,
    lease             BIGINT NOT NULL,
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL
);
CREATE INDEX portal_webhook_due ON portal_webhook (due_at) WHERE due_at IS NOT NULL;

-- What happened to a wallet's money. The body is what every delivery sends, to the byte.
CREATE TABLE portal_event (
    id         BYTEA PRIMARY KEY,
    wallet     BYTEA NOT NULL,
    sequence   BIGINT NOT NULL,
    type       TEXT NOT NULL,
    body       BYTEA NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX portal_event_wallet_sequence_key ON portal_event (wallet, sequence);
CREATE INDEX portal_event_by_age ON portal_event (created_at);

CREATE TABLE portal_delivery (
    id           BYTEA PRIMARY KEY,
    event_id     BYTEA NOT NULL REFERENCES portal_event (id),
    wallet       BYTEA NOT NULL,
    -- Of the event: those of a wallet start in this order.
    sequence     BIGINT NOT NULL,
    -- pending, delivered, exhausted.
    state        TEXT NOT NULL,
    is_open      BOOLEAN NOT NULL,
    -- Whether its endpoint has yet to be told of it. Who adds a delivery does not write the endpoint's row, for which
    -- those who deliver contend.
    is_new       BOOLEAN NOT NULL,
    attempts     BIGINT NOT NULL,
    -- When it may be tried. Whoever takes it moves this behind the end of its lease.
    due_at       BIGINT NOT NULL,
    last_status  SMALLINT,
    last_error   TEXT,
    created_at   BIGINT NOT NULL,
    finished_at  BIGINT
);
CREATE INDEX portal_delivery_new ON portal_delivery (wallet) WHERE is_new;
CREATE INDEX portal_delivery_due ON portal_delivery (wallet, due_at, sequence) WHERE is_open;
CREATE INDEX portal_delivery_by_wallet ON portal_delivery (wallet, id);
CREATE INDEX portal_delivery_by_event ON portal_delivery (event_id);
CREATE INDEX portal_delivery_finished ON portal_delivery (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE portal_attempt (
    delivery_id BYTEA NOT NULL,
    attempt     BIGINT NOT NULL,
    started_at  BIGINT NOT NULL,
    duration_ms BIGINT NOT NULL,
    status      SMALLINT,
    error       TEXT,
    -- The first bytes of the answer, as text.
    response    TEXT,
    PRIMARY KEY (delivery_id, attempt)
) /* in key order */;

-- Who did what. Rows are added, never changed.
CREATE TABLE portal_audit (
    id      BYTEA PRIMARY KEY,
    wallet  BYTEA,
    -- wallet, key:<id>, operator, system.
    actor   TEXT NOT NULL,
    action  TEXT NOT NULL,
    target  TEXT NOT NULL,
    -- The network that it came from, without its last part.
    origin  TEXT,
    at      BIGINT NOT NULL
);
CREATE INDEX portal_audit_by_wallet ON portal_audit (wallet, id);
