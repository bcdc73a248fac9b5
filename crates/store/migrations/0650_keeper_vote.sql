-- What the keeper has validators vote, one change of the set at a time. Times of rows are Unix milliseconds.

CREATE TABLE keeper_vote (
    id            BIGINT PRIMARY KEY,
    -- add or drop.
    kind          TEXT NOT NULL,
    operator      BYTEA NOT NULL,
    node          BYTEA NOT NULL,
    state         TEXT NOT NULL,
    is_open       BOOLEAN NOT NULL,
    -- The head at which it was decided on.
    begun_block   BIGINT NOT NULL,
    -- The first head that shows the set as it was to be.
    decided_block BIGINT,
    -- Why it is closed, unless the set was changed.
    note          TEXT,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL
);
-- One change at a time, whoever decides.
CREATE UNIQUE INDEX keeper_vote_open_key ON keeper_vote (is_open) WHERE is_open;
CREATE INDEX keeper_vote_by_node ON keeper_vote (node, kind, id);
