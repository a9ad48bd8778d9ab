"""One script a peer; see `base`. They run in environments of their own and are not imported from here."""
