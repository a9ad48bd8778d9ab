-- spend_call: one more call of a tenant's day, unless its budget is spent: then no row
INSERT INTO model_calls (tenant_id, day, calls)
VALUES (%(tenant_id)s, %(day)s::date, 1)
ON CONFLICT (tenant_id, day) DO UPDATE SET calls = model_calls.calls + 1
    WHERE model_calls.calls < %(budget)s::integer
RETURNING calls;
