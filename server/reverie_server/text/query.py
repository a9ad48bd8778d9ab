"""Checks of the queries and messages that clients send. Pure."""

from __future__ import annotations

from reverie_indexer.errors import ValidationFailed

MAX_QUERY_CHARS = 8000


def check_query(query: str) -> str:
    """The query without surrounding white space; ValidationFailed for an empty, overlong or unstorable one."""
    query = query.strip()
    if not query or len(query) > MAX_QUERY_CHARS:
        raise ValidationFailed(f"a query has 1 to {MAX_QUERY_CHARS} characters")
    if "\x00" in query or any(0xD800 <= ord(character) <= 0xDFFF for character in query):
        raise ValidationFailed("the query has a NUL character or a lone surrogate")
    return query


def check_not_blank(message: str) -> str:
    """The message, of any length; ValidationFailed for one of white space alone."""
    if not message.strip():
        raise ValidationFailed("a message has something in it")
    return message
