-- holding: the reports of some slices that may hold a text
SELECT r.report_id, r.topic, r.reason, r.seen, r.promoted, r.rejected, r.diff FROM reports r
-- Not for each word anew: that took a second for 367 reports and one word.
CROSS JOIN LATERAL (
    SELECT lower(normalize(translate(concat_ws(' ', r.topic, r.reason, r.seen::text, r.promoted::text, r.rejected::text,
           r.diff), %(invisible)s::text, ''), NFKD)) AS plain OFFSET 0) AS p
WHERE r.tenant_id = %(tenant_id)s AND r.slice_id = ANY(%(slice_ids)s::bigint[])
  AND EXISTS (SELECT FROM unnest(%(anchors)s::text[]) AS a(word) WHERE strpos(p.plain, a.word) > 0)
ORDER BY report_id;

-- rewrite: a report without what was forgotten
UPDATE reports SET topic = %(topic)s, reason = %(reason)s, seen = %(seen)s, promoted = %(promoted)s,
                   rejected = %(rejected)s, diff = %(diff)s
WHERE tenant_id = %(tenant_id)s AND report_id = %(report_id)s;

-- clearable: the reports of a slice that are older
SELECT report_id FROM reports
WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s
  AND (%(older_than_days)s::float8 IS NULL OR started_at < now() - make_interval(secs => 86400 * %(older_than_days)s::float8))
ORDER BY report_id;

-- drop: some reports
DELETE FROM reports WHERE tenant_id = %(tenant_id)s AND report_id = ANY(%(report_ids)s::text[]);
