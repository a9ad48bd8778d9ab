"""Sentences that may tell a change, in words that no pattern knows: what they say of how things are. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from reverie_server.heuristics.changes.asking_sentences import asks_a_favour, before_asking, is_a_favour
from reverie_server.heuristics.changes.change_pairs import units_of
from reverie_server.heuristics.changes.change_words import change_words
from reverie_server.heuristics.changes.values import (
    NO_VALUES,
    Values,
    values_of,
)
from reverie_server.heuristics.cues import Cues, all_cues, cues_of, folded
from reverie_server.heuristics.fact_grammar.clauses import clauses_of, is_quoted
from reverie_server.heuristics.fact_grammar.people import People
from reverie_server.heuristics.fact_grammar.phrases import Phrases, all_phrases
from reverie_server.heuristics.fact_grammar.subjects import subject_of
from reverie_server.heuristics.requests.fact_requests import aligned, split_request
from reverie_server.heuristics.requests.words_of_others import own_words
from reverie_server.heuristics.salience import asks
from reverie_server.heuristics.spoken_sentences import spoken_sentences
from reverie_server.heuristics.stated_fact import Utterance
from reverie_server.text.fences import strip_injected

# Of one conversation no more sentences are compared, and as many mere statements.
MAX_SENTENCES = 80
_MAX_CHARS = 300
_FEWEST_WORDS, _FEWEST_CHARS = 4, 6
_FEWEST_ASKING = 3
_CLAUSE_END = re.compile(r"[,;.!?](?!\d)|[，；。！？]")
_PART_END = re.compile(r"[,;:–—]\s|[，；：]|\s(?=¿)")
_CONDITION = re.compile(
    r"(?:and |but |und |aber |y |pero )?(?:if|unless|wenn|falls|sofern|si(?!,))(?!\w)|(?:如果|要是|假如|万一|若是|除非)"
)
# Who asks so is not sure of what stands before it.
# Who needs an idea asks for one.
_ASKS_FOR = re.compile(
    r"(?<!\w)(?:(?:need|want|could use|after|looking for) (?:an?|some|any|more|your|help)(?!\w)[^,.;]{0,40}?(?<!\w)"
    r"(?:ideas?|recipes?|suggestions?|tips?|advice|help|inspiration|recommendations?)"
    r"|(?:brauch\w*|such\w*) [^,.;]{0,40}?(?<!\w)(?:ideen?|rezepte?|vorschl[aä]ge?|tipps?|rat|hilfe|empfehlung(?:en)?)"
    r"|(?:necesit\w+|busc\w+|quier\w+) [^,.;]{0,40}?(?<!\w)(?:ideas?|recetas?|sugerencias?|consejos?|ayuda"
    r"|recomendaci(?:ón|ones)))(?!\w)|求推荐|[帮给]我(?:推荐|想[个一]|写|出个主意)"
    r"|(?:去哪|怎么|什么|哪[家个种款]|多少|几点).{0,12}(?:好|合适|划算|办|行|呢|啊)[呢啊呀]?[。.!！~ ]*$"
    r"|[吗嗎呢][。.!！~ ]*$"
)
_DOUBTS = re.compile(
    r"\W*(?:(?:or|oder|o|u|stimmt|richtig|korrekt|correct|is(?:n't)? that (?:right|so|correct|true)"
    r"|am i (?:right|wrong)|no es (?:así|asi|cierto|verdad)|verdad|cierto)(?!\w)|还是|或者|是不是|对不对|是吗)",
    re.IGNORECASE,
)
# What begins so is only thought of, is of another time, or is a part of the question. In German a verb before its
# subject asks, or says on what something depends.
_SUPPOSED = re.compile(
    r"\W*(?:(?:say|suppos\w+|assum\w+|imagin\w+|given|provided|had i|were i|should i|if|unless|when(?:ever)?|while"
    r"|after|before|until|as soon as|(?:mal )?angenommen|nehmen wir|gesetzt|stell dir|wenn|falls|sofern|sobald|als"
    r"|nachdem|bevor|während|\w+ (?:ich|wir|man)|si|cuando|mientras|antes de|despu[ée]s de|al|de \w+[aei]r|en caso"
    r"|suponiendo|supongamos)(?!\w)|如果|要是|假如|假设|假設|万一|若|等我|当)|[^，]*的[话話]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class OpenFact:
    """A fact that holds when a sentence is said."""

    subject: str
    predicate: str
    object: str
    text: str
    said_at: datetime
    is_functional: bool
    about_user: bool = True
    category: str = "general"


@dataclass(frozen=True, slots=True)
class ChangeSentence:
    """A sentence that may tell a change. `of_other` is who it is about, where that is neither the user nor a thing.

    `said` is the sentence without a question behind what it tells. One that does not say that something changed
    (`tells`) has `values`, of which what was said before may have others, or is a mere statement (`is_statement`).
    `names_old`: it says in so many words how it was before. `old_values` are those that it says are no more: `not at
    19:30`.
    """

    utterance: int
    sentence: str
    said: str
    said_at: datetime
    language: str
    of_other: str | None
    tells: bool
    values: Values
    names_old: bool = False
    old_values: Values = NO_VALUES
    is_statement: bool = True

    @property
    def told(self) -> str:
        """What it states, without what asks to remember it and without a question."""
        return _stated_part(self.said)


def change_sentences(
    utterances: Sequence[Utterance],
    language: str,
    people: Mapping[str, str] | None = None,
    *,
    with_statements: bool = False,
) -> list[ChangeSentence]:
    """The sentences of users that may tell a change; with the mere statements, too. Takes time linear in the texts."""
    known = People(dict(people or {}))
    found: list[ChangeSentence] = []
    mere = 0
    for index, utterance in enumerate(utterances):
        if utterance.speaker != "user":
            continue
        text = own_words(strip_injected(utterance.text))
        own = cues_of(folded(text[:2000]), all_cues().get(language))
        for span in spoken_sentences(text):
            sentence = text[span.start : span.end].strip()
            cues = cues_of(folded(sentence), own)
            if cues is None or cues.language not in change_words() or len(sentence) > _MAX_CHARS or is_quoted(sentence):
                continue
            values = stated_values(sentence, cues)
            tells = _tells(sentence, cues)
            states = is_statement(sentence, cues)
            is_mere = not tells and values.is_empty
            if values.is_empty and is_a_favour(sentence):
                continue
            if is_mere and (asks_a_favour(sentence) or not (with_statements and states and mere < MAX_SENTENCES)):
                continue
            mere += is_mere
            other = _other(sentence, known, all_phrases()[cues.language])
            is_old_named = change_words()[cues.language]["before"].search(folded(sentence)) is not None
            found.append(
                ChangeSentence(
                    utterance=index,
                    sentence=sentence,
                    said=_before_question(sentence, cues) or sentence,
                    said_at=utterance.said_at,
                    language=cues.language,
                    of_other=other,
                    tells=tells,
                    values=values,
                    names_old=is_old_named,
                    old_values=_old_values(sentence, cues.language),
                    is_statement=states,
                )
            )
            if len(found) - mere == MAX_SENTENCES:
                return found
    return found


def says_it_is_over(change: ChangeSentence) -> bool:
    """Whether a sentence says in so many words that something has ended."""
    return change_words()[change.language]["over"].search(folded(change.said)) is not None


def is_statement(sentence: str, cues: Cues, *, may_be_doubtful: bool = False) -> bool:
    """Whether a sentence, or a part of it, says something of how things are: no question, no story, and nothing that is
    no more than likely, unless it `may_be_doubtful`. "The doctor said no, so it's peppermint tea for me now" does."""
    told = _before_question(sentence, cues)
    if not _is_long_enough(told, unspaced=cues.unspaced):
        return False
    phrases = all_phrases()[cues.language]
    if phrases["fiction"].search(aligned(sentence)) or _ASKS_FOR.search(folded(sentence)):
        return False
    if may_be_doubtful:
        return True
    parts = [aligned(part) for part in units_of(told)]
    return not is_conditional(told) and any(phrases["drop"].search(part) is None for part in parts)


def is_conditional(sentence: str) -> bool:
    """Whether what a sentence says depends on something: "If we move to Leeds in May, my commute is much longer"."""
    return any(_CONDITION.match(aligned(part)) for part in units_of(sentence))


def stated_values(sentence: str, cues: Cues, *, may_be_doubtful: bool = False) -> Values:
    """The values that a sentence states, without what asks to remember them; none of a question, nor of a wish or a
    guess, unless it `may_be_doubtful`: what was no more than likely does not hold either once it is otherwise."""
    core = _stated_part(_before_question(sentence, cues))
    phrases, plain = all_phrases()[cues.language], aligned(core)
    if asks(core, cues) or phrases["fiction"].search(plain):
        return NO_VALUES
    if not may_be_doubtful and phrases["drop"].search(plain):
        return NO_VALUES
    return values_of(core, cues.language)


def _before_question(sentence: str, cues: Cues) -> str:
    """A sentence, or what it tells before it asks; "" where all of it asks, or asks whether that is so.

    "My twelve hens lay well, what do I pay for feed?" tells of twelve hens. "There are twelve, right?" asks, and so
    does "The gym is 45 now, or is it still 30?"; "Translate this: I live in Leeds now, is it right?" tells of nobody.
    """
    if not asks(sentence, cues):
        return before_asking(sentence)
    start = 0
    for end in _PART_END.finditer(sentence):
        if asks(sentence[start : end.start()].strip(), cues):
            break
        start = end.end()
    told, asked = sentence[:start].strip(" ,;:–—，；："), sentence[start:]
    if ":" in told or "：" in told or sentence[:start].rstrip().endswith((":", "：")) or _SUPPOSED.match(told):
        return ""
    is_question = _is_long_enough(asked, unspaced=cues.unspaced, words=_FEWEST_ASKING)
    return told if is_question and _DOUBTS.match(asked) is None else ""


def _stated_part(sentence: str) -> str:
    """A sentence without the words that ask to remember it, where they stand around what is meant."""
    request = split_request(sentence)
    return sentence[request.start : request.end] if request.kind == "inside" else sentence


def _tells(sentence: str, cues: Cues) -> bool:
    """Whether a sentence says in any words that something is otherwise than before."""
    words, plain = change_words()[cues.language], folded(_before_question(sentence, cues))
    if not words["tells"].search(plain) or words["hedged"].search(plain):
        return False
    return is_statement(sentence, cues)


def _old_values(sentence: str, language: str) -> Values:
    """The values that a sentence says are no more: those of what it denies, to the end of the clause."""
    denied = change_words()[language]["instead"].search(sentence)
    return NO_VALUES if denied is None else values_of(_CLAUSE_END.split(sentence[denied.end() :], 1)[0], language)


def _is_long_enough(sentence: str, *, unspaced: bool, words: int = _FEWEST_WORDS) -> bool:
    return len(sentence) >= _FEWEST_CHARS if unspaced else len(sentence.split()) >= words


def _other(sentence: str, people: People, phrases: Phrases) -> str | None:
    """The person whom the first clause is about, if that is not the user."""
    clauses = clauses_of(sentence, phrases)
    subject = subject_of(clauses[0], None, people, phrases, 0) if clauses else None
    return subject.name if subject is not None and subject.kind in ("person", "name") else None
