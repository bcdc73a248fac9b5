-- Who may be written to. Before an address is confirmed it gets mail that asks for just that, and not often.
CREATE TABLE application_contact (
    -- In lower case.
    email        TEXT PRIMARY KEY,
    -- Of the link in the last mail that asked.
    token        TEXT,
    -- When it was last asked.
    asked_at     BIGINT NOT NULL,
    confirmed_at BIGINT
);
CREATE UNIQUE INDEX application_contact_token_key ON application_contact (token);

-- Whoever was written to so far goes on to be.
 INSERT INTO application_contact (email, token, asked_at, confirmed_at)
    SELECT LOWER(email), CAST(NULL AS TEXT), MIN(submitted_at), MIN(submitted_at) FROM application GROUP BY LOWER(email);

-- When an address, a client or everybody applied, as far as it still counts: Unix milliseconds, oldest first, with commas
-- in between.
CREATE TABLE application_quota (
    subject    TEXT PRIMARY KEY,
    times      TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX application_quota_by_time ON application_quota (updated_at);

-- Written to find out whether anything can be.
CREATE TABLE write_probe (
    id BIGINT PRIMARY KEY,
    at BIGINT NOT NULL
);
