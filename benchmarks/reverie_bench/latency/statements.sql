-- begin_snapshot: as a search begins
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- end_snapshot: as it ends
COMMIT;

-- explain: run a statement and say what it read
EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON)
