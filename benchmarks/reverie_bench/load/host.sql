-- backend: this connection's process, and whether it may be one of this machine
SELECT pg_backend_pid(),
       inet_server_addr() IS NULL OR inet_server_addr() <<= '127.0.0.0/8' OR inet_server_addr() = '::1';
