"""How the functions that read facts out of sentences are called with a text of somebody's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
from tests.growth import Reading

from reverie_indexer.embed.built_in import E5
from reverie_indexer.embed.marks import Mark
from reverie_server.facts import answers, conflicts, known_people, older, reading, settle, twins
from reverie_server.facts import lines as fact_lines
from reverie_server.facts import resolve as facts_resolve
from reverie_server.facts.answers import AnswerBasis, StoredFact
from reverie_server.facts.due import DueDocument, DueSession
from reverie_server.facts.known_people import Acquaintance
from reverie_server.facts.resolve import Known, Said
from reverie_server.graph import successions
from reverie_server.heuristics import answers as heuristic_answers
from reverie_server.heuristics import (
    before_question,
    echoes,
    fact_labels,
    fact_reader,
    fact_sentences,
    fact_times,
    jest,
    marked_facts,
    marked_objects,
    marked_people,
    names_of_others,
    profile_file,
    profile_labels,
    profile_lines,
    spoken_sentences,
)
from reverie_server.heuristics.changes import (
    asking_sentences,
    change_pairs,
    change_sentences,
    changed_facts,
    changed_values,
    fact_ledger,
    judged_pairs,
    lasting_facts,
    paired_changes,
    superseding,
    values,
)
from reverie_server.heuristics.corrections import (
    correction,
    correction_cues,
    corrections,
    denied,
    restated,
    taken_back,
)
from reverie_server.heuristics.cues import all_cues
from reverie_server.heuristics.fact_grammar import (
    attributes,
    carried,
    clauses,
    fragments,
    german_clauses,
    han,
    introduced,
    lines,
    named_anew,
    objects,
    people,
    places,
    run_ons,
    spoken,
    statement,
    subjects,
    successors,
    terms,
    typed,
)
from reverie_server.heuristics.fact_grammar.phrases import all_phrases
from reverie_server.heuristics.fact_grammar.statements import facts_of_sentence
from reverie_server.heuristics.marked_facts import PassageToMark, ToldSentence
from reverie_server.heuristics.profile_lines import KnownOfSelf, ProfileLine
from reverie_server.heuristics.requests import fact_requests, memory_requests, promises
from reverie_server.heuristics.simplified import simplified
from reverie_server.heuristics.stated_fact import StatedFact, Utterance
from reverie_server.llm.answers import Facts, FactStatement
from reverie_server.llm.generation import EXTRACTIVE
from reverie_server.provenance.line_identity import line_sha256
from reverie_server.sessions.model import Message

AT = datetime(2026, 4, 3, tzinfo=UTC)
ENGLISH = all_phrases()["english"]
CODE = subjects.Subject("thing", "code", 8, "the code")


def _of_self(text: str) -> list[KnownOfSelf]:
    """Facts of the user, one a word."""
    return [
        KnownOfSelf(number, "allergic_to", word, word, AT, is_sure=True, is_marked=False)
        for number, word in enumerate(text.split())
    ]


def _of_languages(text: str) -> list[statement.Statement]:
    plain = statement.Statement.plain(text, AT)
    return [replace(plain, phrases=phrases) for phrases in all_phrases().values()]


def _read(text: str) -> list[StatedFact]:
    half = len(text) // 2
    return fact_reader.read_facts([Utterance(text[:half], AT), Utterance(text[half:], AT, "file")])


def _is_none(label: str, text: str) -> bool:
    middle = len(text) // 2
    return marked_objects.is_none(text, Mark(middle, middle + 1, label, 0.9), text[middle:])


def _read_lines(text: str) -> list[StatedFact]:
    parts = [text[at : at + 60] for at in range(0, len(text), 60)]
    return fact_reader.read_facts([Utterance(f"I use {part} now.", AT) for part in parts])


def _change(text: str) -> change_sentences.ChangeSentence:
    sentence = f"{text[:300]} is now 920."
    return change_sentences.ChangeSentence(
        0, sentence, sentence, AT, "english", None, True, values.values_of(sentence, "english")
    )


def _fact(text: str) -> change_sentences.OpenFact:
    return change_sentences.OpenFact("user", "rent", text[:40], text[:80], AT.replace(year=2025), True)


def _judged(text: str) -> object:
    nothing, model = np.zeros(E5.shape.hidden, np.float32), change_pairs.pair_models()[E5.name]
    earlier = judged_pairs.EarlierSentence(text, nothing, 0.5, AT)
    new = judged_pairs.NewSentence(f"{text} is new now", "english", nothing, nothing, AT)
    return judged_pairs.pair_log_odds(new, [earlier, earlier], 2, model)


def _replace(text: str) -> object:
    limits = changed_facts.SimilarityLimits(0.4, 0.4, 0.5, 0.1, 0.4, frozenset({"english"}))
    facts = [_fact(text[at : at + 80]) for at in range(0, min(len(text), 12_000), 40)]
    similarities = [0.9 - 0.001 * n for n in range(len(facts))]
    return changed_facts.replacing_fact(_change(text), facts, similarities, limits)


def _resolve(text: str) -> object:
    parts = [text[at : at + 40] for at in range(0, len(text), 40)]
    return superseding.resolve(
        [fact_ledger.TimedFact(n, "user", part[:9], part[9:], part, AT, True) for n, part in enumerate(parts)]
    )


def _related(text: str) -> object:
    parts = [text[at : at + 40] for at in range(0, len(text), 40)]
    known = [
        Known(n, part[:9], part[9:], part, part, "general", 0.8, True, False, True, None, (Said(AT, AT),))
        for n, part in enumerate(parts)
    ]
    facts = [older.OlderFacts(part[:9], part[9:], True, [len(parts) + n]) for n, part in enumerate(parts)]
    return older.related(known, facts, 1000)


def _twins(text: str) -> object:
    parts = [text[at : at + 40] for at in range(0, len(text), 40)]
    known = [
        Known(n, "user", part[:9], part, part, "general", 0.8, True, False, True, None, (Said(AT, AT),))
        for n, part in enumerate(parts)
    ]
    ended = facts_resolve.State("superseded", AT, AT, AT, len(parts))
    holds = facts_resolve.State("current", AT, AT, None)
    states = {n: ended if n % 2 else holds for n in range(len(parts))}
    # As many of one sentence as there may be.
    pairs = [(n, other) for n in states if n % 2 for other in range(max(0, n - 20), n)]
    return twins.with_twins(known, facts_resolve.Resolution(states), pairs)


def _known_facts(text: str) -> object:
    parts = [text[at : at + 40] for at in range(0, len(text), 40)]
    known = [
        Known(n, "user", part[:9], part[9:], part, "profile", 0.8, True, False, True, None, (Said(AT, AT),))
        for n, part in enumerate(parts)
    ]
    return facts_resolve.resolve(known, AT)


def _conflicts(text: str) -> object:
    parts = [text[at : at + 40] for at in range(0, len(text), 40)]
    known = [
        Known(n, "user", part[:9], part[9:], part, "profile", 0.8, True, False, True, None, (Said(AT, AT),))
        for n, part in enumerate(parts)
    ]
    stated = [conflicts.Statement(n, "user", part[:9], part[9:], True) for n, part in enumerate(parts)]
    pairs = list(pairwise(range(len(parts))))
    decided = [conflicts.Decided(stated[a], stated[b], True, AT, AT, None) for a, b in pairs]
    return conflicts.conflicts_of(known, pairs, decided), conflicts.wordings_of([0], stated)


def _due(text: str) -> tuple[DueSession, DueDocument]:
    half = len(text) // 2
    messages = [Message(1, "user", text[:half], AT, 1), Message(2, "user", text[half:], AT, 1)]
    session = DueSession(1, 1, "web:1", 0, 2, (), messages)
    return session, DueDocument(1, "notes/a.md", 1, None, AT, text, {}, frozenset(), frozenset())


def _read_all(text: str) -> object:
    session, document = _due(text)
    return reading.read_all([session], [document], "english", ZoneInfo("UTC"), fact_reader.read_facts)


def _stored(text: str) -> list[StoredFact]:
    parts = [text[at : at + 40] for at in range(0, len(text), 40)]
    return [
        StoredFact(n, "user", part[:9], part[9:], part, "profile", True, False, True, AT, AT, False)
        for n, part in enumerate(parts)
    ]


def _acquaintances(text: str) -> list[Acquaintance]:
    parts = [text[at : at + 40] for at in range(0, len(text), 40)]
    return [Acquaintance(part, ("friend", "boss", None)[n % 3], AT, None, n % 3 == 1) for n, part in enumerate(parts)]


def _answered(text: str) -> object:
    messages = _due(text)[0].messages
    given = FactStatement(
        text=f"x {text[:400]}", subject="user", predicate="is", object=text[:200], operation="add", messages=[1, 2]
    )
    basis = AnswerBasis(
        1, "web:1", messages, _stored(text)[: answers.MAX_STORED], lambda own, _: own, fact_reader.read_facts
    )
    return answers.readings_of(Facts(statements=[given] * 3), EXTRACTIVE, basis)


def _in_lines(text: str) -> object:
    keys = {span.key for span in fact_sentences.keyed_sentences(text)[-1:]}
    rows = text.splitlines() or [""]
    sha256 = line_sha256(rows[-1])
    located = fact_lines.locate(text, sha256, keys)
    changed = (
        []
        if located is None
        else [
            fact_lines.with_statement(text, located, "x"),
            fact_lines.without_statement(text, located),
        ]
    )
    return [
        changed,
        fact_lines.statements_in(text, keys),
        fact_lines.statement_of(text, sha256, keys),
        fact_lines.line_with(text, rows[-1]),
    ]


def _facts_of(text: str) -> list[StatedFact]:
    said = statement.Statement(text, text, AT, ENGLISH, all_cues()["english"])
    return facts_of_sentence(said, statement.Talk())


def _corrected(text: str) -> object:
    fragment = corrections.Fragment("the 15th", "sorry", "sorry", "next")
    name = corrections.Fragment(text, "no, sorry", "retracts", "next")
    return [
        corrections.corrected(given, each, all_cues()["english"], _facts_of)
        for given, each in (
            (text, fragment),
            (f"My flight is on the 14th {text[:150]}", fragment),
            ("I live in Rome", name),
        )
    ]


def _people(text: str) -> object:
    known = people.People({text[:50]: text[:50]})
    return [
        known.named(text[:200]),
        known.of_role(text[:200]),
        known.is_known(text[:200]),
        known.is_person(text[:200]),
        known.is_ambiguous(text[:200]),
    ]


def _asked() -> heuristic_answers.Asked:
    asked = heuristic_answers.asked_by("Where do you live?")
    assert asked is not None
    return asked


TABLE: Mapping[str, Reading] = {
    "reverie_server.heuristics.spoken_sentences.spoken_sentences": lambda text: spoken_sentences.spoken_sentences(
        text, [text[:20]]
    ),
    "reverie_server.heuristics.spoken_sentences.leading_end": spoken_sentences.leading_end,
    "reverie_server.heuristics.spoken_sentences.without_leading": spoken_sentences.without_leading,
    "reverie_server.heuristics.spoken_sentences.label_end": lambda text: spoken_sentences.label_end(
        text, 0, [text[:20]]
    ),
    "reverie_server.heuristics.corrections.correction_cues.cue_at": lambda text: [
        correction_cues.cue_at(fact_requests.aligned(text), 0, cues)
        for cues in correction_cues.correction_cues().values()
    ],
    "reverie_server.heuristics.corrections.corrections.restated_at": lambda text: [
        corrections.restated_at(given, "english", "next") for given in (text[:300], f"no, sorry, {text}"[:300])
    ],
    "reverie_server.heuristics.corrections.restated.is_about_the_same": lambda text: restated.is_about_the_same(
        text, f"it is {text}", "english"
    ),
    "reverie_server.heuristics.corrections.restated.taking_back": lambda text: restated.taking_back(
        restated.Restated(0, statement.Statement.plain(text, AT), [], 0, "no"),
        statement.Statement.plain(f"it is {text}", AT),
        [],
    ),
    "reverie_server.heuristics.corrections.correction.behind": correction.behind,
    "reverie_server.heuristics.corrections.corrections.fragment_of": lambda text: [
        corrections.fragment_of(given, language, "next")
        for language in correction_cues.correction_cues()
        for given in (text, f"no, sorry, {text[:100]}")
    ],
    "reverie_server.heuristics.corrections.corrections.continued": lambda text: corrections.continued(
        text, corrections.Fragment("", "no", "denies", "next"), "english"
    ),
    "reverie_server.heuristics.corrections.corrections.corrected": _corrected,
    "reverie_server.heuristics.corrections.corrections.corrected_within": lambda text: [
        corrections.corrected_within(given, all_cues()["english"], _facts_of)
        for given in (text, f"My flight is on the 14th, {text[:250]}", f"{text[:250]}, no, sorry, the 15th")
    ],
    "reverie_server.heuristics.corrections.denied.denied": lambda text: [
        denied.denied(text),
        *map(denied.denied, text.split("\n")),
    ],
    "reverie_server.heuristics.corrections.taken_back.taken_back_by": lambda text: taken_back.taken_back_by(
        "My flight is on the 14th.", [text, text], all_cues()["english"], "next"
    ),
    "reverie_server.heuristics.simplified.simplified": simplified,
    "reverie_server.heuristics.fact_grammar.terms.is_within_place": lambda text: terms.is_within_place(
        text, f"West{text}"
    ),
    "reverie_server.heuristics.fact_grammar.terms.all_content_terms": terms.all_content_terms,
    "reverie_server.heuristics.echoes.retold_in": lambda text: echoes.retold_in("on the 13th", text, text, text),
    "reverie_server.heuristics.echoes.says_only_value": lambda text: echoes.says_only_value(
        text, f"{text} 7702", is_answer=False
    ),
    "reverie_server.heuristics.echoes.echoes_of": lambda text: echoes.echoes_of("on the 13th", text, text),
    "reverie_server.heuristics.requests.fact_requests.aligned": fact_requests.aligned,
    "reverie_server.heuristics.requests.fact_requests.split_request": fact_requests.split_request,
    "reverie_server.heuristics.fact_grammar.introduced.introduced": lambda text: introduced.introduced(
        text, text, "german"
    ),
    "reverie_server.heuristics.requests.fact_requests.place_of": lambda text: [
        fact_requests.place_of(number, text.splitlines()) for number in range(4)
    ],
    "reverie_server.heuristics.requests.fact_requests.with_named": lambda text: fact_requests.with_named(
        text, "the code"
    ),
    "reverie_server.heuristics.requests.fact_requests.with_named:thing": lambda text: fact_requests.with_named(
        "It is 5.", text
    ),
    "reverie_server.heuristics.requests.memory_requests.clauses": memory_requests.clauses,
    "reverie_server.heuristics.requests.memory_requests.read_request": lambda text: memory_requests.read_request(
        text, 0, len(text)
    ),
    "reverie_server.heuristics.requests.memory_requests.is_idle": lambda text: memory_requests.is_idle(
        text, 0, len(text)
    ),
    "reverie_server.heuristics.answers.asked_by": heuristic_answers.asked_by,
    "reverie_server.heuristics.answers.Asked.answer": lambda text: _asked().answer(text),
    "reverie_server.heuristics.before_question.before_question": before_question.before_question,
    "reverie_server.heuristics.requests.promises.promises_to_keep": promises.promises_to_keep,
    "reverie_server.heuristics.requests.promises.promises_to_remember": lambda text: promises.promises_to_remember(
        text, text
    ),
    "reverie_server.heuristics.requests.fact_requests.is_of_next": lambda text: fact_requests.is_of_next(text, "first"),
    "reverie_server.heuristics.requests.memory_requests.asks_for_value": lambda text: memory_requests.asks_for_value(
        fact_requests.aligned(text), 0, len(text)
    ),
    "reverie_server.heuristics.requests.memory_requests.has_number": lambda text: memory_requests.has_number(
        text, 0, len(text)
    ),
    "reverie_server.heuristics.requests.memory_requests.asks_no_more": lambda text: memory_requests.asks_no_more(
        text, 0, len(text)
    ),
    "reverie_server.heuristics.requests.memory_requests.remembered_from": memory_requests.remembered_from,
    "reverie_server.heuristics.requests.memory_requests.remembered_after_comma": lambda text: (
        memory_requests.remembered_after_comma(text, 0, len(text))
    ),
    "reverie_server.heuristics.requests.memory_requests.remembered_after_that": lambda text: (
        memory_requests.remembered_after_that(text, 0, len(text))
    ),
    "reverie_server.heuristics.fact_sentences.sentence_key": fact_sentences.sentence_key,
    "reverie_server.heuristics.fact_sentences.essence": fact_sentences.essence,
    "reverie_server.heuristics.fact_sentences.keyed_sentences": fact_sentences.keyed_sentences,
    "reverie_server.heuristics.fact_sentences.copy_keys": lambda text: fact_sentences.copy_keys(text[:5000], text),
    "reverie_server.heuristics.fact_labels.label_of": lambda text: fact_labels.label_of(
        text, "works_as", text, text, "english"
    ),
    "reverie_server.heuristics.marked_facts.passages_to_mark": lambda text: marked_facts.passages_to_mark(
        [Utterance(text, AT)], "english"
    ),
    "reverie_server.heuristics.marked_people.whole_marks": lambda text: marked_people.whole_marks(
        text, [Mark(len(text) // 2, len(text) // 2 + 1, "home", 0.9)]
    ),
    "reverie_server.heuristics.marked_people.value_of": marked_people.value_of,
    "reverie_server.heuristics.marked_people.known_relation": marked_people.known_relation,
    "reverie_server.heuristics.marked_people.is_sure": lambda text: marked_people.is_sure(Mark(0, 1, text, 0.9)),
    "reverie_server.heuristics.marked_people.people_in": lambda text: marked_people.people_in(
        [Mark(at, at + 1, "person" if at % 2 else "rel", 0.9, of=0) for at in range(len(text))]
    ),
    "reverie_server.heuristics.marked_people.farther_names": lambda text: marked_people.farther_names(
        text, [Mark(at, at + 1, "person" if at else "rel", 0.9, of=0) for at in range(len(text))]
    ),
    "reverie_server.heuristics.marked_people.relation_of": lambda text: marked_people.relation_of(
        text, Mark(0, len(text), "rel", 0.9)
    ),
    "reverie_server.heuristics.marked_people.subject_of_mark": lambda text: marked_people.subject_of_mark(
        text, marked_people.Somebody(relation=Mark(0, len(text), "rel", 0.9)), people.People()
    ),
    **{
        f"reverie_server.heuristics.marked_objects.is_none:{label}": partial(_is_none, label)
        for label in ("employer", "home", "age", "nick")
    },
    "reverie_server.heuristics.marked_objects.introduces": lambda text: marked_objects.introduces(
        text, len(text) // 2, len(text) // 2 + 1
    ),
    "reverie_server.heuristics.marked_objects.is_none": partial(_is_none, "job"),
    "reverie_server.heuristics.names_of_others.is_name_of_other": lambda text: names_of_others.is_name_of_other(
        text, len(text) // 2, len(text) // 2 + 1
    ),
    "reverie_server.heuristics.marked_facts.told_of": lambda text: marked_facts.told_of(text[:2000], None),
    "reverie_server.heuristics.profile_file.present_lines": lambda text: profile_file.present_lines(text, {b"-"}),
    "reverie_server.heuristics.profile_file.with_profile_lines": lambda text: profile_file.with_profile_lines(
        text, [ProfileLine("Home: Rome", 1)], {line_sha256(line) for line in text.splitlines()}, ()
    ),
    "reverie_server.heuristics.profile_labels.stated_by_labels": profile_labels.stated_by_labels,
    "reverie_server.heuristics.profile_labels.has_words_of": lambda text: profile_labels.has_words_of(
        text, text, other_words=2
    ),
    "reverie_server.heuristics.profile_labels.says_labels_alone": lambda text: profile_labels.says_labels_alone(
        text, _read(text[:2000])
    ),
    "reverie_server.heuristics.profile_labels.value_of": profile_labels.value_of,
    "reverie_server.heuristics.profile_lines.kind_of_line": profile_lines.kind_of_line,
    "reverie_server.heuristics.profile_labels.stated_by_line": lambda text: profile_labels.stated_by_line(
        f"Home: {text}", 0, AT
    ),
    "reverie_server.heuristics.profile_lines.profile_lines": lambda text: profile_lines.profile_lines(
        _of_self(text), (), "english"
    ),
    "reverie_server.heuristics.profile_lines.language_of_lines": lambda text: profile_lines.language_of_lines(
        text.splitlines(), _of_self(text), "english"
    ),
    "reverie_server.heuristics.marked_facts.facts_of_marks": lambda text: marked_facts.facts_of_marks(
        PassageToMark(0, text, (ToldSentence(0, len(text), text, text),), AT),
        [Mark(0, len(text) // 2, "rel", 1.0), Mark(len(text) // 2, len(text), "person", 1.0)],
        {},
        people.People(),
    ),
    "reverie_server.heuristics.changes.change_sentences.change_sentences": lambda text: (
        change_sentences.change_sentences([Utterance(f"{text} It is now new.", AT)], "english")
    ),
    "reverie_server.heuristics.changes.change_sentences.says_it_is_over": lambda text: change_sentences.says_it_is_over(
        _change(text)
    ),
    "reverie_server.heuristics.changes.changed_values.numbers_in": changed_values.numbers_in,
    "reverie_server.heuristics.changes.changed_values.can_be_its_value": lambda text: changed_values.can_be_its_value(
        _change(text), _fact(text)
    ),
    "reverie_server.heuristics.changes.changed_values.is_of_another_value": lambda text: (
        changed_values.is_of_another_value(_change(f"{text} code 4471"), f"{text} code 9026")
    ),
    "reverie_server.heuristics.changes.lasting_facts.abides": lambda text: lasting_facts.abides(
        _change(text), _fact(text)
    ),
    "reverie_server.heuristics.changes.lasting_facts.are_two_events": lambda text: lasting_facts.are_two_events(
        f"{text} yesterday", text
    ),
    "reverie_server.heuristics.changes.lasting_facts.may_end_whole": lambda text: lasting_facts.may_end_whole(
        text, [_fact(text)]
    ),
    "reverie_server.heuristics.changes.paired_changes.can_end_marked": lambda text: paired_changes.can_end_marked(
        _change(text), text, ()
    ),
    "reverie_server.heuristics.changes.paired_changes.can_end_whole": lambda text: paired_changes.can_end_whole(
        _change(text), text, (), is_likely=True
    ),
    "reverie_server.heuristics.changes.changed_facts.is_parted": lambda text: changed_facts.is_parted(_change(text)),
    "reverie_server.heuristics.changes.changed_facts.has_kind": lambda text: changed_facts.has_kind(_fact(text)),
    "reverie_server.heuristics.changes.asking_sentences.asks_a_favour": asking_sentences.asks_a_favour,
    "reverie_server.heuristics.changes.asking_sentences.is_a_favour": asking_sentences.is_a_favour,
    "reverie_server.heuristics.changes.asking_sentences.before_asking": asking_sentences.before_asking,
    "reverie_server.heuristics.changes.change_sentences.ChangeSentence.told": lambda text: _change(text).told,
    "reverie_server.heuristics.changes.change_sentences.is_conditional": change_sentences.is_conditional,
    "reverie_server.heuristics.changes.change_sentences.is_statement": lambda text: change_sentences.is_statement(
        f"{text} is new now", all_cues()["english"]
    ),
    "reverie_server.heuristics.changes.changed_facts.has_to_do_with": lambda text: changed_facts.has_to_do_with(
        _change(text), text
    ),
    "reverie_server.heuristics.changes.changed_facts.is_about": lambda text: changed_facts.is_about(
        _change(text), _fact(text)
    ),
    "reverie_server.heuristics.changes.changed_facts.has_value": lambda text: changed_facts.has_value(
        _change(text), _fact(text)
    ),
    "reverie_server.heuristics.changes.changed_facts.names_subject": lambda text: changed_facts.names_subject(
        _change(text), text
    ),
    "reverie_server.heuristics.changes.change_pairs.units_of": change_pairs.units_of,
    "reverie_server.heuristics.changes.change_pairs.shared_parts": lambda text: change_pairs.shared_parts(
        frozenset(text.split()), frozenset(f"{text}s".split()), "german"
    ),
    "reverie_server.heuristics.changes.change_pairs.word_features": lambda text: change_pairs.word_features(
        text, f"{text} is new now", "english", 0.5
    ),
    "reverie_server.heuristics.changes.judged_pairs.pair_log_odds": lambda text: _judged(text),
    "reverie_server.heuristics.changes.paired_changes.can_be_otherwise": lambda text: paired_changes.can_be_otherwise(
        _change(text), _fact(text)
    ),
    "reverie_server.heuristics.changes.change_sentences.stated_values": lambda text: change_sentences.stated_values(
        f"{text} 5", all_cues()["english"]
    ),
    "reverie_server.heuristics.changes.changed_facts.has_other_value": lambda text: changed_facts.has_other_value(
        _change(text), _fact(f"{text[:70]} 5")
    ),
    "reverie_server.heuristics.changes.changed_facts.replacement": lambda text: changed_facts.replacement(
        _change(text), _fact(text)
    ),
    "reverie_server.heuristics.changes.values.values_of": lambda text: values.values_of(text, "english"),
    "reverie_server.heuristics.changes.values.is_other_value": lambda text: values.is_other_value(
        values.values_of(text, "english"), values.values_of(f"{text} 5", "english")
    ),
    "reverie_server.heuristics.changes.values.shared_words": lambda text: values.shared_words(
        values.values_of(text, "english"), values.values_of(f"{text} 5", "english")
    ),
    "reverie_server.heuristics.changes.values.subject_of_both": lambda text: values.subject_of_both(
        text, values.values_of(text, "english").words
    ),
    "reverie_server.heuristics.changes.changed_facts.replacing_fact": _replace,
    "reverie_server.heuristics.fact_labels.statement_without": lambda text: fact_labels.statement_without(
        "user", "works_as", text[:256], text, ended=[text[256:512]]
    ),
    "reverie_server.heuristics.fact_labels.said_once": lambda text: fact_labels.said_once(text.split()),
    "reverie_server.heuristics.fact_times.time_to_come": lambda text: fact_times.time_to_come(text, text[-20:], AT),
    "reverie_server.heuristics.fact_times.begins_later": lambda text: fact_times.begins_later(text, AT),
    "reverie_server.heuristics.fact_times.in_its_time": lambda text: fact_times.in_its_time(
        StatedFact(0, text, text, "user", "works_at", text[-20:], "profile", AT, AT, is_functional=True), text, AT
    ),
    "reverie_server.heuristics.fact_reader.read_facts": _read,
    "reverie_server.heuristics.fact_reader.read_facts:of many": _read_lines,
    "reverie_server.heuristics.fact_grammar.german_clauses.main_clause": german_clauses.main_clause,
    "reverie_server.heuristics.fact_grammar.clauses.clauses_of": lambda text: clauses.clauses_of(text[:500], ENGLISH),
    "reverie_server.heuristics.fact_grammar.carried.with_pet": lambda text: [
        carried.with_pet(each, statement.Talk(pet="dog")) for each in _of_languages(text)
    ],
    "reverie_server.heuristics.fact_grammar.named_anew.with_new_name": lambda text: [
        named_anew.with_new_name(each, statement.Talk()) for each in _of_languages(text)
    ],
    "reverie_server.heuristics.fact_grammar.successors.successions_in": lambda text: [
        list(successors.successions_in(text, language)) for language in all_phrases()
    ],
    "reverie_server.heuristics.fact_grammar.successors.visits_in": lambda text: [
        list(successors.visits_in(text, language)) for language in all_phrases()
    ],
    "reverie_server.heuristics.fact_grammar.successors.with_successors": lambda text: [
        successors.with_successors(each, [], statement.Talk()) for each in _of_languages(text)
    ],
    "reverie_server.graph.successions.with_successions": lambda text: successions.with_successions(
        text, [], "english", str.split
    ),
    "reverie_server.heuristics.fact_grammar.han.is_name_by_sound": han.is_name_by_sound,
    "reverie_server.heuristics.fact_grammar.carried.with_sold": lambda text: [
        carried.with_sold(each, statement.Talk(owned=(0, "a Golf"))) for each in _of_languages(text)
    ],
    "reverie_server.heuristics.fact_grammar.carried.carry": lambda text: [
        carried.carry(each, [], statement.Talk()) for each in _of_languages(text)
    ],
    "reverie_server.heuristics.fact_grammar.carried.owner_before": lambda text: [
        carried.owner_before(text, None, statement.Talk(), phrases) for phrases in all_phrases().values()
    ],
    "reverie_server.heuristics.fact_grammar.carried.with_owner": lambda text: carried.with_owner(CODE, text, ENGLISH),
    "reverie_server.heuristics.fact_grammar.spoken.reworded": lambda text: [
        spoken.reworded(text, phrases) for phrases in all_phrases().values()
    ],
    "reverie_server.heuristics.fact_grammar.spoken.reworded_by": lambda text: [
        spoken.reworded_by((*phrases.elided, *phrases.ordered), text) for phrases in all_phrases().values()
    ],
    "reverie_server.heuristics.fact_grammar.run_ons.parted": lambda text: [
        run_ons.parted(text, phrases) for phrases in all_phrases().values()
    ],
    "reverie_server.heuristics.fact_grammar.typed.as_written": lambda text: [
        typed.as_written(text, phrases) for phrases in all_phrases().values()
    ],
    "reverie_server.heuristics.fact_grammar.typed.with_capitals": lambda text: typed.with_capitals(
        text, frozenset({"hannah"})
    ),
    "reverie_server.heuristics.fact_grammar.fragments.in_full": lambda text: [
        fragments.in_full(text, phrases, people.People({"Ada Berg": "Ada Berg"}), is_of_self=True)
        for phrases in all_phrases().values()
    ],
    "reverie_server.heuristics.jest.is_in_jest": jest.is_in_jest,
    "reverie_server.heuristics.jest.is_joke": jest.is_joke,
    "reverie_server.heuristics.fact_grammar.places.can_be_home": lambda text: places.can_be_home(
        text, is_upper=False, has_capitals=False
    ),
    "reverie_server.heuristics.fact_grammar.places.can_be_employer": places.can_be_employer,
    "reverie_server.heuristics.fact_grammar.places.can_be_german_employer": places.can_be_german_employer,
    "reverie_server.heuristics.fact_grammar.places.is_organisation": places.is_organisation,
    "reverie_server.heuristics.fact_grammar.places.can_be_spanish_origin": places.can_be_spanish_origin,
    "reverie_server.heuristics.fact_grammar.places.is_spanish_town": places.is_spanish_town,
    "reverie_server.heuristics.fact_grammar.attributes.attribute_name": attributes.attribute_name,
    "reverie_server.heuristics.fact_grammar.attributes.is_attribute": attributes.is_attribute,
    "reverie_server.heuristics.fact_grammar.attributes.is_of_profile": lambda text: attributes.is_of_profile(
        StatedFact(0, text, text, "email", "is", text, "reference", AT, AT)
    ),
    "reverie_server.heuristics.fact_grammar.attributes.shape_of": lambda text: [
        attributes.shape_of(name, text, has_capitals=True)
        for name in (text, "name", "birthday", "email", "address", "phone", "size", "pin", "code", "seat")
    ],
    "reverie_server.heuristics.fact_grammar.objects.is_trade_or_diet": objects.is_trade_or_diet,
    "reverie_server.heuristics.fact_grammar.clauses.is_quoted": clauses.is_quoted,
    "reverie_server.heuristics.fact_grammar.clauses.denied": lambda text: clauses.denied(
        text[:500], text[:500], ENGLISH
    ),
    "reverie_server.heuristics.fact_grammar.han.can_be_han_name": han.can_be_han_name,
    "reverie_server.heuristics.fact_grammar.han.is_han_job": han.is_han_job,
    "reverie_server.heuristics.fact_grammar.han.is_han_name": han.is_han_name,
    "reverie_server.heuristics.fact_grammar.han.is_han_number": han.is_han_number,
    "reverie_server.heuristics.fact_grammar.han.is_han_school": han.is_han_school,
    "reverie_server.heuristics.fact_grammar.han.is_titled_han_name": han.is_titled_han_name,
    "reverie_server.heuristics.fact_grammar.objects.tidy": objects.tidy,
    "reverie_server.heuristics.fact_grammar.objects.is_vague": objects.is_vague,
    "reverie_server.heuristics.fact_grammar.objects.is_value": objects.is_value,
    "reverie_server.heuristics.fact_grammar.objects.is_amount_or_code": objects.is_amount_or_code,
    "reverie_server.heuristics.fact_grammar.objects.time_only": objects.time_only,
    "reverie_server.heuristics.fact_grammar.objects.says_something": objects.says_something,
    "reverie_server.heuristics.fact_grammar.terms.content_terms": terms.content_terms,
    "reverie_server.heuristics.fact_grammar.terms.scopes_of": terms.scopes_of,
    "reverie_server.heuristics.fact_grammar.terms.key_of": terms.key_of,
    "reverie_server.heuristics.fact_grammar.terms.is_unspaced": terms.is_unspaced,
    "reverie_server.heuristics.fact_grammar.terms.without_timed_kind": terms.without_timed_kind,
    "reverie_server.heuristics.fact_grammar.terms.without_days": terms.without_days,
    "reverie_server.heuristics.fact_grammar.lines.headed_fact": lambda text: lines.headed_fact(text, AT),
    "reverie_server.heuristics.fact_grammar.lines.fact_of_line": lambda text: lines.fact_of_line(
        text, statement.Statement.plain(text, AT)
    ),
    "reverie_server.heuristics.fact_grammar.people.People.named": _people,
    "reverie_server.heuristics.fact_grammar.terms.is_longer_name": lambda text: terms.is_longer_name(text, text[1:]),
    "reverie_server.heuristics.changes.superseding.resolve": _resolve,
    "reverie_server.facts.lines.check_statement": lambda text: fact_lines.check_statement(text[:1000]),
    "reverie_server.facts.lines.clause_in": lambda text: fact_lines.clause_in(text, text[: len(text) // 2]),
    "reverie_server.facts.lines.locate": _in_lines,
    "reverie_server.facts.answers.nearest": lambda text: answers.nearest(_stored(text), _due(text)[0].messages),
    "reverie_server.facts.answers.stored_lines": lambda text: answers.stored_lines(_stored(text)),
    "reverie_server.facts.answers.first_question": lambda text: answers.first_question(_due(text)[0].messages),
    "reverie_server.facts.answers.numbered": lambda text: answers.numbered(_due(text)[0].messages),
    "reverie_server.facts.answers.readings_of": _answered,
    "reverie_server.facts.known_people.acquaintances_of": lambda text: known_people.acquaintances_of(_read(text)),
    "reverie_server.facts.known_people.known_at": lambda text: known_people.known_at(_acquaintances(text), AT),
    "reverie_server.facts.settle.passage_of": lambda text: [
        settle.passage_of(stated, "english") for stated in fact_reader.read_facts([Utterance(text, AT)])[:5]
    ],
    "reverie_server.facts.reading.heard_in": lambda text: reading.heard_in(_due(text)[0]),
    "reverie_server.facts.reading.utterance_of": lambda text: [
        reading.utterance_of(message) for message in _due(text)[0].messages
    ],
    "reverie_server.facts.reading.keys_of": lambda text: [
        reading.keys_of(stated, text) for stated in fact_reader.read_facts([Utterance(text, AT)])[:5]
    ],
    "reverie_server.facts.reading.read_all": _read_all,
    "reverie_server.facts.resolve.resolve": _known_facts,
    "reverie_server.facts.conflicts.conflicts_of": _conflicts,
    "reverie_server.facts.conflicts.wordings_of": _conflicts,
    "reverie_server.facts.older.related": _related,
    "reverie_server.facts.twins.with_twins": _twins,
}
_BY_LOCATE = "measured with locate"
_BY_READ_ALL = "measured with read_all"
_OF_A_SENTENCE = "takes a sentence of at most 500 characters, as read_facts gives it"
_OF_A_NAME = "looks a name up"
_BY_RESOLVE = "measured with resolve"
_OF_PAIRS = "measured with pair_log_odds, or takes numbers"
_BY_CORRECTED = "measured with corrected"
EXEMPT: Mapping[str, str] = {
    "reverie_server.heuristics.marked_people.is_of_end": "reads fields of one mark",
    "reverie_server.heuristics.marked_people.is_own": "reads fields of one mark",
    "reverie_server.heuristics.marked_people.being_of": "looks one mark up",
    **{
        f"reverie_server.heuristics.changes.{name}": _OF_PAIRS
        for name in (
            "aspects.AspectModel.shares",
            "aspects.same_aspect",
            "change_pairs.PairModel.aspects",
            "change_pairs.PairModel.ends",
            "change_pairs.PairModel.endable",
            "change_pairs.PairModel.of_pair",
            "change_pairs.PairModel.in_life",
            "change_pairs.PairModel.of_sum",
            "change_pairs.Network.log_odds",
            "change_pairs.pair_features",
            "judged_pairs.nearness_of",
            "judged_pairs.pair_rows",
        )
    },
    **{
        f"reverie_server.heuristics.corrections.{name}": _BY_CORRECTED
        for name in (
            "corrected_values.is_value",
            "corrected_values.same_preposition",
            "corrected_values.slot_of",
            "corrected_values.value_of",
            "corrected_values.with_value",
            "corrected_words.with_word_of_fact",
            "corrected_words.word_of",
        )
    },
    "reverie_server.heuristics.fact_grammar.people.People.is_of_work": "looks a name up",
    "reverie_server.heuristics.fact_grammar.predicates.fact_behind": "a step of `facts_of_sentence`",
    "reverie_server.heuristics.fact_grammar.naming.role_before": "compiles a pattern for the name of a fact",
    "reverie_server.heuristics.fact_grammar.naming.who_is_named": "the last two words of a line of bounded length",
    "reverie_server.heuristics.fact_grammar.predicates.named_in": "takes what a pattern has found",
    "reverie_server.heuristics.changes.paired_changes.can_change": "looks for a role in the name of a predicate",
    "reverie_server.heuristics.changes.paired_changes.is_apart": "compares two times",
    "reverie_server.heuristics.changes.changed_values.is_value": "the words of a fact's fields, of bounded length",
    "reverie_server.heuristics.changes.changed_values.is_number": "the words of a fact's fields, of bounded length",
    "reverie_server.heuristics.changes.changed_values.with_new_number": "the words of facts' fields, of bounded length",
    "reverie_server.heuristics.changes.changed_facts.is_trade": "the first word of a fact's object",
    "reverie_server.heuristics.changes.lasting_facts.is_for_good": "looks at the predicates of a sentence's facts",
    "reverie_server.heuristics.known_texts.KnownTexts.of": "a hash of the text, and what it is read by",
    "reverie_server.heuristics.fact_reader.prepare_to_read": "it is given a language",
    "reverie_server.text.lazy_pattern.LazyPattern.finditer": "as linear as the pattern it is made with",
    "reverie_server.heuristics.changes.fact_ledger.Ledger.add": _BY_RESOLVE,
    "reverie_server.heuristics.changes.fact_ledger.Ledger.close": _BY_RESOLVE,
    "reverie_server.heuristics.changes.fact_ledger.Ledger.doubt": _BY_RESOLVE,
    "reverie_server.heuristics.changes.fact_ledger.Ledger.of_key": _BY_RESOLVE,
    "reverie_server.heuristics.changes.fact_ledger.Ledger.with_terms": _BY_RESOLVE,
    "reverie_server.heuristics.changes.fact_ledger.differ_in_scope": _BY_RESOLVE,
    "reverie_server.heuristics.changes.fact_ledger.compared": _BY_RESOLVE,
    "reverie_server.heuristics.changes.fact_ledger.compared_key": _BY_RESOLVE,
    "reverie_server.heuristics.changes.fact_ledger.predicate_key": _BY_RESOLVE,
    "reverie_server.heuristics.changes.fact_ledger.tails_of": _BY_RESOLVE,
    "reverie_server.heuristics.changes.fact_ledger.with_words": _BY_RESOLVE,
    "reverie_server.facts.older.with_stored": "compares the states of facts",
    "reverie_server.heuristics.changes.change_rules.close_by_change": _BY_RESOLVE,
    "reverie_server.heuristics.changes.change_rules.close_place_of_work": _BY_RESOLVE,
    **{
        f"reverie_server.facts.lines.{name}": _BY_LOCATE
        for name in ("line_with", "statement_of", "statements_in", "with_statement", "without_statement")
    },
    "reverie_server.facts.reading.of_document": _BY_READ_ALL,
    "reverie_server.facts.reading.of_session": _BY_READ_ALL,
    "reverie_server.facts.reading.message_source": "takes numbers and ids",
    "reverie_server.heuristics.alternatives.any_by_first_letter": "reads tables of ours",
    "reverie_server.heuristics.alternatives.by_first_letter": "reads tables of ours",
    "reverie_server.heuristics.fact_grammar.terms.word_set": "reads a list of ours",
    "reverie_server.heuristics.fact_grammar.terms.exclude_each_other": "compares a few scopes",
    "reverie_server.heuristics.fact_grammar.terms.says_same": "compares terms of sentences",
    **{
        f"reverie_server.heuristics.{name}": _OF_A_SENTENCE
        for name in (
            "fact_grammar.general.general_fact",
            "fact_grammar.general.request_fact",
            "fact_grammar.han.fits_han",
            "fact_grammar.objects.fits",
            "fact_grammar.statement.Statement.fact",
            "fact_grammar.statement.Statement.plain",
            "fact_grammar.statements.facts_of_sentence",
            "fact_grammar.subjects.called_at",
            "fact_grammar.subjects.gender_of",
            "fact_grammar.subjects.is_of_care",
            "fact_grammar.subjects.name_at",
            "fact_grammar.subjects.relations_in",
            "fact_grammar.subjects.subject_of",
        )
    },
    **{
        f"reverie_server.heuristics.fact_grammar.people.{name}": _OF_A_NAME
        for name in (
            "role_name",
            "People.is_known",
            "People.is_ambiguous",
            "People.is_person",
            "People.of_role",
            "People.call",
            "People.words_for",
            "People.forget_role",
            "People.mention",
            "People.meant",
            "people_of",
        )
    },
}
