"""The numbers that tell whether a request means a statement: where that stands, what both have in common in words and
in meaning, how private it is, and what the request says of itself. Pure.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reverie_server.heuristics.requests.confidences import (
    is_of_another_day,
    is_of_any_store,
    is_to_be_told,
)
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.requests.forget_requests import (
    ForgetRequest,
    everything_about,
    names_told,
)
from reverie_server.heuristics.requests.going_on import goes_on
from reverie_server.heuristics.requests.likely_requests import LikelyRequest, forgetting_asked, points_back, topic_of
from reverie_server.heuristics.requests.memory_requests import Kind as Asked
from reverie_server.heuristics.requests.request_kinds import Kind
from reverie_server.heuristics.requests.request_kinds import odds as odds_of_kind
from reverie_server.heuristics.requests.secrecy import is_private
from reverie_server.heuristics.worth_model import model as worth_model
from reverie_server.search.asked.heard import Heard, Where
from reverie_server.search.asked.matching import Matching, Vector
from reverie_server.search.query_terms import meaning_of
from reverie_server.text.questions import is_question
from reverie_server.text.statement_spans import is_statement

_WHERE: tuple[Where, ...] = ("before", "own", "after", "earlier", "memory", "next")
_KINDS = ("previous", "next", "message", "own", "topic", "nearby", "told")
_HAN = re.compile("[\u3400-\u9fff]")
_CHARS_OF_HAN, _MOST_CHARS, _MOST_ODDS = 2.5, 200.0, 4.0
_OF_NUMBER = re.compile(
    r"(?<!\w)(?:numbers?|digits?|figures?|codes?|pin|sums?|amounts?|address|dates?|password|passcode|combination|login"
    r"|nummern?|ziffern?|\w*zahl(?:en)?|betrag|summe|adresse|datum|passwort|kennwort|kombination|zugangsdaten"
    r"|cifras?|n[uú]meros?|clave|contrase[nñ]a|cantidad|direcci[oó]n|fecha|c[oó]digo)(?!\w)|号|號|数字|數字|密码|密碼|[码碼]|地址|金额|金額"
)
_HE, _SHE = (
    re.compile(rf"(?<!\w)(?:{words})(?!\w)|{han}")
    for words, han in (
        ("he|him|his|he's|er|ihn|ihm|seine?[nmrs]?|él|su", "他"),
        ("she|her|hers|she's|sie|ihr|ihre[nmrs]?|ella|su", "她"),
    )
)
_FEWEST_OF_PART, _LONGEST_COMPOUND = 4, 40
_NEARNESS = ("similarity", "nearness", "nearness_of_message", "spread", "rank", "ahead")
_MATCH = ("match", "match_spread", "match_rank", "match_ahead")
FEATURES: tuple[str, ...] = (
    *(
        "ahead",
        "inside",
        "points",
        "another_day",
        "to_be_told",
        "any_store",
        "everything",
        "own_words",
        "has_content",
        "said_private",
    ),
    *("length_of_request", "before_it", "after_it", "of_number", *(f"as_{kind}" for kind in _KINDS)),
    *(f"is_{where}" for where in _WHERE),
    *("back", "from_end", "last", "last_of_last", "first_after", "alone", "reply"),
    *("passing", "private", "question", "states", "digit", "length", "goes_on", "says_private", "private_before"),
    *(
        "gone_on",
        "heard",
        "more_private",
        "topic_known",
        "share_topic",
        "share_sentence",
        "share_message",
        "most_of_topic",
    ),
    *("most_of_sentence", "names", "number_asked", "same_person", *_NEARNESS, *_MATCH, "names_told"),
)
"""The names of the features, in the order of the numbers that the trees know."""
Judge = Callable[[Kind, str, Vector | None, str], float]


@dataclass(frozen=True, slots=True)
class Vectors:
    """The vectors of an embedding model: of the request, of its message and of the words by which it names something
    (`named_by`) as queries, of statements as passages."""

    name: str
    request: Vector
    message: Vector
    named: Vector
    statements: Mapping[str, Vector]


def named_by(sentence: str, language: str, asks: Asked) -> str:
    """The words by which a request names what it means, and where there are none the whole."""
    return topic_of(sentence, language, asks) or sentence


def features(
    request: ForgetRequest,
    heard: Sequence[Heard],
    language: str,
    vectors: Vectors | None,
    usual: Vector,
    matching: Matching | None,
    judge: Judge = odds_of_kind,
) -> Vector:
    """The numbers by which each statement is judged, (statements, features), in the order of `FEATURES`.

    `usual` and `matching` are those of the model by which the vectors are. `judge` says how likely a text is of a kind.
    """
    asking = forgetting_asked([request.sentence], LikelyRequest(request.sentence, 0, (request.sentence,)), language)
    of_request = _of_request(request, asking, language, vectors, judge)
    meanings = [meaning_of(each.text, language) for each in heard]
    of_texts = [meaning.terms for meaning in meanings]
    message = " ".join((*request.before, request.sentence, *request.after))
    shares = [
        shares_of(words, of_texts, language)
        for words in (
            request.topic or asking.topic,
            topic_of(request.sentence, language),
            topic_of(message[:600], language),
        )
    ]
    nearness, matches = _nearness(heard, vectors, usual), _matches(heard, vectors, usual, matching)
    of_statements = [_of_statement(each, vectors, judge) for each in heard]
    privacy = [each["private"] for each in of_statements]
    names = meaning_of(request.sentence, language).names
    rows = []
    for number, each in enumerate(heard):
        share = [of_words[number] for of_words in shares]
        rows.append(
            of_request
            | _of_place(each)
            | of_statements[number]
            | {
                "heard": math.log(len(heard)) / 3,
                "more_private": min(sum(other > privacy[number] for other in privacy), 6) / 3,
                "topic_known": float(max(shares[0], default=0) > 0),
                "share_topic": share[0],
                "share_sentence": share[1],
                "share_message": share[2],
                "most_of_topic": float(0 < share[0] == max(shares[0])),
                "most_of_sentence": float(0 < share[1] == max(shares[1])),
                "names": float(len(names & meanings[number].names)),
                "number_asked": of_request["of_number"] * float(any(map(str.isdigit, each.text))),
                "same_person": _same_person(request.sentence, each.text),
            }
            | nearness[number]
            | matches[number]
        )
    return np.array([[row[name] for name in FEATURES] for row in rows], np.float32).reshape(len(rows), len(FEATURES))


def _of_request(
    request: ForgetRequest, asking: ForgetRequest, language: str, vectors: Vectors | None, judge: Judge
) -> dict[str, float]:
    sentence = request.sentence
    vector, name = (None, "") if vectors is None else (vectors.request, vectors.name)
    own = topic_of(sentence, language)
    return {
        "ahead": _clipped(judge("ahead", sentence, vector, name)),
        "inside": _clipped(judge("inside", sentence, vector, name)),
        "points": float(points_back(sentence)),
        "another_day": float(is_of_another_day(sentence)),
        "to_be_told": float(is_to_be_told(sentence)),
        "any_store": float(is_of_any_store(sentence)),
        "everything": float(bool(everything_about(sentence))),
        "names_told": float(names_told(sentence)),
        "own_words": min(len(own.split()), 8) / 4,
        "has_content": float(asking.has_content),
        "said_private": float(is_private(sentence)),
        "length_of_request": _length(sentence),
        "before_it": min(len(request.before), 3) / 2,
        "after_it": min(len(request.after), 3) / 2,
        "of_number": float(_OF_NUMBER.search(aligned(sentence)) is not None),
        **{f"as_{kind}": float(request.kind == kind) for kind in _KINDS},
    }


def _of_place(heard: Heard) -> dict[str, float]:
    from_end = heard.count - 1 - heard.number
    is_last = from_end == 0 and heard.where in ("before", "earlier")
    return {
        **{f"is_{where}": float(heard.where == where) for where in _WHERE},
        "back": min(heard.back, 6) / 3,
        "from_end": min(from_end, 4) / 2,
        "last": float(is_last),
        "last_of_last": float(is_last and heard.back <= 1),
        "first_after": float(heard.where in ("after", "next") and heard.number == 0),
        "alone": float(heard.count == 1),
        "reply": float(heard.is_reply),
    }


def _of_statement(heard: Heard, vectors: Vectors | None, judge: Judge) -> dict[str, float]:
    text = heard.text
    vector = None if vectors is None else vectors.statements.get(text)
    return {
        "passing": _clipped(worth_model().by_words("passing", text)),
        "private": _clipped(judge("private", text, vector, "" if vectors is None else vectors.name)),
        "question": float(is_question(text)),
        "states": float(is_statement(text)),
        "digit": float(any(map(str.isdigit, text))),
        "length": _length(text),
        "goes_on": float(goes_on(text)),
        "says_private": float(is_private(text)),
        "private_before": float(is_private(heard.previous)),
        "gone_on": float(bool(heard.following) and goes_on(heard.following)),
    }


def shares_of(words: str, of_texts: Sequence[frozenset[str]], language: str) -> list[float]:
    """The share of words that each text has by its terms, of those that any has; the rarer ones weigh more. Without
    any, 0."""
    terms = meaning_of(words, language).terms if words else frozenset()
    if not terms:
        return [0.0] * len(of_texts)
    shared = [(of_text & terms) | _in_compounds(terms, of_text) for of_text in of_texts]
    counts = Counter(term for each in shared for term in each)
    weights = {term: math.log1p(len(of_texts) / count) for term, count in counts.items()}
    total = sum(weights.values()) or 1.0
    return [sum(weights[term] for term in each) / total for each in shared]


def _in_compounds(terms: frozenset[str], of_text: frozenset[str]) -> frozenset[str]:
    """The terms with which a longer word of a text begins or ends: "Hahn" is meant by "Haupthahn", too."""
    compounds = [word for word in of_text if len(word) <= _LONGEST_COMPOUND]
    ends = [(word, length) for word in compounds for length in range(_FEWEST_OF_PART, len(word) - 2)]
    return terms & {part for word, length in ends for part in (word[:length], word[-length:])}


def _nearness(heard: Sequence[Heard], vectors: Vectors | None, usual: Vector) -> list[dict[str, float]]:
    """How near each statement is to the request in meaning, apart from what all requests have in common."""
    if vectors is None:
        return [dict.fromkeys(_NEARNESS, 0.0)] * len(heard)
    nothing = np.zeros_like(vectors.request)
    rows = np.stack([vectors.statements.get(each.text, nothing) for each in heard])
    plain = rows @ vectors.request
    own = rows @ (vectors.request - (vectors.request @ usual) * usual)
    of_message = rows @ (vectors.message - (vectors.message @ usual) * usual)
    spread = (own - own.mean()) / (own.std() + 0.02)
    best, second = ([*np.sort(own)[::-1], 0.0])[:2]
    return [
        {
            "similarity": 3 * float(plain[number]),
            "nearness": 3 * float(own[number]),
            "nearness_of_message": 3 * float(of_message[number]),
            "spread": float(spread[number]) / 2,
            "rank": min(int((own > own[number]).sum()), 6) / 3,
            "ahead": 3 * float(own[number] - (second if own[number] == best else best)),
        }
        for number in range(len(heard))
    ]


def _matches(
    heard: Sequence[Heard], vectors: Vectors | None, usual: Vector, matching: Matching | None
) -> list[dict[str, float]]:
    """How well each statement answers to the request, by itself and beside the others; the request is none of them."""
    others = [number for number, each in enumerate(heard) if each.where != "own" and each.text]
    if vectors is None or matching is None or not others:
        return [dict.fromkeys(_MATCH, 0.0)] * len(heard)
    nothing = np.zeros_like(vectors.request)
    rows = np.stack([vectors.statements.get(each.text, nothing) for each in heard])
    request = vectors.request - (vectors.request @ usual) * usual
    scores = matching.scores(request, vectors.named, rows)
    of_others = scores[others]
    best, second = ([*np.sort(of_others)[::-1].tolist(), float(of_others.min())])[:2]
    return [
        {
            "match": float(scores[number]),
            "match_spread": float((scores[number] - of_others.mean()) / (of_others.std() + 0.2)),
            "match_rank": min(int((of_others > scores[number]).sum()), 8),
            "match_ahead": float(scores[number]) - (second if scores[number] == best else best),
        }
        for number in range(len(heard))
    ]


def _same_person(request: str, text: str) -> float:
    """1 where both speak of him, or of her; -1 where each speaks of another."""
    asked, told = aligned(request), aligned(text)
    his, hers = ((bool(of.search(asked)), bool(of.search(told))) for of in (_HE, _SHE))
    if all(his) or all(hers):
        return 1.0
    return -1.0 if (his[0] and hers[1]) or (hers[0] and his[1]) else 0.0


def _length(text: str) -> float:
    return min(len(text) * (_CHARS_OF_HAN if _HAN.search(text) else 1.0), _MOST_CHARS) / 100


def _clipped(odds: float) -> float:
    return min(max(odds, -_MOST_ODDS), _MOST_ODDS) / 2
