-- clearable: the files of a slice to clear, deleted ones with a history too; a daily note is as old as its day
SELECT d.document_id FROM documents d
WHERE d.tenant_id = %(tenant_id)s AND d.slice_id = %(slice_id)s AND d.session_key IS NULL
  AND (%(path_prefix)s::text IS NULL OR starts_with(d.path, %(path_prefix)s::text))
  AND (%(older_than_days)s::int IS NULL
       OR coalesce(d.note_day + time '24:00', greatest(d.updated_at, d.deleted_at)) < now() - make_interval(days => %(older_than_days)s::int))
  AND (d.path <> ALL(%(kept)s::text[]) OR starts_with(d.path, %(path_prefix)s::text))
ORDER BY d.document_id;
