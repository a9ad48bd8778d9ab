-- A slice's revision grows with its lock: what is held of it in memory is compared with that.
ALTER TABLE slices ADD COLUMN revision bigint NOT NULL DEFAULT 0;
