"""Lines that nobody asked for, by what a model says of them: which are kept, and which say who the user is. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, TypeAlias

from reverie_server.heuristics.cues import all_cues, cues_of, folded
from reverie_server.heuristics.extract import UserStatement
from reverie_server.heuristics.fact_grammar.clauses import is_quoted
from reverie_server.heuristics.fact_grammar.phrases import all_phrases
from reverie_server.heuristics.fact_grammar.subjects import called_at, is_of_care
from reverie_server.heuristics.fact_times import begins_later
from reverie_server.heuristics.former import is_of_the_past
from reverie_server.heuristics.memorable import Heard, Memorable, dated
from reverie_server.heuristics.own_rules import says_a_rule
from reverie_server.heuristics.requests.fact_requests import aligned, split_request
from reverie_server.heuristics.requests.lasting_instructions import has_instruction, instruction_end
from reverie_server.heuristics.requests.requested_lines import begins_with_pronoun
from reverie_server.heuristics.requests.words_of_others import own_words
from reverie_server.heuristics.salience import MAX_TEXT_CHARS, asks, has_secret
from reverie_server.heuristics.spoken_sentences import spoken_sentences
from reverie_server.heuristics.stated_fact import StatedFact
from reverie_server.sessions.model import Message
from reverie_server.text.fences import strip_injected

Passing: TypeAlias = Literal["no", "likely", "surely"]
"""Whether a sentence is of no use in a month."""
# Of a message, and of a conversation, so many sentences are looked at; so many of these enter the profile.
_MAX_SENTENCES, _MAX_INTRODUCTIONS = 100, 6
# Shorter sentences say nothing alone, longer ones tell a story.
_FEWEST_WORDS, _FEWEST_HAN, _MAX_CHARS = 4, 6, 200
_WORD = re.compile(r"\w+")
_HAN = re.compile("[\u3400-\u9fff]")
_VALUE = re.compile(r"\d")
# It happened once: what one went through is not who one is.
_ONCE = re.compile(
    r"(?<!\w)(?:last (?:year|month|summer|winter|week)|(?:years?|months?|weeks?) ago"
    r"|(?:letzte[sn]?|vorige[sn]?) (?:jahr|monat|sommer|winter|woche)|vor \w+ (?:jahr|monat|woche)\w*"
    r"|(?:el|la) (?:año|mes|verano|invierno|semana) pasad[oa]|hace \w+ (?:años?|mes\w*|semanas?))(?!\w)"
    r"|去年|前年|上个月|上個月|上周|上週"
)
# Spanish leaves out who it is of: "Trabaja de enfermero" is of somebody else.
_OF_SOMEBODY = re.compile(
    r"(?:(?:pues|y|ya|ahora|siempre|nunca|también|no) )*(?:(?:se|me|le|nos|lo|la) )*(?:trabaja|vive|estudia|tiene|está"
    r"|es|lleva|habla|viene|era|fue|nació|toca|juega|canta|cuida|enseña|llama|dedica|casó|jubiló|mudó|quiere|sabe)n?(?!\w)"
)


@dataclass(frozen=True, slots=True)
class LineWorth:
    """What a model says of the lines to keep: how passing they are by their text, and what says who the user is."""

    passing: Mapping[str, Passing]
    persons: frozenset[str] = frozenset()


def is_passing(text: str, passing: Passing) -> bool:
    """Whether a line is left out. One with a number is kept unless it surely is of no use."""
    return passing == "surely" or (passing == "likely" and _VALUE.search(text) is None)


def to_weigh(heard: Heard) -> list[str]:
    """The texts of the lines to keep that nobody asked for, and of those that are one of several asked for at once."""
    several = _asked_at_once(heard)
    return [line.statement.text for line in heard.lines if _is_own_idea(line) or len(several[_message_of(line)]) > 1]


def maybe_introductions(
    messages: Sequence[Message], heard: Heard, language: str, time_zone: str, asked: Collection[str]
) -> list[Memorable]:
    """The sentences of users, as lines for the profile, that may say who they are and that became no line.

    Left out are questions, requests (also those that are `asked` by meaning), what was so once or ended, what somebody
    else does on a day, secrets, and what says nothing without the sentence before it.
    """
    lined = [(line.statement.message.seq, line.statement.sentence) for line in heard.lines]
    taken = _by_message([(seq, sentence, None) for seq, sentence in lined])
    read = _by_message([(message.seq, fact.sentence, fact) for fact, message in heard.facts])
    cues = all_cues().get(language)
    found: list[Memorable] = []
    for message in messages:
        if message.role != "user":
            continue
        text = own_words(strip_injected(message.content)[:MAX_TEXT_CHARS])
        spoken = cues_of(folded(text), cues)
        for span in spoken_sentences(text)[:_MAX_SENTENCES]:
            sentence = text[span.start : span.end].strip()
            if not _can_stand_alone(sentence) or asks(sentence, spoken) or sentence in asked:
                continue
            if is_quoted(sentence) or sentence.endswith((":", "：")):
                continue
            if spoken is not None and _is_a_day_of_another(sentence, spoken.language, message.at):
                continue
            if spoken is not None and is_of_care(sentence, spoken.language):
                continue
            if split_request(sentence).kind != "none" or _of(taken[message.seq], sentence):
                continue
            facts = tuple(fact for fact in _of(read[message.seq], sentence) if fact is not None)
            if any(fact.is_request or (fact.change is not None and fact.change.kind == "ends") for fact in facts):
                continue
            statement = UserStatement(dated(sentence, message, cues, time_zone), "profile", message, sentence)
            found.append(Memorable(statement, "profile", is_request=False, facts=facts, is_introduction=True))
    return found[:_MAX_SENTENCES]


def weighed(heard: Heard, introductions: Sequence[Memorable], worth: LineWorth) -> Heard:
    """What was heard without the lines that are of no use in a month, and with the introductions that are some.

    Of what was asked for at once a remark goes where something of use stays: "Internet man came. Note this down: …".
    """
    several = _asked_at_once(heard)

    def remarks(line: Memorable) -> bool:
        return worth.passing.get(line.statement.text) == "surely" and not _is_instruction(line)

    of_use = {seq for seq, lines in several.items() if not all(map(remarks, lines))}
    kept = [
        line
        for line in heard.lines
        if not (_is_left_out(line, worth) if _is_own_idea(line) else _message_of(line) in of_use and remarks(line))
    ]
    persons = [line for line in introductions if line.statement.sentence in worth.persons][:_MAX_INTRODUCTIONS]
    lines = sorted([*kept, *persons], key=lambda line: line.statement.message.seq)
    return replace(heard, lines=lines)


def _is_own_idea(line: Memorable) -> bool:
    """Whether a line is kept by what it says, and not since somebody asked for it."""
    return not line.is_request or line.is_habit


def _asked_at_once(heard: Heard) -> Mapping[int, Sequence[Memorable]]:
    """The lines that were asked for, by the message that asks."""
    found: defaultdict[int, list[Memorable]] = defaultdict(list)
    for line in heard.lines:
        if not _is_own_idea(line):
            found[_message_of(line)].append(line)
    return found


def _message_of(line: Memorable) -> int:
    return line.statement.message.seq


def _is_instruction(line: Memorable) -> bool:
    """Whether a line says how answers are to be, or what its speaker always does."""
    plain = aligned(line.statement.text)
    return bool(instruction_end(plain, 0)) or has_instruction(plain) or says_a_rule(plain)


def _is_left_out(line: Memorable, worth: LineWorth) -> bool:
    passing = worth.passing.get(line.statement.text, "no")
    # What a fact was read from is worth more than the words alone show.
    return passing == "surely" if line.facts else is_passing(line.statement.text, passing)


def _can_stand_alone(sentence: str) -> bool:
    """Whether a sentence may say something of somebody without the one before it."""
    if not 0 < len(sentence) <= _MAX_CHARS or has_secret(sentence):
        return False
    is_long = len(_HAN.findall(sentence)) >= _FEWEST_HAN or len(_WORD.findall(sentence)) >= _FEWEST_WORDS
    is_over = is_of_the_past(sentence) or _ONCE.search(folded(sentence)) is not None
    is_own = not begins_with_pronoun(sentence) and _OF_SOMEBODY.match(folded(sentence).lstrip("¡¿ ")) is None
    return is_long and is_own and not is_over


def _is_a_day_of_another(sentence: str, language: str, at: datetime) -> bool:
    """Whether a sentence says what somebody else does on a day: `我妈下个月做手术` says not who the user is."""
    phrases = all_phrases().get(language)
    if phrases is None:
        return False
    is_of_day = begins_later(sentence, at) is not None or phrases["passing"].search(aligned(sentence)) is not None
    return is_of_day and called_at(sentence, phrases) is not None


def _by_message(
    rows: Sequence[tuple[int, str, StatedFact | None]],
) -> defaultdict[int, list[tuple[str, StatedFact | None]]]:
    found: defaultdict[int, list[tuple[str, StatedFact | None]]] = defaultdict(list)
    for seq, sentence, fact in rows:
        found[seq].append((sentence, fact))
    return found


def _of(rows: Sequence[tuple[str, StatedFact | None]], sentence: str) -> list[StatedFact | None]:
    """Those of rows that are of a sentence, or of a part of it, or of a longer one with it."""
    return [fact for other, fact in rows if other in sentence or sentence in other]
