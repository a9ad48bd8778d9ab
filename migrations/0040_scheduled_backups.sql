-- How the backups by the clock stand: the last good one, and why one failed since.
CREATE TABLE scheduled_backups (
    only_row   boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    taken_at   timestamptz,
    ended_at   timestamptz,
    bytes      bigint,
    failed_at  timestamptz,
    error      text
);
