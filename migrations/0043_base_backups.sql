-- How the base backups stand, from which the embedded PostgreSQL is brought back to a point in time, beside the dumps.
ALTER TABLE scheduled_backups DROP COLUMN only_row;
ALTER TABLE scheduled_backups ADD COLUMN kind text NOT NULL DEFAULT 'dump' CHECK (kind IN ('dump', 'base'));
ALTER TABLE scheduled_backups ADD PRIMARY KEY (kind);
