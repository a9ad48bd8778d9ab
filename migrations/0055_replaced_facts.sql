-- What a fact replaced, which questions about the past ask for.
CREATE INDEX facts_replaced ON facts (tenant_id, superseded_by) WHERE superseded_by IS NOT NULL;
