"""A client for Reverie: the HTTP interface as Python functions, sync and async."""
