-- lock: a fact of a place, held until the transaction ends
SELECT fact_id FROM facts
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND fact_id = %(fact_id)s FOR NO KEY UPDATE;

-- vote: one vote for each voter, fact and turn; a second one replaces the first
INSERT INTO fact_votes (tenant_id, fact_id, voter, turn_id, slice_id, is_helpful, at)
VALUES (%(tenant_id)s, %(fact_id)s, %(voter)s, %(turn_id)s, %(slice_id)s, %(is_helpful)s, %(at)s)
ON CONFLICT (tenant_id, fact_id, voter, turn_id) DO UPDATE SET is_helpful = excluded.is_helpful, at = excluded.at;

-- unvote: take a vote back
DELETE FROM fact_votes
WHERE tenant_id = %(tenant_id)s AND fact_id = %(fact_id)s AND voter = %(voter)s AND turn_id = %(turn_id)s;

-- count: the votes of a fact, into its row
UPDATE facts f SET helpful = v.helpful, unhelpful = v.unhelpful
FROM (SELECT count(*) FILTER (WHERE is_helpful) AS helpful, count(*) FILTER (WHERE NOT is_helpful) AS unhelpful
      FROM fact_votes WHERE tenant_id = %(tenant_id)s AND fact_id = %(fact_id)s) AS v
WHERE f.tenant_id = %(tenant_id)s AND f.slice_id = %(slice_id)s AND f.fact_id = %(fact_id)s;

-- confirm: somebody says that a fact is so
UPDATE facts SET last_confirmed_at = %(at)s, confirmed_by = %(by)s
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s AND fact_id = %(fact_id)s
RETURNING fact_id;
