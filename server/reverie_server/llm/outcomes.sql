-- note_outcome: one more use of the language model on a tenant's day; old rows are deleted
WITH pruned AS (
    DELETE FROM model_outcomes
    WHERE tenant_id = %(tenant_id)s AND day < %(day)s::date - %(keep_days)s::integer
)
INSERT INTO model_outcomes (tenant_id, day, outcome, uses, last_at)
VALUES (%(tenant_id)s, %(day)s::date, %(outcome)s, 1, clock_timestamp())
ON CONFLICT (tenant_id, day, outcome) DO UPDATE
    SET uses = model_outcomes.uses + 1, last_at = clock_timestamp();

-- outcomes: the outcomes of a tenant's uses, by day; without an outcome the requests of a day
SELECT day, outcome, uses, last_at FROM model_outcomes WHERE tenant_id = %(tenant_id)s
UNION ALL
SELECT day, NULL, calls, NULL FROM model_calls WHERE tenant_id = %(tenant_id)s AND day = %(day)s::date
ORDER BY day, outcome;

-- totals: the same of all tenants
SELECT day, outcome, sum(uses)::integer AS uses, max(last_at) AS last_at FROM model_outcomes GROUP BY day, outcome
UNION ALL
SELECT day, NULL, sum(calls)::integer, NULL FROM model_calls WHERE day = %(day)s::date GROUP BY day
ORDER BY day, outcome;

-- most_calls: the requests of the tenant that made the most on a day
SELECT coalesce(max(calls), 0)::integer AS calls FROM model_calls WHERE day = %(day)s::date;
