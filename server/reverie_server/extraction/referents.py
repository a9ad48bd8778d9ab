"""A model's lines about somebody whom they do not name: with the name where it is plain, else left out. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.terms import content_terms, is_unspaced
from reverie_server.heuristics.memorable import Heard
from reverie_server.heuristics.requests.requested_lines import begins_with_pronoun
from reverie_server.sessions.model import Message
from reverie_server.text.fences import strip_injected
from reverie_server.text.markdown_edit import lines_of
from reverie_server.text.redact import essence

UNNAMED = "it does not say of whom"
# Of a file so many new entries are looked for in what was said.
_MAX_ENTRIES = 100
_ENTRY = re.compile(r"(?P<marker>[-*+] )(?P<text>.*\S)(?P<end>\s*)\Z", re.DOTALL)
# Words that stand for a person. "It takes me an hour" and "Das ist meine Adresse" need nobody before them.
_OF_SOMEBODY = re.compile(r"(?:she|he|her|his|sie|er|ihre?|seine?|ella|él|ellos|ellas)(?:['’]\w+)?(?!\w)|[她他]")


class Referents:
    """Whom the sentences of a conversation mean that begin with a pronoun.

    `heard` is what was read of it; `clean` removes forgotten texts from a text.
    """

    def __init__(self, messages: Sequence[Message], heard: Heard, clean: Callable[[str], str]) -> None:
        of_user = [essence(strip_injected(message.content)) for message in messages if message.role == "user"]
        self._messages = "\n".join(of_user)
        self._clean = clean
        self._facts = [
            (essence(fact.sentence), content_terms(fact.text), fact.subject, fact.text)
            for fact, _ in heard.facts
            if not begins_with_pronoun(fact.text)
        ]
        # As a line to keep it says who that is.
        self._lines = [
            (essence(line.statement.sentence), content_terms(line.statement.text), line.statement.text)
            for line in heard.lines
            if not begins_with_pronoun(line.statement.text)
        ]

    def named(self, line: str) -> str | None:
        """A line as it can stand alone; None for one that a user said of somebody without a name.

        "She can't eat gluten" becomes "My sister Ada can't eat gluten", if that was said of one person alone. What is
        in no user's words may be about them.
        """
        if not _OF_SOMEBODY.match(folded(line).lstrip("\"'-–— ,")):
            return line
        words = re.escape(essence(line))
        # In "she smokes" nobody says "he smokes".
        pattern = re.compile(words if is_unspaced(line) else rf"(?<!\w){words}(?!\w)")
        if pattern.search(self._messages) is None:
            return line
        terms = content_terms(line)
        facts = [each for each in self._facts if pattern.search(each[0]) and terms <= each[1]]
        if len({subject for *_, subject, _ in facts}) != 1:
            return None
        _, of_fact, _, text = facts[0]
        lines = [text for sentence, own, text in self._lines if pattern.search(sentence) and of_fact <= own]
        named = lines[0] if lines else text
        return named if self._clean(f"- {named}").strip() == f"- {named}" else None

    def named_in(self, text: str, before: str) -> tuple[str, list[str]]:
        """A file with each new entry as it can stand alone, once, and the entries that it is without, since they name
        nobody; an entry of several lines stays as it is."""
        known = {line.rstrip() for line in lines_of(before)}
        kept, unnamed = [], []
        lines, looked_for = lines_of(text), 0
        there = {essence(line) for line in lines}
        for line, following in zip(lines, [*lines[1:], ""], strict=True):
            is_new = looked_for < _MAX_ENTRIES and line.rstrip() not in known and following[:1] not in (" ", "\t")
            entry = _ENTRY.match(line) if is_new else None
            looked_for += entry is not None
            named = self.named(entry["text"]) if entry is not None else ""
            if entry is None or named == entry["text"]:
                kept.append(line)
            elif named is None:
                unnamed.append(entry["text"])
            elif essence(named) not in there:
                there.add(essence(named))
                kept.append(f"{entry['marker']}{named}{entry['end']}")
        return "".join(kept), unnamed
