-- enter: a new worker's id, and the lock that says that it lives, before anybody sees the id
SELECT worker_id, pg_advisory_lock(1919252069, mod(worker_id, 2147483647)::int)
FROM procrastinate_register_worker_v1();

-- hold: the lock of a worker that lives, taken again on a new connection; false while the old one is not gone yet
SELECT pg_try_advisory_lock(1919252069, mod(%(worker_id)s::bigint, 2147483647)::int) AS held;

-- leave: a worker that ends by itself, and from now on does not live
SELECT procrastinate_unregister_worker_v1(%(worker_id)s),
       pg_advisory_unlock(1919252069, mod(%(worker_id)s::bigint, 2147483647)::int);

-- notice_death: let the server find out within half a minute that a machine has vanished
SELECT set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),
       set_config('tcp_keepalives_count', '3', false);

-- alive: whether the process that works for this connection still holds the worker's lock
SELECT EXISTS (
    SELECT FROM pg_locks
    WHERE locktype = 'advisory' AND classid = 1919252069 AND objsubid = 2 AND granted AND pid = pg_backend_pid()
      AND objid::bigint = mod(%(worker_id)s::bigint, 2147483647)
) AS held;
