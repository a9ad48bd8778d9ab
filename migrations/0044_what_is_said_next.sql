-- The message of a session that asks to forget what is said next.
ALTER TABLE sessions ADD COLUMN forgets_after integer NOT NULL DEFAULT 0;
