-- position: how far the primary has written its log to disk, as a text that sorts: timeline and place; none on a standby.
-- Where commits are seen before they are on the disk, how far it has made it.
SELECT CASE WHEN NOT pg_is_in_recovery() THEN
    (SELECT lower(left(pg_walfile_name(lsn), 8)) || '-' || lpad(to_hex((lsn - '0/0')::bigint), 16, '0')
     FROM (SELECT CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn()
                  ELSE pg_current_wal_flush_lsn() END AS lsn OFFSET 0) AS log)
END AS position;

-- replayed: how far a standby has replayed the log, in the same form; none where the server is no standby. The timeline is
-- the last that its control file or (for who may see it) its receiver knows of: perhaps one too few, never one too many
SELECT CASE WHEN pg_is_in_recovery() THEN
    lpad(to_hex(greatest(c.timeline_id, r.min_recovery_end_timeline, w.received_tli)), 8, '0')
    || '-' || lpad(to_hex((pg_last_wal_replay_lsn() - '0/0')::bigint), 16, '0')
END AS replayed
FROM pg_control_checkpoint() AS c CROSS JOIN pg_control_recovery() AS r LEFT JOIN pg_stat_wal_receiver AS w ON true;

-- identity: which database of which cluster this is, which a standby has from its primary
SELECT system_identifier || '/' || d.oid AS identity,
       EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') AS has_citus
FROM pg_control_system() AS s, pg_database AS d WHERE d.datname = current_database();

-- age: for how long the last change that a standby has replayed has been the last
SELECT coalesce(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float8, 0) AS seconds;
