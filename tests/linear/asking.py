"""Requests to remember and to forget in words that no pattern has, measured by text."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import numpy as np
from tests.growth import Reading

from reverie_server.forgetting import choice, cut_lines, possible_requests
from reverie_server.heuristics import sentence_model, worth_model
from reverie_server.heuristics.requests import (
    answer_style,
    confidences,
    fact_requests,
    for_others,
    forget_requests,
    in_play,
    lasting_instructions,
    likely_requests,
    mention_dates,
    not_to_be_kept,
    not_to_be_lost,
    past_days,
    recollections,
    request_kinds,
    request_model,
    request_reasons,
    requested_lines,
    said_again,
    said_before,
    secrecy,
    several,
    themes,
    updates,
    words_of_others,
)
from reverie_server.heuristics.requests.errands import is_errand
from reverie_server.heuristics.requests.going_on import goes_on, only_assents
from reverie_server.heuristics.requests.looks_like_forgetting import is_for_task, only_looks_like_it, told_topic
from reverie_server.heuristics.requests.spelled_out import spelled_out
from reverie_server.heuristics.requests.text_at_hand import is_of_text_at_hand, names_part_of_text, shows_draft
from reverie_server.search.asked import earlier_statements, features, heard, targets
from reverie_server.sessions.model import Message
from reverie_server.text.statement_spans import statements

_AT = datetime(2026, 4, 3, tzinfo=UTC)
_NOTHING = np.zeros(384, np.float32)
_E5 = "multilingual-e5-small"


def _forgetting(text: str) -> object:
    return likely_requests.forgetting_asked([text], likely_requests.LikelyRequest(text, 0, (text,)), "english")


def _asking(text: str) -> forget_requests.ForgetRequest:
    return forget_requests.ForgetRequest("told", text, "", (text,), (text,))


def _heard(text: str) -> list[heard.Heard]:
    """Many statements, and a long one."""
    said = heard.HeardMessage([text, f"{text} again"])
    return heard.heard_of(said, 0, [heard.HeardMessage(text.split("\n"))], text.split(" "))


def _before(text: str) -> heard.HeardBefore:
    """Many messages, and a long one."""
    page = [Message(number, "user", said, _AT, 1) for number, said in enumerate([*text.split("\n")[:100], text, text])]
    return heard.heard_before(page, len(page) - 1, lambda at: statements(page[at].content))


def _vectors(text: str) -> features.Vectors:
    return features.Vectors(_E5, _NOTHING, _NOTHING, _NOTHING, {text: _NOTHING})


def _features(text: str, vectors: features.Vectors) -> object:
    likeness = targets.models()["forget"][_E5].matching
    return features.features(_asking(text), _heard(text), "english", vectors, _NOTHING, likeness)


def _requested(text: str) -> object:
    message = Message(1, "user", text, _AT, 1)
    return requested_lines.requests_of([message], {each: (each,) for each in statements(text)})


TABLE: Mapping[str, Reading] = {
    "reverie_server.heuristics.requests.forget_requests.asks_contrary": forget_requests.asks_contrary,
    "reverie_server.heuristics.requests.going_on.goes_on": goes_on,
    "reverie_server.heuristics.requests.going_on.only_assents": only_assents,
    "reverie_server.heuristics.requests.secrecy.is_private": secrecy.is_private,
    "reverie_server.heuristics.requests.secrecy.only_confides": secrecy.only_confides,
    "reverie_server.heuristics.requests.themes.shares_theme": lambda text: themes.shares_theme(text, text),
    "reverie_server.heuristics.requests.past_days.past_days": lambda text: list(past_days.past_days(text, _AT.date())),
    "reverie_server.heuristics.requests.mention_dates.mention_date": lambda text: mention_dates.mention_date(
        text, _AT.date()
    ),
    "reverie_server.heuristics.requests.mention_dates.without_dates": lambda text: mention_dates.without_dates(
        text, _AT.date()
    ),
    "reverie_server.heuristics.requests.mention_dates.is_of_mention": mention_dates.is_of_mention,
    "reverie_server.search.asked.earlier_statements.weighed": lambda text: earlier_statements.weighed(
        [heard.NearStatement(text, _AT, text, text)], text, [text], "english", {text: 0.0}, {text: 0.0}
    ),
    "reverie_server.heuristics.requests.confidences.is_to_be_told": confidences.is_to_be_told,
    "reverie_server.heuristics.requests.confidences.is_of_any_store": confidences.is_of_any_store,
    "reverie_server.heuristics.requests.confidences.is_of_another_day": confidences.is_of_another_day,
    "reverie_server.heuristics.requests.confidences.is_told_just_now": confidences.is_told_just_now,
    "reverie_server.heuristics.requests.confidences.leans": lambda text: confidences.leans([text], text, text),
    "reverie_server.heuristics.requests.confidences.confided": lambda text: confidences.confided([[text]]),
    "reverie_server.heuristics.requests.confidences.says_last": confidences.says_last,
    "reverie_server.heuristics.requests.confidences.confided_once": lambda text: confidences.confided_once([[text]]),
    "reverie_server.heuristics.requests.forget_requests.everything_about": forget_requests.everything_about,
    "reverie_server.forgetting.cut_lines.cut_beginnings": lambda text: cut_lines.cut_beginnings(
        [f"Concluded: {text[at : at + 200]}…" for at in range(0, len(text), 200)], [text, *text.split("\n")]
    ),
    "reverie_server.forgetting.cut_lines.cut_beginnings:line": lambda text: cut_lines.cut_beginnings(
        [f"{text}…", f"Concluded: {text[:250]}…"], [text[:200], text]
    ),
    "reverie_server.forgetting.possible_requests.may_confirm": possible_requests.may_confirm,
    "reverie_server.forgetting.possible_requests.may_ask": lambda text: possible_requests.may_ask(
        [Message(seq=1, role="user", content=text, at=_AT, tokens=1)], None
    ),
    "reverie_server.forgetting.possible_requests.read_requests": possible_requests.read_requests,
    "reverie_server.heuristics.requests.request_kinds.opening": request_kinds.opening,
    "reverie_server.heuristics.requests.request_kinds.numbers": lambda text: request_kinds.numbers(
        "forget", text, {"forget": 0.0, "remember": 0.0}, []
    ),
    "reverie_server.heuristics.requests.request_kinds.asks": lambda text: request_kinds.asks(
        "forget", text, {"forget": 0.0, "remember": 0.0}, [], ""
    ),
    "reverie_server.heuristics.requests.request_kinds.odds": lambda text: request_kinds.odds("private", text, None, ""),
    "reverie_server.search.asked.features.features": lambda text: _features(text, _vectors(text)),
    "reverie_server.search.asked.targets.log_odds": lambda text: targets.log_odds(
        _asking(text), _heard(text), "english", None
    ),
    "reverie_server.search.asked.targets.nearest_first": lambda text: targets.nearest_first([text], _vectors(text)),
    "reverie_server.search.asked.features.named_by": lambda text: features.named_by(text, "english", "forget"),
    "reverie_server.heuristics.requests.forget_requests.names_told": forget_requests.names_told,
    "reverie_server.search.asked.heard.heard_of": _heard,
    "reverie_server.search.asked.heard.heard_before": _before,
    "reverie_server.search.asked.heard.heard_at": lambda text: heard.heard_at(
        [Message(1, "assistant", text, _AT, 1), Message(2, "user", text, _AT, 1)], 1, [text]
    ),
    "reverie_server.heuristics.requests.confidences.told_next": lambda text: confidences.told_next([text, text]),
    "reverie_server.heuristics.requests.likely_requests.likely_requests": lambda text: likely_requests.likely_requests(
        "forget", [text]
    ),
    "reverie_server.heuristics.requests.likely_requests.forgetting_asked": _forgetting,
    "reverie_server.heuristics.requests.likely_requests.remembering_asked": likely_requests.remembering_asked,
    "reverie_server.heuristics.requests.likely_requests.names_forgetting": likely_requests.names_forgetting,
    "reverie_server.heuristics.requests.likely_requests.speaks_of_forgetting": likely_requests.speaks_of_forgetting,
    "reverie_server.heuristics.requests.likely_requests.parts_of": likely_requests.parts_of,
    "reverie_server.heuristics.requests.likely_requests.sounds_like_forgetting": likely_requests.sounds_like_forgetting,
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
    "reverie_server.heuristics.requests.looks_like_forgetting.only_looks_like_it": only_looks_like_it,
    "reverie_server.heuristics.requests.looks_like_forgetting.is_for_task": is_for_task,
    "reverie_server.heuristics.requests.looks_like_forgetting.told_topic": lambda text: told_topic(text, text),
    "reverie_server.heuristics.requests.not_to_be_kept.asks_not_to_keep": not_to_be_kept.asks_not_to_keep,
    "reverie_server.heuristics.requests.errands.is_errand": is_errand,
    "reverie_server.heuristics.requests.not_to_be_kept.contrary_start": not_to_be_kept.contrary_start,
    "reverie_server.heuristics.requests.not_to_be_lost.is_not_to_be_lost": not_to_be_lost.is_not_to_be_lost,
    "reverie_server.heuristics.requests.spelled_out.spelled_out": spelled_out,
    "reverie_server.heuristics.requests.text_at_hand.shows_draft": shows_draft,
    "reverie_server.heuristics.requests.text_at_hand.names_part_of_text": names_part_of_text,
    "reverie_server.heuristics.requests.text_at_hand.is_of_text_at_hand": lambda text: is_of_text_at_hand(
        text, statements(text)
    ),
    "reverie_server.heuristics.requests.recollections.only_recalls": recollections.only_recalls,
    "reverie_server.heuristics.requests.answer_style.is_of_style": answer_style.is_of_style,
    "reverie_server.heuristics.requests.several.several_in": several.several_in,
    "reverie_server.heuristics.requests.several.announced_at": lambda text: several.announced_at(text, len(text) // 2),
    "reverie_server.heuristics.requests.several.last_of": lambda text: several.last_of([(text, 1), (text, 1)], 3),
    "reverie_server.heuristics.requests.lasting_instructions.has_instruction": lasting_instructions.has_instruction,
    "reverie_server.heuristics.requests.lasting_instructions.instruction_end": lambda text: (
        lasting_instructions.instruction_end(text, 0)
    ),
    "reverie_server.heuristics.requests.updates.update_asked": lambda text: updates.update_asked(text, 0, len(text)),
    "reverie_server.heuristics.requests.request_reasons.has_reason_alone": lambda text: (
        request_reasons.has_reason_alone(text, 0, len(text))
    ),
    "reverie_server.heuristics.requests.request_reasons.statement_behind_reason": lambda text: (
        request_reasons.statement_behind_reason(text, 0, len(text))
    ),
    "reverie_server.heuristics.requests.request_reasons.end_before_request": lambda text: (
        request_reasons.end_before_request(text, 0, len(text))
    ),
    "reverie_server.heuristics.requests.words_of_others.asks_for_work": words_of_others.asks_for_work,
    "reverie_server.forgetting.choice.with_evidence": lambda text: choice.with_evidence(
        forget_requests.ForgetRequest("told", text, "", (), ()),
        [heard.Heard(text, "memory")],
        [text],
        frozenset(),
        {text: 0.6},
    ),
    "reverie_server.forgetting.choice.names_earlier": choice.names_earlier,
    "reverie_server.forgetting.choice.of_what_is_named": lambda text: choice.of_what_is_named(
        forget_requests.ForgetRequest("told", text, "", (), ()), [heard.Heard(text, "memory")], [text], [], frozenset()
    ),
    "reverie_server.forgetting.choice.message_before": lambda text: choice.message_before(
        forget_requests.ForgetRequest("message", text, "", (text,), ()), [heard.HeardMessage([text])]
    ),
    "reverie_server.forgetting.possible_requests.not_of_text": lambda text: possible_requests.not_of_text(
        [_asking(text)], text, text
    ),
    "reverie_server.heuristics.requests.in_play.played": in_play.played,
    "reverie_server.heuristics.requests.for_others.is_for_somebody_else": for_others.is_for_somebody_else,
    "reverie_server.heuristics.requests.words_of_others.others_words": words_of_others.others_words,
    "reverie_server.heuristics.requests.words_of_others.own_statements": words_of_others.own_statements,
    "reverie_server.heuristics.requests.words_of_others.own_words": words_of_others.own_words,
    "reverie_server.heuristics.requests.request_model.words_of": request_model.words_of,
    "reverie_server.heuristics.requests.request_model.by_words": lambda text: request_model.by_words("forget", text),
    "reverie_server.heuristics.requests.request_model.is_worth_a_vector": lambda text: request_model.is_worth_a_vector(
        "remember", text
    ),
    "reverie_server.heuristics.requests.request_model.by_meaning": lambda text: request_model.by_meaning(
        "forget", text, _NOTHING, _E5
    ),
    "reverie_server.heuristics.requests.requested_lines.ended": requested_lines.ended,
    "reverie_server.heuristics.requests.requested_lines.requests_of": _requested,
    "reverie_server.heuristics.requests.requested_lines.begins_with_pronoun": requested_lines.begins_with_pronoun,
    "reverie_server.heuristics.requests.fact_requests.place_of": lambda text: fact_requests.place_of(1, [text, text]),
    "reverie_server.heuristics.requests.said_before.points_back": said_before.points_back,
    "reverie_server.heuristics.requests.said_before.what_was_said": said_before.what_was_said,
    "reverie_server.heuristics.requests.said_again.said_again": lambda text: said_again.said_again(text, [text]),
    "reverie_server.heuristics.requests.said_again.promises_last": lambda text: said_again.promises_last(
        text, text, text
    ),
    "reverie_server.heuristics.requests.requested_lines.is_request_alone": requested_lines.is_request_alone,
    "reverie_server.heuristics.requests.requested_lines.asks_for_previous": requested_lines.asks_for_previous,
}
EXEMPT: Mapping[str, str] = {
    "reverie_server.heuristics.requests.request_model.is_han": "a word",
    "reverie_server.heuristics.requests.request_model.is_of_request": "a word",
    "reverie_server.heuristics.requests.request_model.knows": "a model's name",
    "reverie_server.search.asked.targets.knows": "a model's name",
    "reverie_server.search.asked.targets.among": "numbers",
    "reverie_server.forgetting.choice.far_ahead": "numbers",
    "reverie_server.forgetting.choice.likeliest_of_last": "numbers, by texts that were parted before",
    "reverie_server.forgetting.choice.last_pointed_at": "numbers, by texts that were parted before",
    "reverie_server.search.asked.earlier_statements.meant_of": "what was weighed",
    "reverie_server.search.asked.features.shares_of": "terms of texts that were parted before, by words of a request",
    "reverie_server.search.asked.matching.Matching.scores": "numbers",
    "reverie_server.search.asked.matching.read_matching": "our own file",
    "reverie_server.heuristics.trees.Trees.log_odds": "numbers",
    "reverie_server.heuristics.trees.read_trees": "our own file",
    "reverie_server.heuristics.trees.read_floats": "our own file",
    "reverie_server.heuristics.requests.request_kinds.within": "a number",
    "reverie_server.heuristics.sentence_model.packed": "weights",
    "reverie_server.heuristics.sentence_model.read_model": "our own file",
    "reverie_server.heuristics.sentence_model.SentenceModel.knows": "a model's name",
}
