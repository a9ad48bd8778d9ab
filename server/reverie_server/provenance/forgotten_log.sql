-- transaction: which transaction this is, of which cluster, and the time
SELECT pg_current_xact_id()::text AS xid, clock_timestamp() AS at,
       (SELECT system_identifier::text FROM pg_control_system()) AS cluster;
