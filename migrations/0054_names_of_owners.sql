-- What the owner of a memory is called by, which each search asks for.
CREATE INDEX facts_of_names ON facts (tenant_id, slice_id)
WHERE subject = 'user' AND predicate IN ('name', 'nickname') AND state = 'current';
