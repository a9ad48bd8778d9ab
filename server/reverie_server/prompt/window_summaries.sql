-- kept: the summary of a session's first live messages, if it is young enough
SELECT through_seq, summary FROM window_summaries
WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s AND slice_id = %(slice_id)s
  AND from_seq = %(from_seq)s AND at > clock_timestamp() - make_interval(secs => %(keep_seconds)s);

-- lock_slice: keep out transactions that forget or remove messages of the summary
SELECT slice_id FROM slices WHERE tenant_id = %(tenant_id)s AND slice_id = %(slice_id)s FOR NO KEY UPDATE;

-- keep: the latest summary of a session's first live messages
INSERT INTO window_summaries (tenant_id, session_key, slice_id, from_seq, through_seq, summary, prompt, prompt_version,
                              model, at)
VALUES (%(tenant_id)s, %(session_key)s, %(slice_id)s, %(from_seq)s, %(through_seq)s, %(summary)s, %(prompt)s,
        %(prompt_version)s, %(model)s, clock_timestamp())
ON CONFLICT (tenant_id, session_key) DO UPDATE
SET from_seq = excluded.from_seq, through_seq = excluded.through_seq, summary = excluded.summary,
    prompt = excluded.prompt, prompt_version = excluded.prompt_version, model = excluded.model, at = excluded.at;
