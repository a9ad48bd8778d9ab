"""How the functions that hold a model's words to what was said are called with a text of somebody's."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime

from tests.growth import Reading

from reverie_server.episodes import make as episode_making
from reverie_server.heuristics import grounding, grounding_names, grounding_vocabulary, grounding_words, orders
from reverie_server.sessions.model import Message

AT = datetime(2026, 4, 3, tzinfo=UTC)
KNOWN = grounding.Sources.of_texts(["Ada moved the review of Zephyr to Oslo on 3 April."], [date(2026, 4, 3)])


def _messages(text: str) -> list[Message]:
    half = len(text) // 2
    return [Message(1, "user", text[:half], AT, 1), Message(2, "assistant", text[half:], AT, 1)]


def _without_refused(text: str) -> object:
    return grounding.without_refused(text, text[: len(text) // 2], KNOWN, about_user=True)


def _neighbourhoods(text: str) -> grounding_names.Neighbourhoods:
    near = grounding_names.Neighbourhoods()
    near.add(text, is_users=True)
    near.add_speaker(text[:1000])
    return near


TABLE: Mapping[str, Reading] = {
    "reverie_server.heuristics.orders.why_order": orders.why_order,
    "reverie_server.heuristics.orders.why_order:duty": lambda text: orders.why_order(text, is_duty=True),
    "reverie_server.heuristics.grounding.Sources.why_not": lambda text: KNOWN.why_not(text, about_user=False),
    "reverie_server.heuristics.grounding.Sources.why_not:sources": lambda text: grounding.Sources(
        _messages(text), [text]
    ).why_not("Ada moved the review to Oslo.", about_user=True),
    "reverie_server.heuristics.grounding.Sources.why_invented": KNOWN.why_invented,
    "reverie_server.heuristics.grounding.Sources.why_unnamed": KNOWN.why_unnamed,
    "reverie_server.heuristics.grounding.Sources.why_addressed": KNOWN.why_addressed,
    "reverie_server.heuristics.grounding.Sources.of_texts": lambda text: grounding.Sources.of_texts([text]),
    "reverie_server.heuristics.grounding.refusal": lambda text: grounding.refusal(text, KNOWN, about_user=True),
    "reverie_server.heuristics.grounding.without_refused": _without_refused,
    "reverie_server.heuristics.grounding_names.capitalises_nouns": grounding_names.capitalises_nouns,
    "reverie_server.heuristics.grounding_names.Neighbourhoods.add": _neighbourhoods,
    "reverie_server.heuristics.grounding_names.Neighbourhoods.add_speaker": lambda text: _neighbourhoods(
        text[:9]
    ).add_speaker(text),
    "reverie_server.heuristics.grounding_names.Neighbourhoods.are_strangers": lambda text: _neighbourhoods(
        text
    ).are_strangers(grounding_words.content_of(text)),
    "reverie_server.heuristics.grounding_names.Neighbourhoods.have_together": lambda text: _neighbourhoods(
        text
    ).have_together(grounding_words.content_of(text).words),
    "reverie_server.heuristics.grounding_words.content_of": grounding_words.content_of,
    "reverie_server.heuristics.grounding_vocabulary.forms_of": grounding_vocabulary.forms_of,
    "reverie_server.heuristics.grounding_vocabulary.concepts_of": grounding_vocabulary.concepts_of,
    "reverie_server.heuristics.grounding_vocabulary.is_neutral": grounding_vocabulary.is_neutral,
    "reverie_server.heuristics.grounding_vocabulary.is_negative": grounding_vocabulary.is_negative,
    "reverie_server.heuristics.grounding_vocabulary.is_weekday": grounding_vocabulary.is_weekday,
    "reverie_server.heuristics.grounding_vocabulary.month_of": grounding_vocabulary.month_of,
    "reverie_server.heuristics.grounding_vocabulary.number_words": grounding_vocabulary.number_words,
    "reverie_server.heuristics.grounding_words.numbers_of": lambda text: list(grounding_words.numbers_of(text)),
    "reverie_server.heuristics.grounding_words.addresses_within": lambda text: grounding_words.addresses_within(
        text.split()
    ),
    "reverie_server.heuristics.grounding_vocabulary.agrees": grounding_vocabulary.agrees,
    "reverie_server.episodes.make.grounded_summary": lambda text: episode_making.grounded_summary(
        text, text[::2], [date(2026, 4, 3)]
    ),
    "reverie_server.episodes.make.without_sentences": lambda text: episode_making.without_sentences(
        text, lambda sentence: sentence[:1]
    ),
}
EXEMPT: Mapping[str, str] = {
    "reverie_server.heuristics.grounding_vocabulary.WordList.of": "reads a table of ours",
    "reverie_server.heuristics.grounding_vocabulary.WordList.has": "looks at the first 16 characters",
    "reverie_server.heuristics.grounding_words.Content.add": "unions of sets",
}
