"""Messages that answer nothing: thanks and greetings, and an assistant's talk that is not about the query.

Short texts without content are near to any question by meaning, and share its small words: "You're welcome." ranked
first for "What would I like?". What a person says is never judged by its length ("I'm vegan." is short). What an
assistant says (a message of that role without a `name`) states something about the query where it shares a word with
it that carries a meaning, and then does more than ask, greet or congratulate; unless the query asks what the assistant
said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from reverie_indexer.database.database import Connection
from reverie_indexer.text.analyse import fold
from reverie_server.heuristics.known_texts import KnownTexts
from reverie_server.heuristics.small_talk import is_small_talk, says_nothing
from reverie_server.search.candidates import Booleans, Candidates, Floats
from reverie_server.search.hot.answer import need_texts
from reverie_server.search.hot.remembered import Remembered
from reverie_server.search.rank import Query, Scores
from reverie_server.search.request import SearchRequest
from reverie_server.search.speakers import Speaker, speakers_of

_ASSISTANT = Speaker("assistant", is_named=False)
# What is left of the score of such a message.
EMPTY_SHARE = 0.5
# So many of the best messages for each place among the results are looked at.
_LOOKED_AT_EACH = 4
# A longer text says something.
_MAX_CHARS = 240
# Of a text some 200 bytes are kept, and none of its words; the half of them are texts.
_KNOWN = 40_000
# "Welcome to your new home! Do you need anything noted down?" says no more than its question.
_ONLY_ASKS = re.compile(r"[^.。\n]*[?？؟]\W*")
_ASKS_ASSISTANT = re.compile(
    r"(?<!\w)(?:(?:did|do|have|had|would|were|are) you|you(?:'d|'ve| have| had)? (?:say|said|told|tell|suggest\w*"
    r"|recommend\w*|advis\w*|propos\w*|mention\w*|promis\w*|wrote|gave|explain\w*)"
    r"|your (?:advice|suggest\w*|recommend\w*|tips?|ideas?|answers?|words)"
    r"|(?:hast|hattest|würdest) du|(?:haben|hatten|würden) sie"
    r"|(?:dein|ihr)\w* (?:rat|tipps?|vorschl\w*|empfehl\w*|ideen?|antwort\w*)"
    r"|(?:me )?(?:dijiste|recomendaste|sugeriste|aconsejaste|propusiste|explicaste|diste|prometiste)"
    r"|(?:me )?has (?:dicho|recomendado|sugerido|aconsejado|propuesto)"
    r"|tus? (?:consejos?|sugerencias?|recomendaci\w*|ideas?|respuestas?))(?!\w)"
    r"|[你您](?:之前|上次|刚才|曾)?(?:跟我|给我|对我|向我)?(?:说|讲|建议|推荐|告诉|提议|提到|答应|回答)|[你您]的(?:建议|推荐|主意|回答|意见)"
)


def asks_assistant(query: str) -> bool:
    """Whether the query asks what the assistant said, in English, German, Spanish or Chinese. Pure."""
    return _ASKS_ASSISTANT.search(fold(query)) is not None


def _is_silent(text: str, language: str) -> bool:
    return len(text) <= _MAX_CHARS and says_nothing(text, language)


def is_courtesy(text: str, language: str) -> bool:
    """Whether a text of an assistant only asks, greets, assents or congratulates. Pure."""
    if len(text) > _MAX_CHARS or any(character.isdecimal() for character in text):
        return False
    return _ONLY_ASKS.fullmatch(text.strip()) is not None or is_small_talk(text, language)


@cache
def _silences(language: str) -> KnownTexts[bool]:
    """Whether a text says nothing, known of the last ones."""
    return KnownTexts(lambda text: (_is_silent(text, language),), size=_KNOWN, max_chars=_MAX_CHARS)


@cache
def _courtesies(language: str) -> KnownTexts[bool]:
    """Whether a text is a courtesy, known of the last ones."""
    return KnownTexts(lambda text: (is_courtesy(text, language),), size=_KNOWN, max_chars=_MAX_CHARS)


@dataclass(frozen=True, slots=True)
class EmptyMessages:
    """Rows of messages: those that answer nothing, those of them that say nothing at all, and those that an assistant
    said, where the query does not ask for them."""

    empty: Sequence[int] = ()
    silent: Sequence[int] = ()
    of_assistant: Sequence[int] = ()


async def empty_messages(
    connection: Connection,
    request: SearchRequest,
    candidates: Candidates,
    scores: Scores,
    query: Query,
    language: str,
    remembered: Mapping[int, Remembered] | None = None,
) -> EmptyMessages:
    """The messages that answer nothing, and those of an assistant.

    Of a search by meaning alone none: its caller asks what is near. `remembered` is what is known of each slice.
    """
    rows = _best_messages(candidates, scores.score, request.max_results)
    if request.mode == "vector" or not rows:
        return EmptyMessages()
    await need_texts(connection, request, candidates, rows)
    shares = _shares_meaning(candidates, query)
    silent = {row for row in rows if not shares[row] and _silences(language).of(candidates.text[row])[0]}
    others = [row for row in rows if row not in silent]
    if asks_assistant(request.query) or not others:
        return EmptyMessages(sorted(silent), sorted(silent))
    by_assistant = await _of_assistant(connection, request, candidates, others, remembered or {})
    courtesies = {row for row in by_assistant if _courtesies(language).of(candidates.text[row])[0]}
    said = {row for row in by_assistant if not shares[row]} | courtesies
    silent |= courtesies
    return EmptyMessages(sorted(silent | said), sorted(silent), sorted(by_assistant))


def without_empty(scores: Scores, messages: EmptyMessages) -> Scores:
    """The scores with those of empty rows lowered by EMPTY_SHARE; the silent rows are relevant to nothing. Pure."""
    if not messages.empty and not messages.of_assistant:
        return scores
    factor = np.ones(len(scores.score))
    factor[list(messages.empty)] = EMPTY_SHARE
    relevance = scores.relevance.copy()
    relevance[list(messages.silent)] = 0.0
    of_assistant = scores.of_assistant.copy()
    of_assistant[list(messages.of_assistant)] = 1.0
    values = {name: getattr(scores, name) for name in scores.__slots__}
    lowered = {
        "score": scores.score * factor,
        "base_score": scores.base_score * factor,
        "relevance": relevance,
        "of_assistant": of_assistant,
    }
    return Scores(**{**values, **lowered})


def _best_messages(candidates: Candidates, score: Floats, limit: int) -> list[int]:
    """The rows of the best messages, best first."""
    order = np.argsort(-score, kind="stable").tolist()
    messages = [row for row in order if candidates.tier[row] == "message"]
    return messages[: _LOOKED_AT_EACH * limit]


def _shares_meaning(candidates: Candidates, query: Query) -> Booleans:
    """Which of the proposed passages have a term of the query that carries a meaning."""
    has_meaning = query.meaning_idfs > 0
    return np.asarray(candidates.has_term[: candidates.proposed_count][:, has_meaning].any(axis=1), np.bool_)


async def _of_assistant(
    connection: Connection,
    request: SearchRequest,
    candidates: Candidates,
    rows: Sequence[int],
    remembered: Mapping[int, Remembered],
) -> set[int]:
    """Those of the rows, of messages, that an assistant without a name said."""
    known = {row: _known_of(candidates, row, remembered) for row in rows}
    places = {row: int(candidates.chunk_id[row]) for row in rows}
    asked = [row for row in rows if places[row] not in known[row]]
    found = await speakers_of(connection, request, candidates, asked)
    for row in asked:
        known[row][places[row]] = found.get(row) == _ASSISTANT
    return {row for row in rows if known[row][places[row]]}


def _known_of(candidates: Candidates, row: int, remembered: Mapping[int, Remembered]) -> dict[int, bool]:
    of_slice = remembered.get(int(candidates.slice_id[row]))
    return {} if of_slice is None else of_slice.of_assistant
