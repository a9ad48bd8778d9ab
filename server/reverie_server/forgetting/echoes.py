"""Answers that repeat what is forgotten. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from reverie_server.search.query_terms import meaning_of
from reverie_server.sessions.model import Message
from reverie_server.text.statement_spans import statements


def echoes(texts: Sequence[str], messages: Sequence[Message], language: str) -> list[str]:
    """The statements of answers that repeat what is forgotten: a number or a name of it, or most of its words. Pure."""
    of_texts = [meaning_of(text, language) for text in texts]
    terms = frozenset().union(*(each.terms for each in of_texts))
    distinctive = frozenset(term for term in terms if any(map(str.isdigit, term)))
    distinctive |= frozenset().union(*(each.names for each in of_texts))
    found = []
    for message in messages:
        if message.role != "assistant":
            continue
        for sentence in statements(message.content):
            shared = meaning_of(sentence, language).terms & terms
            if shared & distinctive or (len(shared) >= 2 and 2 * len(shared) >= len(terms)):
                found.append(sentence)
    return found
