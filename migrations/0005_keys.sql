-- Keys have a name, an end and a last use.
ALTER TABLE keys ADD COLUMN name text;
ALTER TABLE keys ADD COLUMN expires_at timestamptz;
ALTER TABLE keys ADD COLUMN last_used_at timestamptz;
