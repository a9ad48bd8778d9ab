-- state: how the backups of a kind stand; no row before the first
SELECT taken_at, ended_at, bytes, failed_at, error FROM scheduled_backups WHERE kind = %(kind)s::text;

-- lock: one backup of a kind by the clock at a time, whichever worker makes it; held until the connection ends
SELECT pg_try_advisory_lock(1919252071 + CASE %(kind)s::text WHEN 'base' THEN 1 ELSE 0 END) AS held;

-- unlock: the server may not have noticed yet that the connection has ended when the next one asks
SELECT pg_advisory_unlock_all();

-- succeeded: the last good backup of a kind; earlier failures are made good by it
INSERT INTO scheduled_backups (kind, taken_at, ended_at, bytes)
VALUES (%(kind)s::text, %(taken_at)s::timestamptz, %(ended_at)s::timestamptz, %(bytes)s::bigint)
ON CONFLICT (kind) DO UPDATE
SET taken_at = excluded.taken_at, ended_at = excluded.ended_at, bytes = excluded.bytes, failed_at = NULL, error = NULL;

-- failed: why the last backup of a kind failed; the last good one stays known
INSERT INTO scheduled_backups (kind, failed_at, error)
VALUES (%(kind)s::text, %(failed_at)s::timestamptz, %(error)s::text)
ON CONFLICT (kind) DO UPDATE SET failed_at = excluded.failed_at, error = excluded.error;

-- archiver: how the archiver stands, and for how long the oldest finished segment has waited for it
SELECT current_setting('archive_mode') <> 'off' AS is_on, last_archived_time AS archived_at, last_failed_time AS failed_at,
       coalesce((SELECT extract(epoch FROM clock_timestamp() - min(modification))
                 FROM pg_ls_archive_statusdir() WHERE name LIKE '%%.ready'), 0)::float8 AS waiting_seconds
FROM pg_stat_archiver;
