"""Requests to remember and to forget in words that no pattern has, measured by text."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np
from tests.growth import Reading

from reverie_server.forgetting import said
from reverie_server.heuristics import sentence_model, worth_model
from reverie_server.heuristics.requests import (
    confidences,
    forget_requests,
    likely_requests,
    request_model,
    requested_lines,
)
from reverie_server.sessions.model import Message
from reverie_server.text.statement_spans import statements

_AT = datetime(2026, 4, 3, tzinfo=UTC)
_NOTHING = np.zeros(384, np.float32)
_E5 = "multilingual-e5-small"


def _forgetting(text: str) -> object:
    return likely_requests.forgetting_asked([text], likely_requests.LikelyRequest(text, 0, (text,)), "english")


def _requested(text: str) -> object:
    message = Message(1, "user", text, _AT, 1)
    return requested_lines.requests_of([message], frozenset(statements(text)))


TABLE: Mapping[str, Reading] = {
    "reverie_server.heuristics.requests.forget_requests.asks_contrary": forget_requests.asks_contrary,
    "reverie_server.heuristics.requests.forget_requests.goes_on": forget_requests.goes_on,
    "reverie_server.heuristics.requests.confidences.is_private": confidences.is_private,
    "reverie_server.heuristics.requests.confidences.is_to_be_told": confidences.is_to_be_told,
    "reverie_server.heuristics.requests.confidences.is_of_any_store": confidences.is_of_any_store,
    "reverie_server.heuristics.requests.confidences.is_of_another_day": confidences.is_of_another_day,
    "reverie_server.heuristics.requests.confidences.last_matter": lambda text: confidences.last_matter([text, text]),
    "reverie_server.heuristics.requests.forget_requests.everything_about": forget_requests.everything_about,
    "reverie_server.forgetting.said.with_what_goes_on": lambda text: said.with_what_goes_on([text], [[text, text]]),
    "reverie_server.heuristics.requests.confidences.told_next": lambda text: confidences.told_next([text, text]),
    "reverie_server.heuristics.requests.confidences.confided": lambda text: confidences.confided([[text]]),
    "reverie_server.heuristics.requests.confidences.leans": lambda text: confidences.leans([text], text, text),
    "reverie_server.heuristics.requests.likely_requests.likely_requests": lambda text: likely_requests.likely_requests(
        "forget", [text]
    ),
    "reverie_server.heuristics.requests.likely_requests.forgetting_asked": _forgetting,
    "reverie_server.heuristics.requests.likely_requests.remembering_asked": likely_requests.remembering_asked,
    "reverie_server.heuristics.requests.likely_requests.speaks_of_forgetting": likely_requests.speaks_of_forgetting,
    "reverie_server.heuristics.requests.likely_requests.parts_of": likely_requests.parts_of,
    "reverie_server.heuristics.requests.likely_requests.points_back": likely_requests.points_back,
    "reverie_server.heuristics.requests.likely_requests.topic_of": lambda text: likely_requests.topic_of(
        text, "english"
    ),
    "reverie_server.heuristics.sentence_model.features": sentence_model.features,
    "reverie_server.heuristics.sentence_model.Words.score": worth_model.model().words["passing"].score,
    "reverie_server.heuristics.sentence_model.SentenceModel.by_words": lambda text: worth_model.model().by_words(
        "person", text
    ),
    "reverie_server.heuristics.sentence_model.SentenceModel.by_meaning": lambda text: worth_model.model().by_meaning(
        "passing", text, _NOTHING, _E5
    ),
    "reverie_server.heuristics.requests.request_model.words_of": request_model.words_of,
    "reverie_server.heuristics.requests.request_model.by_words": lambda text: request_model.by_words("forget", text),
    "reverie_server.heuristics.requests.request_model.is_worth_a_vector": lambda text: request_model.is_worth_a_vector(
        "remember", text
    ),
    "reverie_server.heuristics.requests.request_model.by_meaning": lambda text: request_model.by_meaning(
        "forget", text, _NOTHING, _E5
    ),
    "reverie_server.heuristics.requests.requested_lines.requests_of": _requested,
    "reverie_server.heuristics.requests.requested_lines.begins_with_pronoun": requested_lines.begins_with_pronoun,
    "reverie_server.heuristics.requests.requested_lines.is_request_alone": requested_lines.is_request_alone,
    "reverie_server.heuristics.requests.requested_lines.asks_for_previous": requested_lines.asks_for_previous,
}
EXEMPT: Mapping[str, str] = {
    "reverie_server.heuristics.requests.request_model.is_han": "a word",
    "reverie_server.heuristics.requests.request_model.is_of_request": "a word",
    "reverie_server.heuristics.requests.request_model.knows": "a model's name",
    "reverie_server.heuristics.sentence_model.packed": "weights",
    "reverie_server.heuristics.sentence_model.read_model": "our own file",
    "reverie_server.heuristics.sentence_model.SentenceModel.knows": "a model's name",
}
