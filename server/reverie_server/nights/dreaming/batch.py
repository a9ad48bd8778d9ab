"""The sentences of a batch of episodes: whom each is about, and which of them a later one takes back. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta

from reverie_server.heuristics.changes.fact_ledger import TimedFact
from reverie_server.heuristics.changes.superseding import resolve
from reverie_server.heuristics.corrections.denied import denied
from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.entries import cues_in, kinds_of
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.lasting import speaks_for_itself
from reverie_server.heuristics.stated_fact import SELF, StatedFact, Utterance
from reverie_server.heuristics.statements import terms_of

# What somebody without a name prefers or decides is theirs, and nothing about the user.
_PERSONAL = ("preference", "decision")


class Batch:
    """Sentences in the order in which they were said, each with its day; a sentence is known by its number."""

    def __init__(self, sentences: Sequence[tuple[str, date]], language: str) -> None:
        self._texts = [text for text, _ in sentences]
        self._language = language
        self._cues = cues_in("\n".join(self._texts), language)
        # A second apart, so that of one day the later sentence counts as later.
        self._times = [
            datetime.combine(day, time(), UTC) + timedelta(seconds=number) for number, (_, day) in enumerate(sentences)
        ]
        utterances = [Utterance(text, at) for text, at in zip(self._texts, self._times, strict=True)]
        self._facts = read_facts(utterances, language)
        self._facts_of: dict[int, list[StatedFact]] = defaultdict(list)
        for fact in self._facts:
            self._facts_of[fact.utterance].append(fact)
        self._taken_back = self._superseded() | self._denied()

    def is_taken_back(self, number: int) -> bool:
        """Whether a later sentence says that a sentence no longer holds, or a part of it."""
        return number in self._taken_back

    def is_about_user(self, number: int) -> bool:
        """Whether a sentence is the user's own, or says of whom it is: "my sister" prefers what no stranger needs."""
        text = self._texts[number]
        kinds = kinds_of(text, self._cues)
        if "remember" in kinds:
            return True
        facts = self._facts_of[number]
        is_of_others = bool(facts) and all(
            fact.category in _PERSONAL and fact.subject.startswith(f"{SELF}'s ") for fact in facts
        )
        return not is_of_others and speaks_for_itself(text, kinds, self._cues)

    def _superseded(self) -> set[int]:
        timed = [
            TimedFact(
                number,
                fact.subject,
                fact.predicate,
                fact.object,
                fact.text,
                self._times[fact.utterance],
                fact.is_functional,
                fact.change,
                fact.about_user,
            )
            for number, fact in enumerate(self._facts)
        ]
        return {
            self._facts[closure.old].utterance
            for closure in resolve(timed).closures
            if closure.new is not None and self._facts[closure.new].utterance > self._facts[closure.old].utterance
        }

    def _denied(self) -> set[int]:
        """The sentences of which a remark denies a word: for each remark the last one with the word."""
        found: set[int] = set()
        last_with: dict[str, int] = {}
        for number, text in enumerate(self._texts):
            old = denied(text)
            terms = terms_of(old, self._language) if old is not None else frozenset()
            places = {last_with.get(term) for term in terms}
            if len(places) == 1 and (place := places.pop()) is not None:
                found.add(place)
            else:
                last_with.update(dict.fromkeys(terms_of(folded(text), self._language), number))
        return found
