"""How the functions of `consolidate` over conversations are called: episodes, extraction, the graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from tests.growth import Reading
from tests.linear.texts import MEMORY, NOW, count, lines_of_talk, message, talk, unchanged

from reverie_server.episodes import text as episode_text
from reverie_server.episodes import topics, unspaced_words
from reverie_server.extraction import propose as extraction_proposal
from reverie_server.extraction import text as extraction_text
from reverie_server.extraction.basis import language_of
from reverie_server.extraction.referents import Referents
from reverie_server.extraction.superseded import (
    KnownLine,
    facts_of,
    known_lines,
    outdated_lines,
    partly_outdated_lines,
    rest_of,
    supersede,
    without_lines,
)
from reverie_server.graph import answers as graph_answers
from reverie_server.graph import clauses, unspaced
from reverie_server.graph import derive as graph_derive
from reverie_server.graph import heuristics as graph_extractive
from reverie_server.graph import names as graph_names
from reverie_server.graph import paths as graph_paths
from reverie_server.graph import periods as graph_periods
from reverie_server.graph import phrases as graph_phrases
from reverie_server.graph import vocabulary as graph_vocabulary
from reverie_server.graph.answers import Known
from reverie_server.graph.model import Entity, Relation, StatedEntity
from reverie_server.graph.people import People
from reverie_server.heuristics import introductions, line_worth, needs_context, own_rules, transient
from reverie_server.heuristics.extract import UserStatement, statements_of
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.heuristics.former import holds_no_more, is_of_the_past
from reverie_server.heuristics.memorable import (
    Heard,
    Memorable,
    dated,
    memorable_of,
)
from reverie_server.heuristics.said_in import SaidIn
from reverie_server.heuristics.salience import has_secret
from reverie_server.heuristics.stated_fact import SELF, StatedFact
from reverie_server.llm.answers import Extraction, Semantic, SemanticEntity, SemanticRelation
from reverie_server.llm.generation import EXTRACTIVE
from reverie_server.search.superseded_text import Superseded

ANCIENT = datetime(2026, 1, 1, tzinfo=UTC)
ZONE = ZoneInfo("Europe/Oslo")
HEARD = memorable_of([message("My sister Ada is over. She can't eat gluten.")], "english", "UTC")
NAMED = StatedFact(0, "I am Ada.", "I am Ada.", SELF, "name", "Ada", "profile", ANCIENT, ANCIENT)
STATED = statements_of([message("I prefer tea to coffee since May. Remember that my locker is 4711.")])


def _basis(text: str, memory: str) -> extraction_proposal.Basis:
    held = [extraction_proposal.FileSnapshot(path, memory) for path in ("MEMORY.md", "PROFILE.md")]
    saved = text.split("\n")
    return extraction_proposal.Basis(
        "s1", talk(text), held[0], held[1], saved, frozenset({"MEMORY.md"}), unchanged, "english"
    )


def _answered(text: str) -> object:
    answer = Extraction.model_construct(
        should_update=True, daily_entry=text, memory_update=MEMORY + text, profile_update=""
    )
    rules = extraction_text.ExtractionRules(max_chars=10_000_000)
    return extraction_proposal.from_answer(answer, EXTRACTIVE, _basis(text, MEMORY), rules)


def _problem(text: str) -> object:
    answer = Extraction.model_construct(
        should_update=True, daily_entry=text, memory_update=MEMORY + text, profile_update=""
    )
    rules = extraction_text.ExtractionRules(max_chars=10_000_000)
    return extraction_proposal.problem_of(answer, _basis(text, MEMORY), rules)


def _heard(text: str) -> Heard:
    said = UserStatement(text, "notes", talk(text)[0], text)
    return Heard((), [Memorable(said, "memory", is_request=True, is_habit=True)], {})


def _known(text: str) -> list[KnownLine]:
    return known_lines("MEMORY.md", f"- {text}\n- I live in {text}.\n", frozenset(), {})


def _superseded(text: str) -> object:
    known = _known(text)
    heard = memorable_of(talk(text), "english", "UTC")
    return supersede(known, facts_of(known, "english"), heard.facts, heard.lines)


def _referents(text: str) -> Referents:
    return Referents([message(text)], HEARD, unchanged)


def _semantic(text: str) -> object:
    entity = SemanticEntity.model_construct(
        external_id=text,
        type="person",
        name=text,
        aliases=[text],
        description=text,
        confidence=0.9,
        properties={text: text},
    )
    relation = SemanticRelation.model_construct(
        source=text, name="works_on", target=f"{text}x", confidence=0.9, messages=[1], valid_from=text, valid_to=text
    )
    answer = Semantic.model_construct(entities=[entity, entity], relations=[relation])
    known = [Known(1, "ada", "person", text, [text])]
    basis = graph_answers.AnswerBasis({1: text, 2: text}, {1: NOW, 2: NOW}, known, 0.5)
    return graph_answers.read_answer(answer, basis, unchanged)


def _read_by_phrases(text: str) -> None:
    """As `extract` reads one sentence, in each language, but of any length."""
    readers = [(unspaced.claims_of, unspaced.own_name, unspaced.names_in)]
    readers += [
        (partial(clauses.claims_of, phrases), partial(clauses.own_name, phrases), partial(clauses.names_in, phrases))
        for phrases in graph_phrases.all_phrases().values()
    ]
    for claims_of, own_name, names_in in readers:
        own_name(text)
        names_in(text)
        reader = graph_extractive._Reader(People([], StatedEntity("user", "User", "person", 0.8, ())))
        claims = claims_of(text)
        reader.tell_types(claims)
        reader.read(message(text), text, claims)
        reader.name_things(message(text), text)


def _mentions(text: str) -> list[graph_derive.Mention]:
    names = text.split("\n") if "\n" in text else [text[at : at + 20] for at in range(0, len(text), 20)]
    return [
        graph_derive.Mention(at, at, name, name, [name], {name: name}, 0.8, NOW, EXTRACTIVE)
        for at, name in enumerate([text, *names])
    ]


def _said(text: str) -> list[graph_periods.DatedStatement[str]]:
    """A statement for each few characters, every third of which something ends."""
    return [
        graph_periods.DatedStatement(
            at,
            text[at : at + 5],
            NOW + timedelta(minutes=at) if at % 3 else None,
            None if at % 3 else NOW + timedelta(minutes=at),
        )
        for at in range(0, len(text), 5)
    ]


def _entity(number: int, name: str) -> Entity:
    return Entity(number, name, "person", name, name, [name], {}, 0.9, NOW, EXTRACTIVE, NOW, NOW, "personal", "ada")


def _path(text: str) -> str:
    length = len(text) // 10 + 1
    entities = {number: _entity(number, text[:20]) for number in range(length + 1)}
    relations = {
        number: Relation(number, number - 1, "a", "knows", number, "b", 0.9, NOW, None, NOW, EXTRACTIVE)  # type: ignore[arg-type]
        for number in range(1, length + 1)
    }
    steps = {number: graph_paths.Step(number - 1, number, number) for number in range(1, length + 1)}
    graph_paths.way_to(length, steps)
    return graph_paths.path_of(length, steps, entities, relations)


TABLE: Mapping[str, Reading] = {
    "reverie_server.episodes.text.says_something": lambda text: episode_text.says_something(talk(text)),
    "reverie_server.episodes.text.extractive_summary": lambda text: episode_text.extractive_summary(
        talk(text), text, max_tokens=500, count=count
    ),
    "reverie_server.episodes.text.extractive_summary:lines": lambda text: episode_text.extractive_summary(
        lines_of_talk(text), "", max_tokens=500, count=count
    ),
    "reverie_server.episodes.text.abstract_of": episode_text.abstract_of,
    "reverie_server.episodes.text.abstract_of:mark": lambda text: episode_text.abstract_of(f"- {text} Ada."),
    "reverie_server.sessions.spoken.spoken": episode_text.spoken,
    "reverie_server.sessions.spoken.spoken:emphasis": lambda text: episode_text.spoken(f"**a{text}"),
    "reverie_server.episodes.text.sayings": episode_text.sayings,
    "reverie_server.episodes.text.cut": lambda text: episode_text.cut(text, 200),
    "reverie_server.extraction.propose.from_answer": _answered,
    "reverie_server.extraction.propose.problem_of": _problem,
    "reverie_server.extraction.propose.heuristic_proposal": lambda text: extraction_proposal.heuristic_proposal(
        _basis(text, MEMORY + text), extraction_text.ExtractionRules(), None
    ),
    "reverie_server.extraction.referents.Referents.named": lambda text: _referents(text).named(text),
    "reverie_server.extraction.referents.Referents.named_in": lambda text: _referents(text).named_in(
        "\n".join(f"- {line}" for line in text.splitlines()), ""
    ),
    "reverie_server.extraction.text.spoken": lambda text: extraction_text.spoken(talk(text)),
    "reverie_server.extraction.text.is_too_little": lambda text: extraction_text.is_too_little(
        talk(text)[:1], 0, extraction_text.ExtractionRules()
    ),
    "reverie_server.extraction.text.may_ask_to_remember": lambda text: extraction_text.may_ask_to_remember(
        talk(text)[:1]
    ),
    "reverie_server.extraction.text.transcript_of": lambda text: extraction_text.transcript_of(talk(text), ZONE, 2000),
    "reverie_server.extraction.text.transcript_of:whole": lambda text: extraction_text.transcript_of(
        talk(text), ZONE, 10_000_000
    ),
    "reverie_server.extraction.text.cleaned": lambda text: extraction_text.cleaned(text, unchanged),
    "reverie_server.extraction.text.entry_lines_of": lambda text: extraction_text.entry_lines_of(text, unchanged),
    "reverie_server.extraction.text.lines_not_in": lambda text: extraction_text.lines_not_in(
        ["Ada", text[:500], text.replace("\n", " ")], text
    ),
    "reverie_server.extraction.text.SavedLines.has": lambda text: [
        extraction_text.SavedLines(text.split("\n"), "english").has(one) for one in (text, f"{text} x")
    ],
    "reverie_server.extraction.text.without_repeats": lambda text: extraction_text.without_repeats(
        text, text[:1000], [text, f"{text} x"], "english"
    ),
    "reverie_server.extraction.text.with_statements": lambda text: extraction_text.with_statements(
        MEMORY + text, STATED, 10_000_000
    ),
    "reverie_server.extraction.text.title_of": extraction_text.title_of,
    "reverie_server.heuristics.salience.has_secret": has_secret,
    "reverie_server.extraction.basis.language_of": lambda text: language_of(talk(text), [text], "english"),
    "reverie_server.heuristics.memorable.memorable_of": lambda text: memorable_of(talk(text), "english", "UTC"),
    "reverie_server.heuristics.former.is_of_the_past": is_of_the_past,
    "reverie_server.heuristics.former.holds_no_more": lambda text: holds_no_more(text, "Leeds"),
    "reverie_server.heuristics.memorable.dated": lambda text: dated(text, message("Ada"), None, "UTC"),
    "reverie_server.heuristics.line_worth.maybe_introductions": lambda text: line_worth.maybe_introductions(
        talk(text), _heard(text), "english", "UTC", ()
    ),
    "reverie_server.heuristics.needs_context.needs_context": needs_context.needs_context,
    "reverie_server.heuristics.needs_context.is_no_statement": needs_context.is_no_statement,
    "reverie_server.heuristics.needs_context.says_why": needs_context.says_why,
    "reverie_server.heuristics.own_rules.says_a_rule": own_rules.says_a_rule,
    "reverie_server.heuristics.introductions.with_whole_sentence": lambda text: introductions.with_whole_sentence(
        text, [NAMED, replace(NAMED, predicate="age")]
    ),
    "reverie_server.heuristics.transient.is_transient": transient.is_transient,
    "reverie_server.heuristics.transient.is_of_body": transient.is_of_body,
    "reverie_server.heuristics.line_worth.to_weigh": lambda text: line_worth.to_weigh(_heard(text)),
    "reverie_server.heuristics.line_worth.weighed": lambda text: line_worth.weighed(
        _heard(text), [], line_worth.LineWorth({text: "likely"})
    ),
    "reverie_server.heuristics.line_worth.is_passing": lambda text: line_worth.is_passing(text, "likely"),
    "reverie_server.extraction.text.with_introduction": lambda text: extraction_text.with_introduction(
        MEMORY + text, [replace(STATED[0], text=text)], 10**9
    ),
    "reverie_server.extraction.superseded.known_lines": lambda text: known_lines("MEMORY.md", text, frozenset(), {}),
    "reverie_server.extraction.superseded.facts_of": lambda text: facts_of(_known(text), "english"),
    "reverie_server.extraction.superseded.supersede": _superseded,
    "reverie_server.extraction.superseded.without_lines": lambda text: without_lines(
        text, frozenset(text.splitlines()[:1]), dict.fromkeys(text.splitlines()[1:2], NOW), {}
    ),
    "reverie_server.extraction.superseded.outdated_lines": lambda text: outdated_lines(
        text, frozenset(), {span.key: Superseded(1, None, None) for span in keyed_sentences(text[:2000])}
    ),
    "reverie_server.extraction.superseded.rest_of": lambda text: rest_of(f"- {text}, it is 4471", text),
    "reverie_server.extraction.superseded.partly_outdated_lines": lambda text: partly_outdated_lines(
        text, frozenset(), {span.key: Superseded(1, None, None) for span in keyed_sentences(text[:2000])}
    ),
    "reverie_server.heuristics.said_in.SaidIn.message_of": lambda text: SaidIn(talk(text), "english").message_of(text),
    "reverie_server.graph.answers.readable": lambda text: graph_answers.readable(talk(text), lambda own, _: own),
    "reverie_server.graph.answers.numbered": lambda text: graph_answers.numbered(talk(text)),
    "reverie_server.graph.answers.known_lines": lambda text: graph_answers.known_lines(
        [Known(1, text, "person", text, [text], [("knows", text)])]
    ),
    "reverie_server.graph.answers.read_answer": _semantic,
    "reverie_server.graph.answers.parse_instant": graph_answers.parse_instant,
    "reverie_server.graph.derive.derive": lambda text: graph_derive.derive(
        range(len(_mentions(text))), _mentions(text)
    ),
    "reverie_server.graph.heuristics.extract": lambda text: graph_extractive.extract(talk(text), [], with_speaker=True),
    "reverie_server.graph.heuristics.extract:lines": lambda text: graph_extractive.extract(
        lines_of_talk(text), [Known(1, "ada", "person", text)], with_speaker=False
    ),
    "reverie_server.graph.phrases.Phrases:sentence": _read_by_phrases,
    "reverie_server.graph.names.name_key": graph_names.name_key,
    "reverie_server.graph.names.external_id_of": graph_names.external_id_of,
    "reverie_server.graph.names.windows": graph_names.windows,
    "reverie_server.graph.names.holds_name": lambda text: graph_names.holds_name({"ada"}, text, "Ada"),
    "reverie_server.graph.names.name_similarity": lambda text: graph_names.name_similarity(text, f"b{text[::-1]}"),
    "reverie_server.graph.names.differ_in_number": lambda text: graph_names.differ_in_number(text, f"{text}1"),
    "reverie_server.graph.paths.path_of": _path,
    "reverie_server.graph.paths.way_to": _path,
    "reverie_server.graph.periods.periods": lambda text: graph_periods.periods(_said(text), one_at_a_time=True),
    "reverie_server.graph.periods.periods:beside": lambda text: graph_periods.periods(_said(text), one_at_a_time=False),
    "reverie_server.graph.vocabulary.entity_type": graph_vocabulary.entity_type,
    "reverie_server.graph.vocabulary.relation_name": graph_vocabulary.relation_name,
    "reverie_server.episodes.topics.key_topics": lambda text: topics.key_topics([text, text], [text]),
    "reverie_server.episodes.unspaced_words.words_of_run": lambda text: list(unspaced_words.words_of_run(text)),
    "reverie_server.episodes.topics.key_topics:lines": lambda text: topics.key_topics(text.split("\n")),
}

# What `_read_by_phrases` reads a sentence with.
_READING = (
    *(f"clauses.{name}" for name in ("claims_of", "names_in", "own_name", "proper")),
    *(f"unspaced.{name}" for name in ("claims_of", "names_in", "own_name")),
    *(f"departures.{name}" for name in ("ended", "succeeded", "taken_over")),
    *(f"people.People.{name}" for name in ("begin", "end", "entity", "facts_of", "is_named", "note_role", "resolve")),
    *(f"people.People.{name}" for name in ("type_of", "with_role")),
)

EXEMPT: Mapping[str, str] = {
    **{f"reverie_server.graph.{name}": "measured by Phrases:sentence" for name in _READING},
    "reverie_server.extraction.basis.Basis.source": "numbers of messages, one pass",
    "reverie_server.graph.paths.in_order": "numbers of entities, sorted",
    "reverie_server.graph.paths.needed": "ways of at most a few steps, each by way_to",
    "reverie_server.graph.vocabulary.unique_end": "takes names of the vocabulary",
}
