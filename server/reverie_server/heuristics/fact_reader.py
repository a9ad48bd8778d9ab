"""The facts that people state, read from what they say and write, by patterns of several languages. Pure.

What a person says is read a sentence and a clause at a time: subject, predicate, object. Questions, wishes, plans and
what others are said to say state nothing. What the assistant says states nothing either; what it
promises to remember is asked for.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache

from reverie_server.heuristics.answers import Asked, asked_by
from reverie_server.heuristics.before_question import FEWEST_WORDS, before_question
from reverie_server.heuristics.corrections.correction import FARTHER, Fragment, ReadSentence, Where, behind
from reverie_server.heuristics.corrections.corrections import (
    continued,
    corrected,
    corrected_within,
    fragment_of,
    restated_at,
)
from reverie_server.heuristics.corrections.restated import Restated, is_about_the_same, taking_back
from reverie_server.heuristics.cues import Cues, all_cues, cues_of, folded
from reverie_server.heuristics.fact_grammar.clauses import is_quoted
from reverie_server.heuristics.fact_grammar.german_clauses import main_clause
from reverie_server.heuristics.fact_grammar.introduced import introduced
from reverie_server.heuristics.fact_grammar.lines import fact_of_line, headed_fact
from reverie_server.heuristics.fact_grammar.people import People
from reverie_server.heuristics.fact_grammar.phrases import Phrases, all_phrases
from reverie_server.heuristics.fact_grammar.statements import Statement, Talk, facts_of_sentence, request_fact
from reverie_server.heuristics.fact_grammar.typed import as_written, with_capitals
from reverie_server.heuristics.fact_times import in_its_time
from reverie_server.heuristics.requests.fact_requests import (
    Place,
    Request,
    aligned,
    is_of_next,
    place_of,
    split_request,
    with_named,
)
from reverie_server.heuristics.requests.not_to_be_kept import contrary_start
from reverie_server.heuristics.requests.said_again import promises_last
from reverie_server.heuristics.requests.said_before import points_back
from reverie_server.heuristics.requests.words_of_others import own_words
from reverie_server.heuristics.salience import MAX_TEXT_CHARS, asks
from reverie_server.heuristics.spoken_sentences import DATED, spoken_sentences
from reverie_server.heuristics.stated_fact import MAX_FIELD_CHARS, Change, StatedFact, Utterance
from reverie_server.text.fences import strip_injected

# A longer sentence is pasted, or none.
MAX_SENTENCE_CHARS = 500
_CODE = re.compile(r"^[ \t]*+(?P<fence>```+|~~~+).*?(?:^[ \t]*+(?P=fence)[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_ADDRESSES = re.compile(r"^(?:you|your|you're|believe|keep|always|never|be)(?!\w)", re.IGNORECASE)
# Of one reading of a conversation: each reads a sentence once more beside a copy of all that is known of the talk.
_MAX_CORRECTION_READS = 200
_HAS_DIGIT = re.compile(r"\d")
_ASKING_END = re.compile(r"[吗嗎]?[?？]\s*$")
_NOT_PROSE = re.compile(r"\s*(?:[>|{}]|#{1,6} |</?\w|[$%] \S|Traceback |File \"|at \S+\()|(?: {4}|\t)(?!\s*[-*+•\d])")


@dataclass(slots=True)
class _Reader:
    """The reading of a conversation so far. `last` are the facts of the sentence before, for `please remember that`.

    `asked_in` is the last utterance with a request: what is promised behind it is what it asks for.
    `stated` is the statement before, with the number of its utterance and its facts, which a next sentence may correct;
    `taken_back` a cue alone behind it; `between` what the assistant said since. `first_names` are those of all who were
    known before the utterance. `asked` is what the assistant asked last about the user, `answer` what it says next.
    """

    talk: Talk
    facts: list[StatedFact] = field(default_factory=list)
    last_sentence: tuple[int, str, Statement] | None = None
    last_count: int = 0
    asked_next: bool = False
    asked_thing: str | None = None
    asked_in: int | None = None
    stated: tuple[int, Statement, Sequence[StatedFact]] | None = None
    taken_back: Fragment | None = None
    between: Where = "next"
    correction_reads: int = 0
    first_names: frozenset[str] = frozenset()
    asked: Asked | None = None
    answer: str = ""


@cache
def prepare_to_read(language: str) -> None:
    """Compile what reading facts needs in this process: what a fork of it compiles is lost with the fork."""
    all_phrases().get(language)
    asked = Utterance("Where do you live?", datetime.min, "assistant")
    told = Utterance("Please remember that I live in Berlin and not in Paris any more.", datetime.min)
    read_facts([asked, told], language)


def read_facts(
    utterances: Sequence[Utterance],
    language: str = "english",
    *,
    user_name: str | None = None,
    known_people: Mapping[str, str] | None = None,
) -> list[StatedFact]:
    """The facts that users and files state, in order. `language` is the most likely one; others are recognised.

    `known_people` (`fact_people.people_of`) are those of earlier conversations. Takes time linear in the texts.
    """
    everything = "\n".join(utterance.text[:2000] for utterance in utterances if utterance.speaker != "assistant")
    expected = cues_of(folded(everything[:MAX_TEXT_CHARS]), all_cues().get(language))
    reader = _Reader(Talk(People(known_people or {}), user_name, has_capitals=everything != everything.lower()))
    for index, utterance in enumerate(utterances):
        if utterance.speaker != "assistant":
            following = utterances[index + 1 : index + 2]
            reader.answer = following[0].text if following and following[0].speaker == "assistant" else ""
            _read(reader, index, utterance, expected)
        elif (
            reader.last_sentence is not None
            and reader.last_sentence[0] == index - 1
            and reader.asked_in != index - 1
            and not points_back(aligned(reader.last_sentence[1]))
            and promises_last(utterance.text, reader.last_sentence[1], utterances[index - 1].text)
        ):
            _ask_for_last(reader)
        if utterance.speaker == "assistant":
            reader.between = max(reader.between, behind(utterance.text), key=FARTHER.index)
            reader.asked = asked_by(utterance.text)
    return reader.facts


def _read(reader: _Reader, index: int, utterance: Utterance, expected: Cues | None) -> None:
    text = strip_injected(utterance.text[:MAX_TEXT_CHARS])
    text = _CODE.sub("\n", own_words(text) if utterance.speaker == "user" else text)
    own = cues_of(folded(text[:2000]), expected)
    names = [name for name in (utterance.name, reader.talk.user_name) if name]
    before = len(reader.facts)
    reader.talk.is_of_other, reader.talk.lockable = False, None
    if utterance.speaker == "file":
        reader.stated = None
    reader.first_names = reader.talk.people.first_names()
    spans = spoken_sentences(text, names)
    said = [text[span.start : span.end] for span in spans]
    for number, (span, sentence) in enumerate(zip(spans, said, strict=True)):
        if span.speaker == "Assistant" or len(sentence) > MAX_SENTENCE_CHARS:
            continue
        if _NOT_PROSE.match(text, text.rfind("\n", 0, span.start) + 1, span.end):
            continue
        cues = cues_of(folded(sentence), own)
        _read_sentence(reader, index, utterance, sentence, cues, place_of(number, said))
    # A heading says what a line is about that says it not by itself.
    is_stated = len(reader.facts) > before
    if utterance.speaker == "file" and not is_stated and (headed := headed_fact(text, utterance.said_at)):
        _add(reader, index, utterance, headed[0], [headed[1]])


def _read_sentence(
    reader: _Reader, index: int, utterance: Utterance, sentence: str, cues: Cues | None, place: Place
) -> None:
    talk = reader.talk
    talk.number += 1
    spoken = sentence
    phrases = _phrases_of(cues)
    if phrases is not None:
        sentence = with_capitals(as_written(sentence, phrases), reader.first_names)
        if reader.answer and (said := introduced(sentence, reader.answer, phrases.language)) is not None:
            sentence = said
    asked, reader.asked = reader.asked, None
    if asked is not None and (answer := _answer(reader, utterance, asked, sentence)) is not None:
        cues, phrases = all_cues()[asked.language], all_phrases()[asked.language]
        sentence = with_capitals(as_written(answer, phrases), reader.first_names)
    elif _corrects(reader, index, utterance, sentence, spoken):
        return
    restated = _restated(reader, sentence)
    stated_before = (reader.stated, reader.between)
    reader.stated, reader.taken_back, reader.between = None, None, "next"
    thing, reader.asked_thing = reader.asked_thing, None
    named = with_named(sentence, thing) if thing is not None else None
    request = split_request(sentence) if named is None else Request("inside", 0, len(named))
    is_here = reader.last_sentence is not None and reader.last_sentence[0] == index
    request = request.where_said(is_here=is_here)
    if request.kind == "inside" or (request.kind == "before" and (is_here or request.is_of_value)):
        reader.asked_in = index
    if request.kind in ("named", "update"):
        reader.asked_thing = sentence[request.start : request.end] or None
        return
    if request.kind == "before" and not is_of_next(sentence, place):
        # The number that is asked for by "that number" may have been told before the last sentence.
        is_last = reader.last_sentence is not None and _HAS_DIGIT.search(reader.last_sentence[1]) is not None
        if is_last or not request.is_of_value:
            _ask_for_last(reader)
        return
    if request.kind in ("before", "next"):
        reader.asked_next, reader.asked_in = True, index
        return
    core = sentence if request.kind == "none" else (named or sentence)[request.start : request.end].strip()
    if restated is not None and request.kind == "none":
        core = sentence[restated.start :][:1].upper() + sentence[restated.start + 1 :]
    # "My PIN is 4471, don't keep it" says nothing more of the PIN.
    core = core[: contrary_start(aligned(core))]
    dated = DATED.search(core)
    core = core[: dated.start()].rstrip() if dated and dated.end() == len(core) else core
    if request.kind == "inside" and utterance.speaker == "user" and _ADDRESSES.search(core):
        # `Remember, you are not alone` asks nobody to remember a fact.
        return
    is_asked = request.kind == "inside" or reader.asked_next
    reader.asked_next = False
    taken_back = None
    if request.kind == "inside":
        # The verb of `dass mein Flug am 13. geht, nein, am 14.` stands before what corrects it.
        taken_back = corrected_within(core, cues, lambda _: []) if request.is_subordinate else None
        core = taken_back.statement if taken_back is not None else core
        # "Could you remember that I work nights?" asks, and what is to be remembered does not.
        told = _ASKING_END.sub("", core)
        if told != core and not asks(told, cues):
            core = told + ("。" if cues is not None and cues.unspaced else ".")
        if request.is_subordinate and phrases is not None and phrases.language == "german":
            core = main_clause(core)
        core = core[:1].upper() + core[1:]
    if phrases is None:
        reader.last_sentence, reader.last_count = None, 0
        return
    statement = Statement(spoken, core, utterance.said_at, phrases, cues, is_asked, utterance.speaker == "file")
    held = None
    if _may_look(reader) and not is_quoted(core):
        held = corrected_within(core, cues, _reads(reader, statement))
    if held is not None:
        core = held.statement
        statement = replace(statement, core=core)
    if asks(sentence if held is None else core, cues) and request.kind != "inside":
        # `My eye exam is on May 12, what should I ask there?`
        before = before_question(core)
        if not before:
            # "My exam is on Monday. What should I bring? Sorry, on Tuesday."
            reader.stated, reader.between = stated_before[0], max(stated_before[1], "answer", key=FARTHER.index)
        if not before and is_here and len(sentence.split()) < FEWEST_WORDS:
            # `Got that? Keep it.` is about what stands before the question.
            return
        if not before:
            reader.last_sentence, reader.last_count = (index, spoken, statement), 0
            return
        statement = replace(statement, core=before)
        core = before
    if is_quoted(core):
        reader.last_sentence, reader.last_count = (index, spoken, statement), 0
        return
    found: list[StatedFact] = []
    if utterance.speaker == "file" and (fact := fact_of_line(core, statement)):
        found = [fact]
    else:
        found = facts_of_sentence(statement, talk)
    if is_asked and not found:
        found = [fact for fact in [request_fact(statement, talk)] if fact]
    reader.last_sentence = (index, spoken, statement)
    reader.stated = (index, statement, found)
    is_corrected = held is not None or taken_back is not None
    found = [replace(fact, is_request=is_asked, is_corrected=is_corrected) for fact in found]
    if restated is not None:
        taken_back_now, found = taking_back(restated, statement, found)
        reader.facts += taken_back_now
    _add(reader, index, utterance, spoken, found)


def _answer(reader: _Reader, utterance: Utterance, asked: Asked, sentence: str) -> str | None:
    """The answer to a question as a sentence of its own; None where it is no short one, or states something itself."""
    answer = asked.answer(sentence)
    if answer is None or not _may_look(reader):
        return None
    cues = all_cues()[asked.language]
    as_it_stands = Statement(sentence, sentence, utterance.said_at, all_phrases()[asked.language], cues)
    return None if _reads(reader, as_it_stands)(sentence) else answer


def _corrects(reader: _Reader, index: int, utterance: Utterance, sentence: str, spoken: str) -> bool:
    """Whether a sentence takes back a part of the statement before it, and nothing else; then what holds is read.

    `sentence` is as one writes it, `spoken` as it stands.
    """
    if reader.stated is None or not _may_look(reader):
        return False
    of, statement, facts = reader.stated
    cues = statement.cues
    assert cues is not None
    where = reader.between
    if reader.taken_back is not None:
        fragment = continued(sentence, reader.taken_back, cues.language)
    else:
        fragment = fragment_of(sentence, cues.language, where)
    if fragment is None:
        return False
    if not fragment.text:
        reader.taken_back = fragment
        return True
    held = corrected(statement.core, fragment, cues, _reads(reader, statement))
    if held is None:
        return False
    corrected_statement = replace(statement, sentence=spoken, core=held.statement, said_at=utterance.said_at)
    read = facts_of_sentence(corrected_statement, reader.talk)
    if not read and statement.is_asked:
        read = [fact for fact in [request_fact(corrected_statement, reader.talk)] if fact]
    # What the statement says besides is said with the words that hold.
    held_too = {_key(fact) for fact in facts} & {_key(fact) for fact in read}
    reader.facts[:] = [
        fact
        for fact in reader.facts
        if not (fact.utterance == of and fact.sentence == statement.sentence and _key(fact) in held_too)
    ]
    is_request = any(fact.is_request for fact in facts) or statement.is_asked
    new = [fact if _key(fact) in held_too else _replacing(fact, facts, fragment) for fact in read]
    if not read and not facts:
        # A statement that no pattern knows is one all the same.
        old, new = taking_back(Restated(of, statement, facts, 0, fragment.cue), corrected_statement, [])
        reader.facts += old
    _add(reader, index, utterance, spoken, [replace(fact, is_request=is_request) for fact in new])
    reader.last_sentence = (index, spoken, corrected_statement)
    reader.stated, reader.taken_back = (index, corrected_statement, read), None
    return True


def _restated(reader: _Reader, sentence: str) -> Restated | None:
    """What a sentence takes back by going on otherwise, where words say so that surely take something back."""
    if reader.stated is None:
        return None
    of, statement, facts = reader.stated
    assert statement.cues is not None
    language = statement.cues.language
    found = restated_at(sentence, language, reader.between)
    if found is None or not is_about_the_same(statement.core, sentence[found[0] :], language):
        return None
    return Restated(of, statement, facts, *found)


def _replacing(fact: StatedFact, facts: Sequence[StatedFact], fragment: Fragment) -> StatedFact:
    """The fact with the one whose place it takes. Of a functional one its predicate says which."""
    gone = [old.object for old in facts if (old.subject, old.predicate) == (fact.subject, fact.predicate)]
    old = gone[0] if len(gone) == 1 and not fact.is_functional else None
    return replace(fact, change=Change("replaces", fragment.cue[:40], old))


def _key(fact: StatedFact) -> tuple[str, str, str]:
    return fact.subject, fact.predicate, folded(fact.object)


def _may_look(reader: _Reader) -> bool:
    return reader.correction_reads < _MAX_CORRECTION_READS


def _reads(reader: _Reader, statement: Statement) -> ReadSentence:
    """Reads sentences in place of a statement, of which the conversation knows nothing afterwards."""

    def read(text: str) -> list[StatedFact]:
        reader.correction_reads += 1
        return facts_of_sentence(replace(statement, sentence=text, core=text), copy.deepcopy(reader.talk))

    return read


def _add(reader: _Reader, index: int, utterance: Utterance, sentence: str, found: Iterable[StatedFact]) -> None:
    seen: set[tuple[str, str, str]] = set()
    count = 0
    for stated in found:
        # What was typed in haste is not in the sentence as it stands.
        of = sentence if stated.object in sentence else stated.text
        fact = in_its_time(stated, of, utterance.said_at, needs_year=utterance.speaker == "file")
        key = _key(fact)
        if key in seen:
            continue
        seen.add(key)
        count += 1
        reader.facts.append(
            replace(
                fact,
                utterance=index,
                sentence=sentence,
                said_at=utterance.said_at,
                subject=fact.subject[:MAX_FIELD_CHARS],
                predicate=fact.predicate[:MAX_FIELD_CHARS],
                object=fact.object[:MAX_FIELD_CHARS],
            )
        )
    reader.last_count = count


def _ask_for_last(reader: _Reader) -> None:
    """Mark the facts of the sentence before as asked for; where it states none, it is a fact as it stands."""
    if reader.last_count:
        start = len(reader.facts) - reader.last_count
        reader.facts[start:] = [replace(fact, is_request=True) for fact in reader.facts[start:]]
        return
    if reader.last_sentence is None:
        return
    index, sentence, statement = reader.last_sentence
    fact = None if asks(sentence, statement.cues) else request_fact(replace(statement, is_asked=True), reader.talk)
    if fact is not None:
        reader.facts.append(replace(fact, utterance=index, sentence=sentence, is_request=True))
        reader.last_count = 1


def _phrases_of(cues: Cues | None) -> Phrases | None:
    return None if cues is None else all_phrases().get(cues.language)
