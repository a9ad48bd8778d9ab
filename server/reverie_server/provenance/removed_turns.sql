-- note: that the turns of a subject were removed, those that were said before then; the later of two times counts
INSERT INTO removed_turns (tenant_id, subject_sha256, said_before)
VALUES (%(tenant_id)s, %(subject_sha256)s, clock_timestamp() - make_interval(secs => 86400 * %(days)s::float8))
ON CONFLICT (tenant_id, subject_sha256) DO UPDATE SET said_before = greatest(removed_turns.said_before, excluded.said_before);

-- removed: what was removed since a time, most often nothing
SELECT subject_sha256, said_before FROM removed_turns
WHERE tenant_id = %(tenant_id)s AND said_before > %(since)s
ORDER BY subject_sha256;
