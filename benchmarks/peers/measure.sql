-- settle: what autovacuum would do in time; the same for all that keep their data in PostgreSQL
VACUUM (ANALYZE);

-- database_bytes: what the peer added to an empty database
SELECT pg_database_size(current_database()) - pg_database_size('template0') AS bytes;
