"""Answers that repeat what is forgotten. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from reverie_server.search.query_terms import meaning_of
from reverie_server.sessions.model import Message
from reverie_server.text.statement_spans import statements

# Of an answer so many sentences are looked at, and of a text and a sentence so many characters.
_MAX_SENTENCES, _MAX_CHARS = 100, 1000


def behind(texts: Sequence[str], page: Sequence[Message]) -> list[Message]:
    """The messages of a page right behind one with some of the texts: what was said before repeats nothing."""
    return [message for before, message in pairwise(page) if any(text in before.content for text in texts)]


def echoes(texts: Sequence[str], messages: Sequence[Message], language: str) -> list[str]:
    """The statements of answers that repeat what is forgotten: a number or a name of it, or most of its words. Pure."""
    of_texts = [meaning_of(text[:_MAX_CHARS], language) for text in texts]
    terms = frozenset().union(*(each.terms for each in of_texts))
    distinctive = frozenset(term for term in terms if any(map(str.isdigit, term)))
    distinctive |= frozenset().union(*(each.names for each in of_texts))
    found = []
    for message in messages:
        if message.role != "assistant":
            continue
        for sentence in statements(message.content)[:_MAX_SENTENCES]:
            shared = meaning_of(sentence[:_MAX_CHARS], language).terms & terms
            if shared & distinctive or (len(shared) >= 2 and 2 * len(shared) >= len(terms)):
                found.append(sentence)
    return found
