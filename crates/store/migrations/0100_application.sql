-- Validator applications. Times are Unix milliseconds.

CREATE TABLE application (
    id             TEXT PRIMARY KEY,
    operator       BYTEA NOT NULL,
    moniker        TEXT NOT NULL,
    email          TEXT NOT NULL,
    stake_wei      TEXT NOT NULL,
    commission_bps BIGINT NOT NULL,
    website        TEXT,
    region         TEXT,
    message        TEXT,
    state          TEXT NOT NULL,
    -- Follows from the state; a column because the index below needs it.
    is_open        BOOLEAN NOT NULL,
    -- Rows of application_step, so that the next one has its place without a look at the others.
    steps          BIGINT NOT NULL,
    submitted_at   BIGINT NOT NULL,
    review_due_at  BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL
);

-- One open application per operator. The name is what both engines report.
CREATE UNIQUE INDEX application_operator_key ON application (operator) WHERE is_open;
CREATE INDEX application_by_state ON application (state, id);

-- Every state that an application has been in, in order.
CREATE TABLE application_step (
    application_id TEXT NOT NULL REFERENCES application (id),
    place          BIGINT NOT NULL,
    state          TEXT NOT NULL,
    actor          TEXT NOT NULL,
    note           TEXT,
    at             BIGINT NOT NULL,
    PRIMARY KEY (application_id, place)
) /* in key order */;

-- Mail that is to be sent about an application. A row that is done keeps its place as a record.
CREATE TABLE application_mail (
    application_id TEXT NOT NULL REFERENCES application (id),
    place          BIGINT NOT NULL,
    attempts       BIGINT NOT NULL,
    -- When to try (again); none when it was sent or given up.
    due_at         BIGINT,
    sent_at        BIGINT,
    PRIMARY KEY (application_id, place)
) /* in key order */;

CREATE INDEX application_mail_due ON application_mail (due_at) WHERE due_at IS NOT NULL;
