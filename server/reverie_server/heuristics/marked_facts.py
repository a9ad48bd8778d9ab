"""The facts of a passage whose spans are marked by what they say (`embed.marks`), in words that no pattern reads.

A mark says one value (`home`), whose it is, and whether it holds, is over or is to come; who somebody is, `rel` and
`person` say, `pet` and `petname`. Beginning with `over_` it is the words that say that something is over. What patterns
read of the same sentence stays as it is. Pure.

A passage is a message, or a part of it of whole sentences: who a name is says the sentence before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from reverie_indexer.embed.marks import NAMES, Mark
from reverie_server.heuristics.changes.change_sentences import is_conditional
from reverie_server.heuristics.cues import Cues, all_cues, cues_of, folded
from reverie_server.heuristics.fact_grammar.clauses import is_quoted
from reverie_server.heuristics.fact_grammar.people import People
from reverie_server.heuristics.fact_grammar.phrases import all_phrases
from reverie_server.heuristics.fact_grammar.terms import PETS, content_terms
from reverie_server.heuristics.fact_times import in_its_time
from reverie_server.heuristics.jest import is_joke
from reverie_server.heuristics.marked_objects import introduces, is_none
from reverie_server.heuristics.marked_people import (
    Somebody,
    being_of,
    farther_names,
    is_of_end,
    is_own,
    is_sure,
    people_in,
    relation_of,
    single_roles,
    subject_of_mark,
    value_of,
    whole_marks,
)
from reverie_server.heuristics.names_of_others import is_name_of_other
from reverie_server.heuristics.requests.fact_requests import aligned, split_request
from reverie_server.heuristics.requests.words_of_others import own_words
from reverie_server.heuristics.spoken_sentences import spoken_sentences
from reverie_server.heuristics.stated_fact import MAX_FIELD_CHARS, SELF, Category, Change, StatedFact, Utterance
from reverie_server.text.fences import strip_injected

_MAX_CHARS = 300
_CUE_CHARS = 40
# How far a fact of a mark is believed that is likelier right than the second.
CONFIDENCE, SURELY = 0.7, 0.85
UNSURE = 0.6
"""How far one of any other mark is believed at least (`confidence_of`). It takes the place of no surer fact, and, but
for homes and employers, of none: "im chewing gum like a footy manager" is no job, and ends none."""
_FOR_CONFIDENCE = 0.08
# What says that a job or a love is over, and of which it does not say, takes all of it away.
_SURE_OF_ALL = 0.75
# A job beside another ends no employer.
_SIDE_JOB = re.compile(
    r"(?<!\w)(?:side|second|weekend|saturday|sunday|part-time|holiday) (?:job|gig|work)"
    r"|(?<!\w)(?:neben|zweit|ferien|mini)job|segundo (?:trabajo|empleo)|trabajito|chapuza|兼职|兼職|副业|副業",
    re.IGNORECASE,
)


# A sentence that begins with him or her tells nothing of the speaker before it says so.
# Spanish leaves out who: "cumple los 12 en mayo".
_OF_HIM = re.compile(
    r"\W*(?:(?:s?he(?:['’]?s)?|they(?:['’]?re)?|er|él|ella|ellos|ellas)(?!\w)|[他她]们?"
    r"|(?:(?:y|ya|ahora|también) )*(?:trabaja|vive|estudia|tiene|cumple|nació|juega|canta|cuida)n?(?!\w))"
)
# Who is named so as not to be mixed up: "my brother, not Ortega".
_DENIED = re.compile(r"[,;] (?:no|not|nicht)(?: (?:el|la|the|der|die|my|mein|meine|mi))? $|[，；]?不是$")
_DENIED_CHARS = 16
_OF_ONESELF = re.compile(
    r"(?<!\w)(?:i|i'?m|i'?ve|my|me|mine|we|our|us|ich|mein\w*|mir|mich|wir|uns\w*|yo|mi|mis|me|nos|nuestr\w+|soy|tengo|vivo)(?!\w)|[我咱]"
)


@dataclass(frozen=True, slots=True)
class _Kind:
    """What a label comes to as a fact."""

    predicate: str
    category: Category = "profile"
    is_functional: bool = False


_KIND: Mapping[str, _Kind] = {
    "age": _Kind("age", is_functional=True),
    "allergy": _Kind("allergic_to"),
    "avoids": _Kind("avoids"),
    "birthday": _Kind("birthday", is_functional=True),
    "dead": _Kind("died", "event"),
    "diet": _Kind("diet", is_functional=True),
    "dislikes": _Kind("dislikes", "preference"),
    "drives": _Kind("drives", is_functional=True),
    "employer": _Kind("works_at", is_functional=True),
    "field": _Kind("works_in", is_functional=True),
    "from": _Kind("from", is_functional=True),
    "has": _Kind("has"),
    "hobby": _Kind("habit", "preference"),
    "home": _Kind("lives_in", is_functional=True),
    "illness": _Kind("has"),
    "job": _Kind("works_as", is_functional=True),
    "kids": _Kind("has"),
    "learns": _Kind("learns"),
    "likes": _Kind("likes", "preference"),
    "lives_with": _Kind("lives_with", is_functional=True),
    "marital": _Kind("is"),
    "medicine": _Kind("takes"),
    "name": _Kind("name", is_functional=True),
    "nick": _Kind("nickname", is_functional=True),
    "pet": _Kind("has"),
    "religion": _Kind("religion", is_functional=True),
    "schedule": _Kind("shift", is_functional=True),
    "school": _Kind("school", is_functional=True),
    "speaks": _Kind("speaks"),
    "studies": _Kind("learns"),
}
# What is over where no value of it is said, as `changes.change_rules` knows it.
_ENDED: Mapping[str, tuple[str, str]] = {"over_job": ("quit", "job"), "over_partner": ("broke up", "broke up")}


@dataclass(frozen=True, slots=True)
class ToldSentence:
    """A sentence at `start` to `end` of a passage, and what of it is `told`: "" where it states nothing."""

    start: int
    end: int
    sentence: str
    told: str


@dataclass(frozen=True, slots=True)
class PassageToMark:
    """Sentences of an utterance, one after the other."""

    utterance: int
    text: str
    sentences: tuple[ToldSentence, ...]
    said_at: datetime


def passages_to_mark(utterances: Sequence[Utterance], language: str) -> list[PassageToMark]:
    """What users say, in passages of sentences at least one of which may state something: is no quotation, no story.

    Takes time linear in the texts.
    """
    found: list[PassageToMark] = []
    for index, utterance in enumerate(utterances):
        if utterance.speaker != "user":
            continue
        text = own_words(strip_injected(utterance.text))
        own = cues_of(folded(text[:2000]), all_cues().get(language))
        sentences = [(span.start, span.end, text[span.start : span.end].strip()) for span in spoken_sentences(text)]
        told = [
            ToldSentence(start, end, sentence, told_of(sentence, cues_of(folded(sentence), own)))
            for start, end, sentence in sentences
            if len(sentence) <= _MAX_CHARS
        ]
        for part in _parts(told):
            start, end = part[0].start, part[-1].end
            if any(each.told for each in part):
                moved = tuple(replace(each, start=each.start - start, end=each.end - start) for each in part)
                found.append(PassageToMark(index, text[start:end], moved, utterance.said_at))
    return found


def _parts(sentences: Sequence[ToldSentence]) -> Iterator[list[ToldSentence]]:
    """The sentences in parts that are short enough for the model."""
    part: list[ToldSentence] = []
    for sentence in sentences:
        if part and sentence.end - part[0].start > _MAX_CHARS:
            yield part
            part = []
        part.append(sentence)
    if part:
        yield part


def facts_of_marks(
    passage: PassageToMark, marks: Sequence[Mark], read: Mapping[str, Sequence[StatedFact]], people: People
) -> list[StatedFact]:
    """The facts that the marks of a passage say and that are not among those that were `read` of the same sentence: by
    sentences, of each what is over, then what holds. Of two values of what one has once both hold, and neither takes
    the place of another."""
    said = list(_said(passage.text, marks, people))
    found: list[StatedFact] = []
    for sentence in passage.sentences:
        known = read.get(sentence.sentence, ())
        own = [
            each
            for each in said
            if sentence.start <= each.mark.start < sentence.end
            and passage.text[each.mark.start : each.mark.end] in sentence.told
            and not any(_is_read(fact, each) for fact in known)
        ]
        own = _without_others(passage.text, sentence, own)
        holding = Counter((each.subject, each.kind.predicate) for each in own if not each.is_over)
        for each in sorted(own, key=lambda each: not each.is_over):
            is_one = each.kind.is_functional and holding[each.subject, each.kind.predicate] == 1
            fact = StatedFact(
                passage.utterance,
                sentence.sentence,
                sentence.told,
                each.subject[:MAX_FIELD_CHARS],
                each.kind.predicate[:MAX_FIELD_CHARS],
                each.value[:MAX_FIELD_CHARS],
                each.kind.category,
                passage.said_at,
                passage.said_at,
                confidence=confidence_of(each.confidence) if not _is_surely(each) else CONFIDENCE,
                is_functional=is_one and not each.is_over,
                about_user=each.subject == SELF,
                change=Change("ends", sentence.told[:_CUE_CHARS], each.value) if each.is_over else None,
            )
            found.append(in_its_time(fact, sentence.told, passage.said_at, needs_year=False))
    return found


def _without_others(text: str, sentence: ToldSentence, said: Sequence[_Said]) -> list[_Said]:
    """What is said in a sentence, without a name that is plainly somebody else's and what is told of the speaker behind
    it: "Thomas Ochs ist Fahrlehrer" is of Thomas Ochs."""
    own_text = text[sentence.start : sentence.end]
    plain = aligned(own_text)
    told_of_other = _OF_HIM.match(plain)
    if told_of_other is not None:
        own = _OF_ONESELF.search(plain, told_of_other.end())
        until = sentence.start + (own.start() if own is not None else len(plain))
        said = [each for each in said if each.subject != SELF or each.mark.end > until]
    others = [
        each.mark.start
        for each in said
        for place in [(each.mark.start - sentence.start, each.mark.end - sentence.start)]
        if (each.subject, each.kind.predicate) == (SELF, "name")
        and (is_name_of_other(plain, *place) or not introduces(own_text, *place))
    ]
    return [each for each in said if each.subject != SELF or not others or each.mark.start < min(others)]


def confidence_of(confidence: float) -> float:
    """How far a fact is believed of a mark that is right with this likelihood, and may take the place of nothing."""
    return UNSURE + _FOR_CONFIDENCE * confidence


def _is_surely(said: _Said) -> bool:
    """Whether what a mark says may take the place of another fact; a name of somebody else is soon taken for one's own:
    "Translate, please: Hi, I'm Daniel from Lagos"."""
    return said.confidence >= SURELY and said.kind.predicate != "name"


def told_of(sentence: str, cues: Cues | None) -> str:
    """What a sentence tells, without what asks to remember it; "" where it quotes, jokes, or makes something up.

    Whether it asks, the marks know: "How do you keep a bedroom cool, it's the new place in Anlaby" tells of a home.
    """
    request = split_request(sentence)
    core = sentence[request.start : request.end].strip() if request.kind == "inside" else sentence
    if not core or core.endswith((":", "：")) or is_quoted(core) or is_joke(core) or is_conditional(core):
        return ""
    phrases = all_phrases().get(cues.language) if cues is not None else None
    if phrases is not None and any(phrases[kind].search(aligned(core)) for kind in ("handed", "fiction")):
        return ""
    return core


@dataclass(frozen=True, slots=True)
class _Said:
    """What one mark says."""

    mark: Mark
    subject: str
    kind: _Kind
    value: str
    is_over: bool
    confidence: float


def _said(text: str, marks: Sequence[Mark], people: People) -> Iterator[_Said]:
    """What the marks of a text say that are sure, in its order."""
    marks = _with_ended_pet(text, whole_marks(text, marks))
    beings = people_in(marks)
    farther = farther_names(text, marks)
    for at, mark in enumerate(marks):
        value = value_of(text[mark.start : mark.end])
        if at in farther:
            continue
        if not value or not is_sure(mark) or mark.state == "next" or is_none(text, mark, value):
            continue
        if mark.label in NAMES:
            yield from _said_of(text, mark, value, beings[at], people)
        elif mark.label in _ENDED:
            whose = SELF if is_own(mark) else subject_of_mark(text, being_of(mark, beings), people)
            if mark.confidence < _SURE_OF_ALL or (mark.label == "over_job" and _SIDE_JOB.search(text) is not None):
                continue
            if whose == SELF or (whose is not None and mark.label == "over_job"):
                predicate, object_ = _ENDED[mark.label]
                yield _Said(mark, whose, _Kind(predicate, "event"), object_, True, mark.confidence)
        elif (kind := _KIND.get(mark.label)) is not None:
            if mark.label == "pet" and (beings[at].is_named or beings[at].is_of_other):
                continue
            subject = SELF if is_own(mark) else subject_of_mark(text, being_of(mark, beings), people)
            if subject is not None:
                yield _Said(mark, subject, kind, value, is_of_end(mark), mark.confidence)


def _with_ended_pet(text: str, marks: Sequence[Mark]) -> Sequence[Mark]:
    """The marks, where words say that the speaker has a pet no more, with the end of it if there is but one."""
    names = {at for at, mark in enumerate(marks) if mark.label == "petname"}
    pets = names or {at for at, mark in enumerate(marks) if mark.label == "pet"}
    ends = [mark for mark in marks if mark.label == "over_pet" and mark.state == "over" and is_sure(mark)]
    ends = [end for end in ends if is_own(end) or end.of in pets]
    if not ends:
        return marks
    if len({folded(value_of(text[marks[at].start : marks[at].end])) for at in pets}) != 1:
        return marks
    surest = max(end.confidence for end in ends)
    return [
        replace(mark, state="over", confidence=min(mark.confidence, surest)) if at in pets else mark
        for at, mark in enumerate(marks)
    ]


def _said_of(text: str, mark: Mark, value: str, whose: Somebody, people: People) -> Iterator[_Said]:
    """Who somebody of a name is to the speaker, or was."""
    if _DENIED.search(aligned(text[max(0, mark.start - _DENIED_CHARS) : mark.start])) is not None:
        return
    if whose.relation is None:
        # "Mara took the parrot along" gives nobody a Mara, nor takes one away.
        if mark.label == "petname" and not whose.is_of_other and not people.is_person(value):
            yield _Said(mark, SELF, _Kind("pet"), value, is_of_end(mark), mark.confidence)
        return
    word = relation_of(text, whose.relation)
    if not word or not is_sure(whose.relation) or (word in PETS and people.is_person(value)):
        return
    own_word = folded(text[whose.relation.start : whose.relation.end])
    is_single = own_word in single_roles() or word in single_roles()
    is_over = is_of_end(mark) or is_of_end(whose.relation)
    if is_over:
        people.forget_role(word)
    elif mark.label == "person":
        value = people.named(value, word, is_single=is_single)
    confidence = min(mark.confidence, whose.relation.confidence, mark.of_probability)
    yield _Said(mark, SELF, _Kind(word, is_functional=is_single), value, is_over, confidence)


def _is_read(fact: StatedFact, said: _Said) -> bool:
    """Whether a fact that was read of the same sentence says the same, another value of what one has once, or what it
    takes the place of: "Our dog is called Bruno, not Balu" gives no dog Balu. What is read of somebody else is not the
    speaker's: "Tom Reed is a driving instructor"."""
    if (fact.subject == SELF) != (said.subject == SELF):
        return said.subject == SELF and _is_of_other(fact, said)
    if (fact.subject, fact.predicate) == (said.subject, said.kind.predicate) and said.kind.is_functional:
        return True
    old = fact.change.old_object if fact.change is not None else None
    if old is not None and not said.is_over and folded(said.value) == folded(old):
        return True
    value, other = content_terms(said.value), content_terms(fact.object)
    return (value <= other or other <= value) if value and other else folded(said.value) == folded(fact.object)


def _is_of_other(fact: StatedFact, said: _Said) -> bool:
    """Whether a fact of somebody else has what a mark says of the speaker, or is of whom it takes for the speaker."""
    if said.kind.predicate == "name":
        return folded(said.value) == folded(fact.subject)
    return fact.predicate == said.kind.predicate and content_terms(said.value) == content_terms(fact.object)
