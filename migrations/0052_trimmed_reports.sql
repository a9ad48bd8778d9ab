-- Reports of more than a month lose what did not enter and the text of what changed: those that still have it are few.
CREATE INDEX reports_to_trim ON reports (started_at) WHERE rejected <> '[]' OR diff <> '';
