"""A model's lines about somebody whom they do not name: with the name where it is plain, else left out. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie_server.heuristics.fact_grammar.terms import content_terms
from reverie_server.heuristics.memorable import Heard
from reverie_server.heuristics.requests.requested_lines import begins_with_pronoun
from reverie_server.sessions.model import Message
from reverie_server.text.fences import strip_injected
from reverie_server.text.markdown_edit import lines_of
from reverie_server.text.redact import essence

UNNAMED = "it does not say of whom or what"
# Of a file so many new entries are looked for in what was said.
_MAX_ENTRIES = 100
_ENTRY = re.compile(r"(?P<marker>[-*+] )(?P<text>.*\S)(?P<end>\s*)\Z", re.DOTALL)


class Referents:
    """Whom the sentences of a conversation mean that begin with a pronoun. `heard` is what was read of it."""

    def __init__(self, messages: Sequence[Message], heard: Heard) -> None:
        said = [essence(strip_injected(message.content)) for message in messages if message.role == "user"]
        self._said = "\n".join(said)
        # As a line to keep it says who that is.
        lines = [(line.statement.sentence, line.statement.text) for line in heard.lines]
        stated = [(fact.sentence, fact.text) for fact, _ in heard.facts]
        self._named = [
            (essence(sentence), content_terms(text), text)
            for sentence, text in (*lines, *stated)
            if not begins_with_pronoun(text)
        ]

    def named(self, line: str) -> str | None:
        """A line as it can stand alone; None for one that a user said of somebody else without a name.

        "She can't eat gluten" becomes "My sister Ada can't eat gluten". What is in no user's words may be about them.
        """
        if not begins_with_pronoun(line):
            return line
        plain, terms = essence(line), content_terms(line)
        if plain not in self._said:
            return line
        return next((text for sentence, named, text in self._named if plain in sentence and terms <= named), None)

    def named_in(self, text: str, before: str) -> tuple[str, list[str]]:
        """A file with each new entry as it can stand alone, and the entries that it is without; an entry of several
        lines stays as it is."""
        known = set(lines_of(before))
        kept, unnamed = [], []
        lines, looked_for = lines_of(text), 0
        for line, following in zip(lines, [*lines[1:], ""], strict=True):
            is_new = looked_for < _MAX_ENTRIES and line not in known and following[:1] not in (" ", "\t")
            entry = _ENTRY.match(line) if is_new else None
            looked_for += entry is not None
            named = self.named(entry["text"]) if entry is not None else ""
            if entry is None or named == entry["text"]:
                kept.append(line)
            elif named is None:
                unnamed.append(entry["text"])
            else:
                kept.append(f"{entry['marker']}{named}{entry['end']}")
        return "".join(kept), unnamed
