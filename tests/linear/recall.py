"""How the functions of search, injection and the prompt are called with a text of somebody's."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from tests.growth import Reading

from reverie_indexer import chunk
from reverie_server.recall import (
    context,
    controls,
    episodes,
    evidence,
    fences,
    inject,
    meaning,
    rank,
    request,
    section,
    telling,
    tokens,
    trivial,
)

DAY = date(2026, 4, 3)
NOTE = "memory/2026-04-03.md"
LIMITS = context.Limits(today_max_tokens=2000, recent_max_tokens=2000)
COUNT = tokens.estimate_tokens


def _files(text: str) -> context.PromptFiles:
    return context.PromptFiles(
        shared=[context.PromptFile("AGENTS.md", text), context.PromptFile("SOUL.md", "# Soul")],
        personal=[context.PromptFile("PROFILE.md", text + "x"), context.PromptFile("MEMORY.md", text)],
        notes={DAY: text, date(2026, 4, 2): text},
        today=DAY,
    )


def _candidates(text: str) -> list[section.Candidate]:
    """As search gives them: passages are bounded, and so is their number."""
    pieces = [piece.text for piece in chunk.chunk(text[:20_000])][:20]
    return [section.Candidate(i, "document", NOTE, DAY, piece, 0.9, 0.9) for i, piece in enumerate(pieces)]


def _select(text: str) -> object:
    held = section.Held([text, "something else"], frozenset({"x.md"}))
    return section.fit(section.select(_candidates(text), 0.5, held), "notice", 500, COUNT)


TABLE: Mapping[str, Reading] = {
    "reverie_server.recall.context.caller_prompt": context.caller_prompt,
    "reverie_server.recall.context.stable_parts": lambda text: context.stable_parts(
        text[: len(text) // 2], _files(text)
    ),
    "reverie_server.recall.context.note_parts": lambda text: context.note_parts(
        _files(text), LIMITS, COUNT, text.splitlines()
    ),
    "reverie_server.recall.context.card_parts": lambda text: context.card_parts([text, "a"], COUNT),
    "reverie_server.recall.context.card_parts:lines": lambda text: context.card_parts(text.splitlines(), COUNT),
    "reverie_server.recall.context.log_lines": lambda text: context.log_lines(_files(text)),
    "reverie_server.recall.context.system_prompt": lambda text: context.system_prompt(
        context.stable_parts("", _files(text)), text
    ),
    "reverie_server.recall.context.sections": lambda text: context.sections([context.Part("a", text)], COUNT),
    "reverie_server.recall.context.says_nothing": context.says_nothing,
    "reverie_server.recall.episodes.only_repeats": lambda text: episodes.only_repeats(
        text[:2000], [text], [text[:2000]]
    ),
    "reverie_server.recall.episodes.sayings_of": episodes.sayings_of,
    "reverie_server.recall.episodes.of_episode": lambda text: episodes.of_episode(text, text[: len(text) // 2]),
    "reverie_server.recall.episodes.text_of:episodic": lambda text: episodes.text_of(text, "episodic"),
    "reverie_server.recall.episodes.text_of": lambda text: episodes.text_of(text, "document"),
    "reverie_server.recall.evidence.speakers_of": lambda text: evidence.speakers_of([text, text[1:]]),
    "reverie_server.recall.evidence.named_speakers": lambda text: evidence.named_speakers(
        text, ["ada", "ada", text, text]
    ),
    "reverie_server.recall.controls.without_controls": controls.without_controls,
    "reverie_server.recall.fences.fold_marks": fences.fold_marks,
    "reverie_server.recall.fences.for_prompt": fences.for_prompt,
    "reverie_server.recall.fences.without_tags": lambda text: fences.without_tags(text, ("memory_context", "data")),
    "reverie_server.recall.fences.neutralise": fences.neutralise,
    "reverie_server.recall.fences.strip_injected": fences.strip_injected,
    "reverie_server.recall.fences.is_summary": fences.is_summary,
    "reverie_server.recall.inject._queries": lambda text: inject._queries(
        inject.InjectRequest(text, recent_user_messages=[text, text]), "english"
    ),
    "reverie_server.recall.meaning.meaning_of": meaning.meaning_of,
    "reverie_server.recall.rank.holds_exact": lambda text: rank.holds_exact("a.md", text, ("a_b", "proj-1")),
    "reverie_server.text.query.check_query": request.check_query,
    "reverie_server.text.query.check_not_blank": request.check_not_blank,
    "reverie_server.recall.section.select": _select,
    "reverie_server.recall.section.shown_text": lambda text: section.shown_text(text, DAY),
    "reverie_server.recall.section.notice_of": section.notice_of,
    "reverie_server.recall.telling.shortened": telling.shortened,
    "reverie_server.recall.telling.telling_sentences": telling.telling_sentences,
    "reverie_server.recall.telling.with_recent": lambda text: telling.with_recent(text, [text, text]),
    "reverie_server.recall.tokens.estimate_tokens": tokens.estimate_tokens,
    "reverie_server.recall.tokens.message_tokens": lambda text: tokens.message_tokens(text, {"a": text}, COUNT),
    "reverie_server.recall.trivial.is_trivial": trivial.is_trivial,
    "reverie_server.recall.trivial.read": trivial.read,
    "reverie_server.recall.trivial.outside_code": trivial.outside_code,
    "reverie_server.recall.trivial.outside_code:trace": lambda text: trivial.outside_code(
        f'  File "a", line 1\n{text}'
    ),
    "reverie_server.recall.trivial.bare": trivial.bare,
    "reverie_server.recall.trivial.unmeant": trivial.unmeant,
    "reverie_server.recall.trivial.content_runs": trivial.content_runs,
}

_NUMBERS = "columns of numbers, bounded by the candidates of a search"
EXEMPT: Mapping[str, str] = {
    "reverie_server.recall.evidence.gather": _NUMBERS,
    "reverie_server.recall.evidence.agreement": "one look into a set",
    "reverie_server.recall.pool.held_terms": _NUMBERS,
    "reverie_server.recall.rank.effective_weights": _NUMBERS,
    "reverie_server.recall.rank.producing_terms": "counts of terms, one pass",
    "reverie_server.recall.rank.relevance": _NUMBERS,
    "reverie_server.recall.rank.usual_similarity": _NUMBERS,
    "reverie_server.recall.rank.score": _NUMBERS,
    "reverie_server.recall.rank.select": _NUMBERS,
    "reverie_server.recall.repeats.may_repeat": "tiers and paths of the candidates",
    "reverie_server.recall.repeats.repeated": "pairs of at most twenty passages, each by daily_log.repeats",
    "reverie_server.recall.section.fit": "measured with select, whose entries it takes",
    "reverie_server.recall.section.section": "measured with select, whose entries it takes",
    "reverie_server.recall.tokens.load_tokenizer": "reads a file of the operator's",
    "reverie_server.recall.expand.surroundings": "at most six lengths",
}
