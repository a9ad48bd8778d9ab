-- transaction: which transaction this is, of which cluster and timeline (as app/backups/backup.sql says it), and the time
SELECT pg_current_xact_id()::text AS xid, clock_timestamp() AS at,
       (SELECT system_identifier::text FROM pg_control_system())
       || coalesce(':' || nullif(ltrim(left(pg_walfile_name(pg_current_wal_lsn()), 8), '0'), '1'), '') AS cluster;
