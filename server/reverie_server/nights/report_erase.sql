-- holding: the reports of some slices that may hold a text
SELECT report_id, topic, reason, seen, promoted, rejected, diff FROM reports
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
  AND EXISTS (
      SELECT FROM unnest(%(anchors)s::text[]) AS a(word)
      WHERE strpos(lower(normalize(translate(
          concat_ws(' ', topic, reason, seen::text, promoted::text, rejected::text, diff), %(invisible)s::text, ''),
          NFKD)), a.word) > 0)
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
