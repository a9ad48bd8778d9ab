"""Measurements for anybody's machine and data. It uses the server; nothing of the server imports it."""
