-- state: how the backups by the clock stand; no row before the first
SELECT taken_at, ended_at, bytes, failed_at, error FROM scheduled_backups;

-- lock: one backup by the clock at a time, whichever worker makes it; held until the connection ends
SELECT pg_try_advisory_lock(1919252071) AS held;

-- succeeded: the last good backup; earlier failures are made good by it
INSERT INTO scheduled_backups (taken_at, ended_at, bytes)
VALUES (%(taken_at)s::timestamptz, %(ended_at)s::timestamptz, %(bytes)s::bigint)
ON CONFLICT (only_row) DO UPDATE
SET taken_at = excluded.taken_at, ended_at = excluded.ended_at, bytes = excluded.bytes, failed_at = NULL, error = NULL;

-- failed: why the last backup failed; the last good one stays known
INSERT INTO scheduled_backups (failed_at, error) VALUES (%(failed_at)s::timestamptz, %(error)s::text)
ON CONFLICT (only_row) DO UPDATE SET failed_at = excluded.failed_at, error = excluded.error;
