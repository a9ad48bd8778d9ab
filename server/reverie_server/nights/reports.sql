-- add: a report; none where its night has one already
INSERT INTO reports (tenant_id, report_id, slice_id, mode, topic, trigger, night, started_at, ended_at, status, reason, seen,
                     promoted, rejected, diff, path, version_before, version_after, method, prompt, prompt_version, model,
                     fallback)
VALUES (%(tenant_id)s, %(report_id)s, %(slice_id)s, %(mode)s, %(topic)s, %(trigger)s, %(night)s, %(started_at)s,
        %(ended_at)s, %(status)s, %(reason)s, %(seen)s, %(promoted)s, %(rejected)s, %(diff)s, %(path)s,
        %(version_before)s, %(version_after)s, %(method)s, %(prompt)s, %(prompt_version)s, %(model)s, %(fallback)s)
ON CONFLICT DO NOTHING
RETURNING report_id;

-- page: the reports of some slices, newest first
SELECT report_id, slice_id, mode, topic, trigger, night, started_at, ended_at, status, reason, seen, promoted, rejected, diff,
       path, version_before, version_after, method, prompt, prompt_version, model, fallback
FROM reports
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[])
  AND (%(month)s::date IS NULL OR (night >= %(month)s::date AND night < %(month)s::date + interval '1 month'
                                   AND started_at < %(older_than)s))
  AND (%(before_at)s::timestamptz IS NULL OR (started_at, report_id) < (%(before_at)s::timestamptz, %(before_id)s::text))
ORDER BY started_at DESC, report_id DESC
LIMIT %(limit)s;

-- months: the months of the nights of some slices' reports that began before a time, newest first
SELECT date_trunc('month', night)::date AS month, count(*) AS reports, count(*) FILTER (WHERE status = 'success') AS success,
       count(*) FILTER (WHERE status = 'skipped') AS skipped, count(*) FILTER (WHERE status = 'failed') AS failed,
       coalesce(sum(jsonb_array_length(promoted)), 0)::bigint AS promoted
FROM reports
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND started_at < %(older_than)s
GROUP BY 1
ORDER BY 1 DESC
LIMIT %(limit)s;

-- report: one of some slices
SELECT report_id, slice_id, mode, topic, trigger, night, started_at, ended_at, status, reason, seen, promoted, rejected, diff,
       path, version_before, version_after, method, prompt, prompt_version, model, fallback
FROM reports
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND report_id = %(report_id)s;

-- is_done: whether a night by cron has its report
SELECT 1 AS done FROM reports
WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND night = %(night)s
  AND mode = 'full' AND trigger = 'cron' AND status <> 'failed'
ORDER BY report_id
LIMIT 1;

-- standing: the last run of emergence of some slices that was about no topic, and the number of entries that all runs promoted
SELECT (SELECT count(*) FROM reports r, jsonb_array_elements(r.promoted) AS p
        WHERE r.tenant_id = %(tenant_id)s AND r.slice_id = ANY(%(slice_ids)s::bigint[]) AND r.mode <> 'dreaming') AS promoted,
       l.started_at, l.status
FROM (SELECT 1) AS one
LEFT JOIN LATERAL (
    SELECT started_at, status FROM reports
    WHERE tenant_id = %(tenant_id)s AND slice_id = ANY(%(slice_ids)s::bigint[]) AND mode = 'full'
    ORDER BY started_at DESC, report_id DESC
    LIMIT 1
) AS l ON true;

-- trim: leave of reports that began before a time what entered, and not what did not nor the text of the change
UPDATE reports r SET rejected = '[]', diff = ''
FROM (SELECT tenant_id, report_id FROM reports
      WHERE started_at < %(before)s AND (rejected <> '[]' OR diff <> '')
      ORDER BY started_at, report_id LIMIT %(limit)s) old
WHERE r.tenant_id = old.tenant_id AND r.report_id = old.report_id;
