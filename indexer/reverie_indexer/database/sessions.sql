-- mark_session: leave a mark in the session of this connection; the process that works for it
SELECT pg_backend_pid() AS pid, set_config('reverie.session', %(mark)s, false) AS mark;

-- session: the process that works for this connection now, and the mark of its session
SELECT pg_backend_pid() AS pid, current_setting('reverie.session', true) AS mark;
