"""The embedded PostgreSQL: the server, the account that it runs as, what the host gives it."""
