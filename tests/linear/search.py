"""How the functions of search, injection and the prompt are called with a text of somebody's."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime

from tests.growth import Reading

from reverie_indexer.text import chunk
from reverie_server.heuristics import own_question, past, small_talk
from reverie_server.heuristics.fact_sentences import sentence_key
from reverie_server.inject import headings, inject, query_expansion, section
from reverie_server.prompt import context, fitting, marking
from reverie_server.search import (
    empty_talk,
    episode_passages,
    evidence,
    filters,
    owner_names,
    query_terms,
    rank,
    superseded_text,
)
from reverie_server.search.request import SearchRequest
from reverie_server.text import controls, fences, front_matter, query, tokens

DAY = date(2026, 4, 3)
NOTE = "memory/2026-04-03.md"
LIMITS = context.Limits(today_max_tokens=2000, recent_max_tokens=2000)
COUNT = tokens.estimate_tokens


class _Everything(dict[bytes, superseded_text.Superseded]):
    """Every sentence is superseded."""

    def __contains__(self, key: object) -> bool:
        return True

    def __bool__(self) -> bool:
        return True

    def get(self, *_: object) -> superseded_text.Superseded:  # type: ignore[override]
        return superseded_text.Superseded(1, datetime(2026, 4, 3, tzinfo=UTC), 2)


_ALL_SUPERSEDED = _Everything()


def _files(text: str) -> context.PromptFiles:
    return context.PromptFiles(
        shared=[context.PromptFile("AGENTS.md", text), context.PromptFile("SOUL.md", "# Soul")],
        personal=[context.PromptFile("PROFILE.md", text + "x"), context.PromptFile("MEMORY.md", text)],
        notes={DAY: text, date(2026, 4, 2): text},
        today=DAY,
    )


def _memories(text: str) -> list[section.FoundMemory]:
    """As search gives them: passages are bounded, and so is their number."""
    pieces = [piece.text for piece in chunk.chunk(text[:20_000])][:20]
    return [section.FoundMemory(i, "document", NOTE, DAY, piece, 0.9, 0.9, 0.9) for i, piece in enumerate(pieces)]


def _select(text: str) -> object:
    prompt = section.PromptContents([text, "something else"], frozenset({"x.md"}))
    return section.fit(section.select(_memories(text), 0.5, prompt), "notice", 500, COUNT)


def _known_sentences(text: str) -> object:
    known = headings.KnownSentences()
    passages = headings.passages_of(text)
    for passage in passages:
        known.add(passage)
        known.add_whole(passage)
    return [(known.keys_in(passage), known.has_whole(passage)) for passage in passages]


TABLE: Mapping[str, Reading] = {
    "reverie_server.search.filters.tag_pattern": filters.tag_pattern,
    "reverie_server.text.front_matter.front_matter_tags": front_matter.front_matter_tags,
    "reverie_server.text.front_matter.normal_tag": front_matter.normal_tag,
    "reverie_server.prompt.context.caller_prompt": context.caller_prompt,
    "reverie_server.prompt.context.stable_parts": lambda text: context.stable_parts(
        text[: len(text) // 2], _files(text), 1000, COUNT
    ),
    "reverie_server.prompt.context.note_parts": lambda text: context.note_parts(
        _files(text), LIMITS, COUNT, text.splitlines()
    ),
    "reverie_server.prompt.fitting.shortened": lambda text: fitting.shortened([text, text[:99]], 200, COUNT),
    "reverie_server.prompt.fitting.newest_fitting": lambda text: fitting.newest_fitting(text.split("\n"), 200, COUNT),
    "reverie_server.prompt.context.card_parts": lambda text: context.card_parts([text, "a"], COUNT),
    "reverie_server.prompt.context.card_parts:lines": lambda text: context.card_parts(text.splitlines(), COUNT),
    "reverie_server.prompt.context.log_lines": lambda text: context.log_lines(_files(text)),
    "reverie_server.prompt.context.system_prompt": lambda text: context.system_prompt(
        context.stable_parts("", _files(text), 1_000_000, COUNT)[0], text
    ),
    "reverie_server.prompt.context.sections": lambda text: context.sections([context.Part("a", text)], text, COUNT),
    "reverie_server.prompt.context.says_nothing": context.says_nothing,
    "reverie_server.search.episode_passages.sentences_of": episode_passages.sentences_of,
    "reverie_server.search.episode_passages.episode_text": lambda text: episode_passages.episode_text(
        text, text[: len(text) // 2]
    ),
    "reverie_server.search.episode_passages.statement_text:episodic": lambda text: episode_passages.statement_text(
        text, "episodic"
    ),
    "reverie_server.search.episode_passages.statement_text": lambda text: episode_passages.statement_text(
        text, "document"
    ),
    "reverie_server.search.evidence.speakers_of": lambda text: evidence.speakers_of([text, text[1:]]),
    "reverie_server.search.evidence.speaker_of": evidence.speaker_of,
    "reverie_server.search.evidence.named_speakers": lambda text: evidence.named_speakers(
        text, ["ada", "ada", text, text]
    ),
    "reverie_server.text.controls.without_controls": controls.without_controls,
    "reverie_server.text.fences.fold_marks": fences.fold_marks,
    "reverie_server.text.fences.for_prompt": fences.for_prompt,
    "reverie_server.text.fences.without_tags": lambda text: fences.without_tags(text, ("memory_context", "data")),
    "reverie_server.text.fences.neutralise": fences.neutralise,
    "reverie_server.text.fences.strip_injected": fences.strip_injected,
    "reverie_server.text.fences.is_summary": fences.is_summary,
    "reverie_server.inject.inject._queries": lambda text: inject._queries(
        inject.InjectRequest(text, recent_user_messages=[text, text]), "english"
    ),
    "reverie_server.search.owner_names.given_names": lambda text: owner_names.given_names([text[:256]] * 4),
    "reverie_server.search.owner_names.without_names": lambda text: owner_names.without_names(
        text, ["ada", text[:20], "文静"], "english"
    ),
    "reverie_server.search.owner_names.named_in": lambda text: owner_names.named_in(text, ["ada", text[:20]]),
    "reverie_server.search.owner_names.of_owner": lambda text: owner_names.of_owner(
        SearchRequest("t", "a", text, vector_query=text), ["ada"], "english"
    ),
    "reverie_server.search.query_terms.meaning_of": query_terms.meaning_of,
    "reverie_server.search.rank.holds_exact": lambda text: rank.holds_exact("a.md", text, ("a_b", "proj-1")),
    "reverie_server.text.query.check_query": query.check_query,
    "reverie_server.text.query.check_not_blank": query.check_not_blank,
    "reverie_server.inject.section.select": _select,
    "reverie_server.inject.section.folded": section.folded,
    "reverie_server.inject.section.contains_words": lambda text: section.contains_words(text, text[:20]),
    "reverie_server.inject.headings.KnownSentences.add": _known_sentences,
    "reverie_server.inject.headings.KnownSentences.add_whole": _known_sentences,
    "reverie_server.inject.headings.KnownSentences.keys_in": _known_sentences,
    "reverie_server.inject.headings.KnownSentences.has_whole": _known_sentences,
    "reverie_server.inject.headings.speaks_of_oneself": headings.speaks_of_oneself,
    "reverie_server.inject.headings.passages_of": headings.passages_of,
    "reverie_server.inject.headings.titles_above": lambda text: list(headings.titles_above(text.split("\n"))),
    "reverie_server.inject.headings.telling": lambda text: headings.telling([text, "Ada"]),
    "reverie_server.inject.headings.needed_titles": lambda text: headings.needed_titles(text, [text, "Ada"]),
    "reverie_server.inject.headings.is_same": lambda text: headings.is_same(text, ("ada",), headings.telling([text])),
    "reverie_server.inject.section.one_line_text": lambda text: section.one_line_text(text, DAY),
    "reverie_server.inject.section.notice_of": section.notice_of,
    "reverie_server.inject.section.line_of": lambda text: section.line_of(DAY, NOTE, text),
    "reverie_server.inject.query_expansion.shortened": query_expansion.shortened,
    "reverie_server.inject.query_expansion.salient_sentences": query_expansion.salient_sentences,
    "reverie_server.inject.query_expansion.with_recent_messages": lambda text: query_expansion.with_recent_messages(
        text, [text, text]
    ),
    "reverie_server.search.superseded_text.places_of": lambda text: superseded_text.places_of(1, text),
    "reverie_server.search.superseded_text.without_said": lambda text: superseded_text.without_said(
        text, {sentence_key("I live in Kiel.")}
    ),
    "reverie_server.search.superseded_text.current_text": lambda text: [
        superseded_text.current_text(text, _ALL_SUPERSEDED, marked=marked) for marked in (True, False)
    ],
    "reverie_server.heuristics.own_question.asks_about_self": own_question.asks_about_self,
    "reverie_server.search.empty_talk.asks_assistant": empty_talk.asks_assistant,
    "reverie_server.search.empty_talk.is_courtesy": lambda text: empty_talk.is_courtesy(text, "english"),
    "reverie_server.heuristics.past.asks_about_past": past.asks_about_past,
    "reverie_server.prompt.marking.has_superseded": lambda text: marking.has_superseded(text, {}),
    "reverie_server.prompt.marking.marked_text": lambda text: marking.marked_text(text, lambda _: _ALL_SUPERSEDED, ()),
    "reverie_server.prompt.marking.without_repeats": lambda text: marking.without_repeats(
        [context.Part(name, text) for name in ("shared_files", "profile", "long_term_memory", "recent_context")]
    ),
    "reverie_server.text.tokens.estimate_tokens": tokens.estimate_tokens,
    "reverie_server.text.tokens.message_tokens": lambda text: tokens.message_tokens(text, {"a": text}, COUNT),
    "reverie_server.heuristics.small_talk.is_small_talk": small_talk.is_small_talk,
    "reverie_server.heuristics.small_talk.says_nothing": small_talk.says_nothing,
    "reverie_server.heuristics.small_talk.read": small_talk.read,
    "reverie_server.heuristics.small_talk.outside_code": small_talk.outside_code,
    "reverie_server.heuristics.small_talk.outside_code:trace": lambda text: small_talk.outside_code(
        f'  File "a", line 1\n{text}'
    ),
    "reverie_server.heuristics.small_talk.bare": small_talk.bare,
    "reverie_server.heuristics.small_talk.meaningless_words": small_talk.meaningless_words,
    "reverie_server.heuristics.small_talk.content_runs": small_talk.content_runs,
}

_PASSAGE = "a passage, which is bounded, by keyed_sentences"
_NUMBERS = "columns of numbers, bounded by the candidates of a search"
EXEMPT: Mapping[str, str] = {
    "reverie_server.search.request.request_for": "hands the query on; check_query bounds it",
    "reverie_server.search.request.rules_for": "takes a grant and rules",
    "reverie_server.search.evidence.context_evidence": _NUMBERS,
    "reverie_server.search.evidence.speaker_match": "one look into a set",
    "reverie_server.search.candidates.term_matrix": _NUMBERS,
    "reverie_server.search.copies.compared_rows": _NUMBERS,
    "reverie_server.search.hot.held.joined": _NUMBERS,
    "reverie_server.search.hot.held.kept": _NUMBERS,
    "reverie_server.search.hot.held.norms_of": _NUMBERS,
    "reverie_server.search.hot.held.Positions.of": _NUMBERS,
    "reverie_server.search.hot.held.postings_joined": _NUMBERS,
    "reverie_server.search.hot.held.postings_of": _NUMBERS,
    "reverie_server.search.hot.held.postings_without": _NUMBERS,
    "reverie_server.search.hot.held.widened": _NUMBERS,
    "reverie_server.search.hot.propose.cosines": _NUMBERS,
    "reverie_server.search.hot.remembered.Remembered.without": "ids of passages, each looked up once",
    "reverie_server.search.hot.propose.frequencies": _NUMBERS,
    "reverie_server.search.hot.propose.propose_held": _NUMBERS,
    "reverie_server.search.hot.propose.wanted": _NUMBERS,
    "reverie_server.search.rank.effective_weights": _NUMBERS,
    "reverie_server.search.rank.producing_terms": "counts of terms, one pass",
    "reverie_server.search.candidates.files_with": "the paths of passages",
    "reverie_server.search.candidates.message_of": "the numbers of messages",
    "reverie_server.search.rank.are_files": "the paths of passages",
    "reverie_server.search.rank.with_quota": _NUMBERS,
    "reverie_server.search.relevance.personal_score": _NUMBERS,
    "reverie_server.search.relevance.relevance": _NUMBERS,
    "reverie_server.search.relevance.scale_of": "one look at a name",
    "reverie_server.search.labelled_messages.Direction.log_odds": _NUMBERS,
    "reverie_server.search.labelled_messages.direction_of": _NUMBERS,
    "reverie_server.search.labelled_messages.messages_in": "reads a file of ours",
    "reverie_server.search.labelled_messages.labelled_messages": "reads a file of ours",
    "reverie_server.search.calibration.scale.has_constants": "one look at a name",
    "reverie_server.search.calibration.scale.nearness_of": _NUMBERS,
    "reverie_server.search.calibration.scale.usual_between": _NUMBERS,
    "reverie_server.search.rerank.order.first": _NUMBERS,
    "reverie_server.search.rerank.order.reranked": _NUMBERS,
    "reverie_server.search.succession.put_in_order": _NUMBERS,
    "reverie_server.search.rank.score": _NUMBERS,
    "reverie_server.search.rank.select": _NUMBERS,
    "reverie_server.search.copies.ComparedTexts.folded": "a passage, which is bounded",
    "reverie_server.search.copies.ComparedTexts.statements": "a passage, which is bounded",
    "reverie_server.search.copies.equal_lines": "passages are bounded, as is what is looked for in how many of them",
    "reverie_server.search.copies.log_line": "a passage, which is bounded",
    "reverie_server.search.copies.scored_by": _NUMBERS,
    "reverie_server.search.copies.copies_by_original": _NUMBERS,
    "reverie_server.search.copies.log_parts_of": "a passage, which is bounded, by daily_log.parts_of",
    "reverie_server.search.derived_files.is_derived": "the path of a passage",
    "reverie_server.search.derived_files.is_long_term": "the path of a passage",
    "reverie_server.search.derived_files.is_diary": "the path of a passage",
    "reverie_server.search.derived_files.only_repeats": "the path of a passage",
    "reverie_server.search.succession.keyed": _PASSAGE,
    "reverie_server.search.succession.sentence_terms": _PASSAGE,
    "reverie_server.search.succession.superseded_of": _PASSAGE,
    "reverie_server.search.succession.is_matched_by_superseded": _PASSAGE,
    "reverie_server.search.succession.with_succession": _NUMBERS,
    "reverie_server.search.succession.with_predecessors": _NUMBERS,
    "reverie_server.search.superseded_text.until_text": "a date",
    "reverie_server.search.superseded_text.tells_of_others": "numbers and hashes",
    "reverie_server.search.superseded_text.ended_at": "numbers and hashes",
    "reverie_server.search.log_lines.log_rows": "the results of a search, by copies.log_parts_of",
    "reverie_server.inject.section.fit": "measured with select, whose entries it takes",
    "reverie_server.inject.section.fit_lines": "measured with fit",
    "reverie_server.inject.section.section": "measured with select, whose entries it takes",
    "reverie_server.text.tokens.load_tokenizer": "reads a file of the operator's",
    "reverie_server.browse.expand.surroundings": "at most six lengths",
}
