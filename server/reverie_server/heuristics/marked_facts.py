"""The facts of a passage whose spans are marked by what they say (`embed.marks`), in words that no pattern reads.

A mark says one value of the speaker (`home`), or, beginning with `o_`, of the person or animal that is named last; who
that is, `rel` and `person` say, `pet` and `petname`. Beginning with `ex_` it is a value that is over, with `over_` the
words that say that something is. What patterns read of the same sentence stays as it is. Pure.

A passage is a message, or a part of it of whole sentences: who a name is says the sentence before.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache

from reverie_indexer.embed.marks import Mark
from reverie_server.heuristics.changes.change_sentences import is_conditional
from reverie_server.heuristics.cues import Cues, all_cues, cues_of, folded
from reverie_server.heuristics.fact_grammar.clauses import is_quoted
from reverie_server.heuristics.fact_grammar.people import People, role_name
from reverie_server.heuristics.fact_grammar.phrases import all_phrases, all_roles
from reverie_server.heuristics.fact_grammar.terms import PETS, content_terms
from reverie_server.heuristics.fact_times import in_its_time
from reverie_server.heuristics.jest import is_joke
from reverie_server.heuristics.requests.fact_requests import aligned, split_request
from reverie_server.heuristics.requests.words_of_others import own_words
from reverie_server.heuristics.spoken_sentences import spoken_sentences
from reverie_server.heuristics.stated_fact import MAX_FIELD_CHARS, SELF, Category, Change, StatedFact, Utterance
from reverie_server.text.fences import strip_injected

_MAX_CHARS = 300
# From here on four of five marks of held lives are right, of the doubtful labels as many from `SURE` on.
LEAST_SURE = 0.6
# What ends something takes away what was said.
_SURE_OF_ENDS = 0.8
# What becomes a line of a profile has to be surer.
SURE = 0.8
_CUE_CHARS = 40
# What is no value at its ends.
_EMPTY = " \t.,;:!?'\"“”„«»()[]\u200b\u200c\u200e\u200f\u2060\ufeff\ufffd"
# Nor are these words.
_LITTLE_WORDS = (
    "a an the in at on of and my our with ein eine einen einem einer der die das den dem im am bei und mein meine un"
    " una el la los las en de del y mi mis o um uma no na le les du des une et à il lo di"
)
_LITTLE = frozenset(_LITTLE_WORDS.split())
# How far a fact of a mark is believed, from the second probability on by the first.
CONFIDENCE, SURELY = 0.7, 0.9
UNSURE = 0.65
"""How far one of any other mark is believed. It takes the place of no other fact: "im chewing gum like a footy
manager" is no job, and ends none."""
# So many characters may stand between a name and who that is, and none of these words: "lunch with Priya and my boss".
_MOST_BETWEEN, _MOST_HAN_BETWEEN = 16, 4
_APART = re.compile(
    r"(?<!\w)(?:and|or|with|und|oder|mit|bei|y|e|o|u|con|et|ou|avec|of|from|for|von|für|para|por|than|als|que)(?!\w)|[&/;:]"
    r"|[和跟与與同及或给給、；：]|[!?。！？\n]|(?<!\b[A-Z][a-z])\.\s",
    re.IGNORECASE,
)
# A letter of a script in which spaces part words.
_LETTER = re.compile(r"[^\W\d_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
# Who somebody is to somebody else: "my boss's son", "der Sohn meiner Chefin", "el hijo de mi jefa", 老板的儿子.
_OWNER = re.compile(
    r"(?:['’]s|s['’]) (?:\w+ )?|的| (?:von )?(?:meine|unsere)[mrs] | de (?:mi|la|el|mis) | del | of (?:my|our) ",
    re.IGNORECASE,
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
_OF_OTHER, _OVER = "o_", "ex_"
# Of others there were too few to learn from.
_SELDOM_OF_OTHERS = frozenset(
    {"avoids", "dislikes", "field", "has", "learns", "lives_with", "pet", "religion", "schedule", "speaks"}
)
_DOUBTFUL = frozenset({"drives", "has", "hobby", "schedule", "studies"})
# What is over where no value of it is said, as `changes.change_rules` knows it.
_ENDED: Mapping[str, tuple[str, str]] = {"over_job": ("quit", "job"), "over_partner": ("broke up", "broke up")}
# What of a life says who somebody is.
_WHO = frozenset(
    (
        *("name", "nick", "age", "birthday", "home", "from", "job", "employer", "field", "studies", "school"),
        *("marital", "kids", "lives_with", "illness", "allergy", "diet", "avoids", "religion", "speaks"),
    )
)
_NAMES, _KINDS = ("person", "petname"), ("rel", "pet", "kids")


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
            ToldSentence(start, end, sentence, _told(sentence, cues_of(folded(sentence), own)))
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
                confidence=CONFIDENCE if _is_surely(each) else UNSURE,
                is_functional=is_one and not each.is_over,
                about_user=each.subject == SELF,
                change=Change("ends", sentence.told[:_CUE_CHARS], each.value) if each.is_over else None,
            )
            found.append(in_its_time(fact, sentence.told, passage.said_at, needs_year=False))
    return found


def _is_surely(said: _Said) -> bool:
    """Whether what a mark says may take the place of another fact; a name of somebody else is soon taken for one's own:
    "Translate, please: Hi, I'm Daniel from Lagos"."""
    return said.mark.probability >= SURELY and said.kind.predicate != "name"


def says_who(marks: Sequence[Mark]) -> bool:
    """Whether the marks of a sentence surely say who the speaker is, or who somebody is to them."""
    sure = {mark.label for mark in marks if mark.probability >= SURE}
    return not sure.isdisjoint(_WHO) or {"rel", "person"} <= sure or {"pet", "petname"} <= sure


def _told(sentence: str, cues: Cues | None) -> str:
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


@dataclass(slots=True)
class _Somebody:
    """Somebody of whom a sentence speaks: what they are to the speaker, and their name. One who `is_of_other` is that
    to somebody else."""

    relation: Mark | None = None
    name: Mark | None = None
    is_of_other: bool = False


@dataclass(frozen=True, slots=True)
class _Said:
    """What one mark says."""

    mark: Mark
    subject: str
    kind: _Kind
    value: str
    is_over: bool


def _is_over(mark: Mark) -> bool:
    return mark.label.startswith((_OVER, "over_"))


def _is_sure(mark: Mark) -> bool:
    least = _SURE_OF_ENDS if _is_over(mark) else LEAST_SURE
    return mark.probability >= (SURE if mark.label.removeprefix(_OF_OTHER) in _DOUBTFUL else least)


def _said(text: str, marks: Sequence[Mark], people: People) -> Iterator[_Said]:
    """What the marks of a text say that are sure, in its order."""
    marks = _in_one(text, [_of_whole_words(text, mark) for mark in marks])
    known = _people_in(text, marks)
    for mark in marks:
        value, label, whose = (
            _value(text[mark.start : mark.end]),
            mark.label.removeprefix(_OVER),
            known.get(mark.start),
        )
        if not value or not _is_sure(mark):
            continue
        if label in _NAMES:
            if whose is not None and whose.relation is None and label == "petname" and not whose.is_of_other:
                yield _Said(mark, SELF, _Kind("pet"), value, _is_over(mark))
            elif whose is not None and whose.relation is not None and _is_sure(whose.relation):
                word = _relation(text, whose.relation)
                is_single = folded(text[whose.relation.start : whose.relation.end]) in _single()
                is_over = _is_over(mark) or _is_over(whose.relation)
                if word and is_over:
                    people.forget_role(word)
                elif word and label == "person":
                    value = people.named(value, word, is_single=is_single)
                if word:
                    yield _Said(mark, SELF, _Kind(word, is_functional=is_single), value, is_over)
        elif label in _ENDED:
            if _is_own(text, mark, marks):
                predicate, object_ = _ENDED[label]
                yield _Said(mark, SELF, _Kind(predicate, "event"), object_, is_over=True)
        elif (kind := _KIND.get(label.removeprefix(_OF_OTHER))) is not None:
            is_of_other = label.startswith(_OF_OTHER) or (label in _SELDOM_OF_OTHERS and not _is_own(text, mark, marks))
            subject = _subject(text, whose, people) if is_of_other else SELF
            if label == "pet" and (is_of_other or (whose is not None and (whose.name or whose.is_of_other))):
                continue
            if subject is not None:
                yield _Said(mark, subject, kind, value, _is_over(mark))


def _of_whole_words(text: str, mark: Mark) -> Mark:
    """The mark with the whole of the words at its ends: tokens are parts of words."""
    start, end = mark.start, mark.end
    while start > 0 and _LETTER.match(text, start - 1) and _LETTER.match(text, start):
        start -= 1
    while end < len(text) and _LETTER.match(text, end) and _LETTER.match(text, end - 1):
        end += 1
    return replace(mark, start=start, end=end)


def _in_one(text: str, marks: Sequence[Mark]) -> list[Mark]:
    """Marks of one label with no more than a space between them as one."""
    found: list[Mark] = []
    for mark in marks:
        last = found[-1] if found else None
        if last is not None and last.label == mark.label and text[last.end : mark.start] in ("", " "):
            share = min(last.probability, mark.probability)
            found[-1] = replace(last, end=mark.end, probability=share)
        else:
            found.append(mark)
    return found


def _value(marked: str) -> str:
    """What is marked without what is no part of a value at its ends."""
    words = marked.strip(_EMPTY).split(" ")
    while words and words[-1].casefold() in _LITTLE:
        words.pop()
    while words and words[0].casefold() in _LITTLE:
        words.pop(0)
    return " ".join(words).strip(_EMPTY)


def _is_own(text: str, mark: Mark, marks: Sequence[Mark]) -> bool:
    """Whether a mark that does not tell is of the speaker: where others are spoken of before it, somebody says "I"
    since, or in it."""
    others = [each.end for each in marks if each.end <= mark.start and each.label.endswith(("rel", "person"))]
    if not others:
        return True
    said = aligned(text[others[-1] : mark.end])
    return any(phrases["first"].search(said) is not None for phrases in all_phrases().values())


def _people_in(text: str, marks: Sequence[Mark]) -> dict[int, _Somebody]:
    """Of whom each mark of others speaks, by its start. One that is not sure is of somebody unknown."""
    found: dict[int, _Somebody] = {}
    last: _Somebody | None = None
    before: Mark | None = None
    for mark in marks:
        label = mark.label.removeprefix(_OVER)
        if label not in _KINDS and label not in _NAMES:
            if last is not None:
                found[mark.start] = last
            continue
        gap = text[before.end : mark.start] if before is not None else None
        is_near = gap is not None and _is_near(gap)
        if label in _KINDS:
            is_owned = gap is not None and _OWNER.fullmatch(gap) is not None
            if is_owned and last is not None:
                last.is_of_other = last.is_of_other or label == "rel"
            if label != "rel" or last is None or last.relation is not None or not is_near:
                last = _Somebody(is_of_other=is_owned)
            last.relation = mark
        else:
            relation = last.relation if last is not None else None
            is_next = relation is not None and relation.label != "rel" and gap is not None and len(gap) <= _MOST_BETWEEN
            if last is None or last.name is not None or not is_near:
                last = _Somebody(relation if is_next else None)
            last.name = mark
        if not _is_sure(mark):
            last = _Somebody(is_of_other=True)
        if last.is_of_other:
            last.relation = None
        found[mark.start] = last
        before = mark
    return found


def _is_near(gap: str) -> bool:
    """Whether what stands between two marks does not part a name from who that is."""
    most = _MOST_HAN_BETWEEN if any("\u3400" <= letter <= "\u9fff" for letter in gap) else _MOST_BETWEEN
    return len(gap) <= most and _APART.search(gap) is None


def _subject(text: str, whose: _Somebody | None, people: People) -> str | None:
    if whose is None:
        return None
    if whose.name is not None:
        name = _value(text[whose.name.start : whose.name.end])
        return people.named(name) if name else None
    if whose.relation is None or whose.relation.label == "kids":
        return None
    word = _relation(text, whose.relation)
    return (people.of_role(word) or f"{SELF}'s {word}") if word else None


def _relation(text: str, mark: Mark) -> str:
    """What somebody is to the speaker, as a predicate: the one name of the words, or of the last; "" without a word."""
    words = folded(_value(text[mark.start : mark.end]))
    if not any(map(str.isalpha, words)):
        return ""
    roles, last = _roles(), words.split(" ")[-1]
    for word in (words, last, last.removesuffix("s")):
        if (name := role_name(word)) in roles:
            return "child" if name in ("kids", "children") else name
    # Of words without spaces between them: 两只猫.
    of_han = [role for role in roles if len(role) > 1 or not role.isascii() if words.endswith(role)]
    if of_han and not words.isascii():
        return role_name(max(of_han, key=len))
    return {"kids": "child", "pet": "pet"}.get(mark.label.removeprefix(_OVER), words)


def _is_read(fact: StatedFact, said: _Said) -> bool:
    """Whether a fact that was read of the same sentence says the same, or another value of what one has once."""
    if (fact.subject == SELF) != (said.subject == SELF):
        return False
    if (fact.subject, fact.predicate) == (said.subject, said.kind.predicate) and said.kind.is_functional:
        return True
    value, other = content_terms(said.value), content_terms(fact.object)
    return (value <= other or other <= value) if value and other else folded(said.value) == folded(fact.object)


@cache
def _roles() -> frozenset[str]:
    """The words for people and animals, and their one name in all languages."""
    words = {*all_roles(), *PETS}
    return frozenset({*words, *map(role_name, words)})


@cache
def _single() -> frozenset[str]:
    """The words for people of whom one has one at a time, in all languages."""
    return frozenset(word for phrases in all_phrases().values() for word in phrases.relations.single)
