"""Which of the statements of other days a request means that says it was told then. Pure.

How likely each is was learnt from talks in which most that is asked for was said last. Of another day nothing is gone
by that alone: it shares a word with the request, or it says that it was told in confidence, and it is far ahead of
what else was said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reverie_server.heuristics.requests.secrecy import is_private, only_confides
from reverie_server.heuristics.requests.themes import shares_theme
from reverie_server.search.asked.features import shares_of
from reverie_server.search.asked.heard import NearStatement
from reverie_server.search.query_terms import meaning_of

# Points for all the words of a request, for its theme, for a word of confidence, and for each unit of log-odds that a
# statement is of those that people ask to forget, and that it is meant, up to so many.
_OF_WORDS, _OF_THEME, _OF_CONFIDENCE, _OF_PRIVACY, _OF_CHANCE = 2.0, 1.0, 1.5, 0.4, 0.3
_MOST_ODDS = 4.0
# What stands beside it in its message has a part in its words.
_OF_NEIGHBOURS = 0.4
_OF_LATER_TOPIC = 0.7
# What is told beside a word of confidence that says more than that, too, is told in as much.
_OF_PRIVATE_NEIGHBOUR = 0.6
# So far ahead of all others is what is meant.
_AHEAD = 0.8
_FEWEST_POINTS = -0.5


@dataclass(frozen=True, slots=True)
class Weighed:
    """A statement of another day, and what speaks for it.

    `words` is the share of the request's words that it has, with what stands beside it in its message, `own_words`
    without that. `has_theme`: it tells of what the request names. `confidence` says how surely it was told in
    confidence (0..1); `privacy` and `odds` are the log-odds that it is of those that people ask to forget, and that it
    is meant.
    """

    statement: NearStatement
    words: float
    own_words: float
    has_theme: bool
    confidence: float
    privacy: float
    odds: float

    @property
    def points(self) -> float:
        """How much speaks for it."""
        of_odds = _OF_PRIVACY * _within(self.privacy) + _OF_CHANCE * _within(self.odds)
        of_words = _OF_WORDS * self.words + _OF_THEME * self.has_theme
        return of_words + _OF_CONFIDENCE * self.confidence + of_odds


def weighed(
    statements: Sequence[NearStatement],
    request: str,
    topics: Sequence[str],
    language: str,
    privacy: Mapping[str, float],
    odds: Mapping[str, float],
) -> list[Weighed]:
    """Statements that may be meant by a `request`, each with what speaks for it; `privacy` and `odds` are log-odds by
    their texts. `topics` are words by which it names something, the first of them more surely than others.
    """
    texts = [each.text for each in statements]
    with_neighbours = [f"{each.previous} {each.text} {each.following}" for each in statements]
    terms = [meaning_of(text, language).terms for text in (*texts, *with_neighbours)]
    shares = [
        [_OF_LATER_TOPIC**number * share for share in shares_of(topic, terms, language)]
        for number, topic in enumerate(topics)
    ]
    best = [max(each) for each in zip(*shares, strict=True)]
    own, around = best[: len(texts)], best[len(texts) :]
    return [
        Weighed(
            each,
            max(own[at], _OF_NEIGHBOURS * around[at] + (1 - _OF_NEIGHBOURS) * own[at]),
            own[at],
            shares_theme(request, each.text),
            _confidence(each),
            privacy[each.text],
            odds[each.text],
        )
        for at, each in enumerate(statements)
    ]


def meant_of(found: Sequence[Weighed], *, is_day_known: bool) -> list[str]:
    """The one of some statements that is plainly meant, with what only says that it is secret; nothing where none is.

    On a day that the request names it is evidence enough that a statement is of those that people ask to forget.
    """
    ranked = sorted(found, key=lambda each: each.points, reverse=True)
    if not ranked:
        return []
    best = ranked[0]
    has_evidence = best.own_words > 0 or best.has_theme or best.confidence > 0 or (is_day_known and best.privacy > 0)
    ahead = best.points - max((each.points for each in ranked[1:]), default=0.0)
    if not has_evidence or best.points < _FEWEST_POINTS or ahead < _AHEAD:
        return []
    neighbours = (best.statement.previous, best.statement.following)
    return [best.statement.text, *filter(only_confides, neighbours)]


def _confidence(statement: NearStatement) -> float:
    """How surely a statement is told in confidence: it says so, or what stands beside it says that and no more."""
    neighbours = (statement.previous, statement.following)
    if is_private(statement.text) or any(map(only_confides, neighbours)):
        return 1.0
    return _OF_PRIVATE_NEIGHBOUR if any(map(is_private, neighbours)) else 0.0


def _within(odds: float) -> float:
    return min(max(odds, -_MOST_ODDS), _MOST_ODDS)
