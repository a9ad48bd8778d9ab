"""What of a conversation a stranger could use in a month, found without a model, as lines of their own. Pure.

That is who the person is, stable preferences, the people around them, projects with their state, decisions with their
reason, and whatever they asked to remember. Nothing that the assistant said is among it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Literal

from reverie_server.heuristics.cues import Cues, all_cues, cues_of, folded
from reverie_server.heuristics.extract import MAX_LINES, UserStatement, statements_of
from reverie_server.heuristics.fact_grammar.attributes import is_of_profile
from reverie_server.heuristics.fact_grammar.general import NOTED
from reverie_server.heuristics.fact_grammar.naming import NAMING, role_before, who_is_named
from reverie_server.heuristics.fact_grammar.people import people_of
from reverie_server.heuristics.fact_grammar.phrases import all_phrases, all_roles
from reverie_server.heuristics.fact_grammar.terms import content_terms
from reverie_server.heuristics.fact_reader import read_facts
from reverie_server.heuristics.former import holds_no_more, is_of_the_past
from reverie_server.heuristics.introductions import with_whole_sentence
from reverie_server.heuristics.needs_context import is_no_statement, needs_context
from reverie_server.heuristics.own_rules import says_a_rule
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.requests.recollections import only_recalls
from reverie_server.heuristics.requests.requested_lines import begins_with_pronoun, is_request_alone, requests_of
from reverie_server.heuristics.salience import has_secret
from reverie_server.heuristics.spoken_sentences import without_leading
from reverie_server.heuristics.stated_fact import SELF, StatedFact, Utterance
from reverie_server.heuristics.transient import is_of_body, is_transient
from reverie_server.sessions.daily_log import local_day
from reverie_server.sessions.model import Message
from reverie_server.text.fences import strip_injected
from reverie_server.text.redact import essence

Target = Literal["memory", "profile"]
_SECTIONS: Mapping[str, str] = {"preference": "preferences", "profile": "profile", "project": "projects"}
_MAX_CHARS = 500
_REASON = re.compile(
    r"(?<!\w)(?:because|since|so that|due to|as it|as we|in order to|otherwise|weil|da|damit|denn|wegen|sonst|um|porque"
    r"|ya que|para que|debido a|puesto que|parce que|car|afin)(?!\w)|因为|因為|由于|由於|为了|為了|所以|以便"
)
_FAVOURITE = re.compile(r"favou?rite|lieblings|favorit|最喜[欢歡]|最爱|最愛")
# An object that says nothing without what was said before.
_VAGUE = re.compile(
    r"(?:schlecht|gut|badly|well|mal|bien)(?:\W*$| (?:und|and|y)(?!\w))"
    r"|(?:that|this|it|these|those|your|das|dies\w*|dein\w*|eso|esto|esa|ese|tu|la idea|the idea)(?!\w)|[那这這]"
    # "我喜欢软的" says of nothing that it is slow.
    r"|[\u3400-\u9fff]{1,3}的$"
)
_COPULAS = {"english": " is {}.", "german": " ist {}.", "spanish": " es {}.", "chinese": "是{}。"}
# Words that many projects have in their names.
_OF_ANY_PROJECT = frozenset({"project", "migration", "app", "website", "projekt", "proyecto", "项目", "projec"})
_PROJECT = re.compile(r"(?<!\w)(?i:our|my|unser|mein|nuestro|mi) (?i:project|projekt|proyecto) (?P<name>[A-ZÀ-Þ]\w+)")
_CONTRAST = re.compile(r"(?<!\w)(?:sondern|sino|but (?:at|in|for|with|as)|aber jetzt|pero ahora)(?!\w)|而是")
# `我有一个女儿` is she not: she is called so.
_OWNING = re.compile(r"^我们?(?:家|家里)?(?:还|又)?[有养]")
_SHORT_CHARS = 8
_WORD = re.compile(r"\w+")
_UNSPACED_END = re.compile(r"[\u3400-\u9fff]$")
# Who is dead or gone is told by the whole sentence, and so is who is named beside others.
_ENDS_WITH = re.compile(
    r"(?<!\w)(?:lost (?:my|our)|died|(?:is|was) dead|buried|funeral|killed|passed (?:away|on)|broke up|split up"
    r"|moved out|left me|walked out on|divorced|dumped|married|gestorben|verstorben|starb|ums leben|beerdigt\w*"
    r"|begraben|getrennt|scheiden|geschieden|schluss gemacht|heirate\w*|muri[óo]|falleci\w*|perdi(?:mos|ó la vida)"
    r"|perd[íi]|enterramos|romp[íi]\w*|dej[ée]|(?:me|nos) dej[óo]|me divorci\w*|me cas[ée])(?!\w)"
    r"|去世|过世|過世|死了|分手|离婚|離婚"
)
_DAY = re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day$", re.IGNORECASE)
_AND = re.compile(r",? (?:and|und|y|e|&) ")
# People who are worth a line for what they are to the user only with something beside the name.
_ACQUAINTANCE = re.compile(
    r"friend|mate|buddy|pal|neighbou?rs?|colleague|co-?worker|acquaintance|freund(?:in)?|kumpel|nachbar(?:in)?"
    r"|kolleg(?:e|in)|mitbewohner(?:in)?|bekannter?|amig[oa]|vecin[oa]|compañer[oa]|coleg[ao]"
    r"|(?:好)?朋友|邻居|鄰居|同事|室友|同学|同學"
)
# What somebody near the user must not have is worth a line, with who that is.
_CARE = frozenset({"avoids", "allergic_to", "diet", "can_eat", "not eats", "intolerant_of"})
# A consequence of what was said before, or a comparison with it: not whole without that.
_INCOMPLETE = re.compile(
    r"(?:deshalb|deswegen|darum|daher|therefore|that's why|hence|por eso|así que|como (?:mi|su|tu|el|la)"
    r"|like (?:my|a|the)|wie (?:mein|dein|ein|der|die)\w*)(?!\w)|所以|因此"
)
_CLAUSE_END = re.compile(r"[,;]\s|[，；]")


@dataclass(frozen=True, slots=True)
class Memorable:
    """A line to keep, the file for it, and the facts that it states.

    `is_habit`: nobody asked for it, it is kept as a request since it says what always is. `is_introduction`: it says
    who the user is in words of which no line was read (`line_worth`).
    """

    statement: UserStatement
    target: Target
    is_request: bool
    facts: tuple[StatedFact, ...] = ()
    is_habit: bool = False
    is_introduction: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """The facts of a conversation, each with its message, and the lines to keep of it.

    `resolved` has for a sentence the statements of it that can stand alone: names in place of pronouns.
    """

    facts: Sequence[tuple[StatedFact, Message]]
    lines: Sequence[Memorable]
    resolved: Mapping[str, str]


def memorable_of(
    messages: Sequence[Message],
    language: str,
    time_zone: str,
    known: Sequence[StatedFact] = (),
    meant_by_requests: Mapping[str, Sequence[str]] = MappingProxyType({}),
    stated_at: Mapping[str, datetime] = MappingProxyType({}),
) -> Heard:
    """The facts that users state in a conversation, and the lines to keep, in order and distinct.

    `known` are the facts of the person's files: the people and projects in them are known by their names.
    `meant_by_requests` are sentences that ask to remember something in words that no pattern has, with what they mean;
    of that `stated_at` has when it was said in another conversation.
    """
    spoken = [message for message in messages if message.role in ("user", "assistant")]
    utterances = [
        Utterance(strip_injected(m.content), m.at, "user" if m.role == "user" else "assistant") for m in spoken
    ]
    read = read_facts(utterances, language, known_people=people_of(known, all_roles()))
    facts = [(fact, spoken[fact.utterance]) for fact in read]
    by_sentence: dict[tuple[int, str], list[StatedFact]] = {}
    for fact in read:
        by_sentence.setdefault((fact.utterance, fact.sentence), []).append(fact)
    near = {**_near_of(known), **_near_of(read)}
    reading = _Reading(all_cues().get(language), time_zone, _projects_of([*known, *read]), near)
    lines: dict[str, Memorable] = {}
    resolved: dict[str, str] = {}
    # "What I told you about the lock, hold on to it" says nothing of the lock.
    pointing = {sentence for sentence, meant in meant_by_requests.items() if meant and sentence not in meant}
    for (index, sentence), found in by_sentence.items():
        if sentence in pointing:
            told = [fact for fact in found if (fact.subject, fact.predicate) != NOTED]
            found = [replace(fact, is_request=False) for fact in told]
        if not found:
            continue
        resolved[sentence] = " ".join(dict.fromkeys(fact.text for fact in found))
        for line in reading.lines_of(spoken[index], sentence, found):
            lines.setdefault(essence(line.statement.text), line)
    requests = {sentence for (_, sentence), found in by_sentence.items() if any(fact.is_request for fact in found)}
    # Of a sentence that corrects itself what holds is to be remembered.
    corrected = {
        sentence: resolved[sentence]
        for (_, sentence), found in by_sentence.items()
        if sentence in resolved and any(fact.is_corrected for fact in found)
    }
    for message, sentence, text in requests_of(spoken, meant_by_requests, stated_at):
        stated = _make_room(lines, sentence, text, sentence in requests - pointing)
        if stated is not None:
            kept = corrected.get(sentence) if text not in stated_at else None
            dated_text = reading.dated(kept or without_leading(text), message)
            request = UserStatement(dated_text, "notes", message, sentence)
            lines[essence(dated_text)] = Memorable(request, "memory", is_request=True, facts=stated)
    read_sentences = {sentence for _, sentence in by_sentence}
    requested = {line.statement.sentence for line in lines.values() if line.is_request}
    for statement in statements_of(messages):
        is_told = statement.sentence in read_sentences or statement.sentence in requested
        is_rule = not is_told and reading.is_rule(statement)
        if is_rule:
            line = Memorable(statement, "memory", is_request=True, is_habit=not reading.is_asked(statement))
            lines.setdefault(essence(statement.text), line)
    lines = {key: line for key, line in lines.items() if not is_no_statement(line.statement.text)}
    first_ones = sorted(lines.values(), key=lambda line: (not line.is_request, line.statement.message.seq))[:MAX_LINES]
    return Heard(facts, sorted(first_ones, key=lambda line: line.statement.message.seq), resolved)


def _make_room(lines: dict[str, Memorable], sentence: str, text: str, is_read: bool) -> tuple[StatedFact, ...] | None:
    """Make room for what a request means, and give its facts, where it is a line as it stands: one of which nothing is
    read, or only its second half ("The combination is heron then pewter, it's two words"), whose lines go."""
    of_sentence = [key for key, line in lines.items() if line.is_request and line.statement.sentence == sentence]
    facts = tuple(fact for key in of_sentence for fact in lines[key].facts)
    read = content_terms(" ".join(lines[key].statement.text for key in of_sentence))
    first = content_terms(_CLAUSE_END.split(text, maxsplit=1)[0])
    is_corrected = any(fact.is_corrected for fact in facts)
    if of_sentence and not is_corrected and bool(first - read) and not begins_with_pronoun(text):
        for key in of_sentence:
            del lines[key]
        return facts
    return None if is_read else ()


@dataclass(frozen=True, slots=True)
class _Reading:
    """Judges the statements of a conversation. `projects` are the terms of the projects that its user works on; `near`
    has for the names of people around them what these are to them ("My sister").
    """

    expected: Cues | None
    time_zone: str
    projects: frozenset[str]
    near: Mapping[str, str]

    def lines_of(self, message: Message, sentence: str, found: Sequence[StatedFact]) -> list[Memorable]:
        """The lines to keep of a sentence."""
        lines: list[Memorable] = []
        found = with_whole_sentence(sentence, found)
        for text in dict.fromkeys(fact.text for fact in found):
            of_text = tuple(fact for fact in found if fact.text == text)
            is_request = any(fact.is_request for fact in of_text)
            if len(text) > _MAX_CHARS or (begins_with_pronoun(text) and not is_request):
                continue
            is_whole = _INCOMPLETE.match(folded(text)) is None and not needs_context(text)
            if not is_request and (not is_whole or _is_acquaintance(of_text)):
                continue
            target = "memory" if is_request else self._target(of_text, text)
            if target is None:
                continue
            line = without_leading(text if is_request else self._with_who(of_text, self._relation_alone(of_text, text)))
            statement = UserStatement(self.dated(line, message), self._category(of_text), message, sentence)
            lines.append(Memorable(statement, target, is_request, of_text))
        return _without_parts(lines)

    def is_rule(self, statement: UserStatement) -> bool:
        """Whether a sentence of which no fact is read asks to be kept, or is in a language that is not read."""
        if is_request_alone(statement.sentence) or begins_with_pronoun(statement.text):
            return False
        if _INCOMPLETE.match(folded(statement.text)):
            return False
        if is_of_the_past(statement.text) or only_recalls(aligned(statement.text)):
            return False
        cues = cues_of(folded(statement.message.content), self.expected)
        if cues is None or cues.language not in all_phrases():
            return True
        plain = folded(statement.sentence)
        if cues.kinds["remember"].search(plain):
            return True
        return says_a_rule(plain) and not needs_context(plain) and not is_transient(plain)

    def is_asked(self, statement: UserStatement) -> bool:
        """Whether a sentence asks to be kept, as far as its language is known."""
        cues = cues_of(folded(statement.message.content), self.expected)
        return cues is None or cues.kinds["remember"].search(folded(statement.sentence)) is not None

    def _target(self, facts: Sequence[StatedFact], text: str) -> Target | None:
        """The file for what nobody asked to keep; None where it is worth no line in one."""
        # `No longer at A, but at B` says what holds, too.
        is_contrast = _CONTRAST.search(folded(text)) is not None
        facts = [fact for fact in facts if is_contrast or fact.change is None or fact.change.kind != "ends"]
        facts = [fact for fact in facts if not holds_no_more(text, fact.object)]
        plain = folded(text)
        facts = [fact for fact in facts if fact.category != "project" or not is_of_body(fact.subject)]
        if has_secret(text) or not facts:
            return None
        if any(fact.predicate in _CARE and fact.subject in self.near for fact in facts):
            return "memory"
        own = [fact for fact in facts if fact.about_user and fact.subject == SELF]
        if any(fact.category == "profile" for fact in own) or any(map(is_of_profile, facts)):
            return "profile"
        if any(self._category([fact]) in ("preferences", "projects", "workflow") for fact in own):
            is_lasting = not is_transient(plain) and not any(_VAGUE.match(folded(fact.object)) for fact in own)
            return "memory" if is_lasting else None
        if self._category(facts) == "projects":
            return "memory"
        is_decision = any(fact.category == "decision" for fact in facts)
        return "memory" if is_decision and _REASON.search(plain) else None

    def _category(self, facts: Sequence[StatedFact]) -> str:
        """The section for a line."""
        for fact in facts:
            if _FAVOURITE.search(folded(fact.predicate)):
                return "preferences"
            if fact.category in _SECTIONS and fact.about_user:
                return _SECTIONS[fact.category]
            if fact.predicate == "uses" and fact.subject == SELF:
                return "workflow"
            if fact.subject != SELF and content_terms(fact.subject) & self.projects:
                return "projects"
        return "notes"

    def _relation_alone(self, facts: Sequence[StatedFact], text: str) -> str:
        """The part of a text that says who somebody is to the user, where the rest is about that person, or about what
        one did with them."""
        relations = [fact for fact in facts if fact.subject == SELF and fact.predicate in all_roles()]
        cues = cues_of(folded(text), self.expected)
        copula = _COPULAS.get(cues.language) if cues is not None else None
        if not relations or len(relations) < sum(fact.about_user for fact in facts) or copula is None:
            return text
        fact = relations[0]
        found = role_before(fact.object).search(text)
        if found is None or len(text) - len(found[0]) <= _SHORT_CHARS or _ENDS_WITH.search(folded(text)):
            return text
        if any(other.object in text[found.end() :] for other in relations[1:]):
            # "我们养了一只猫叫汤圆，还有一只狗叫芝麻" names two.
            return text
        role = NAMING.sub("", found["role"].rstrip())
        copula = "叫{}。" if _OWNING.search(role) is not None else copula
        if found.start() > 0 and cues is not None:
            # "On Sunday we drive to my sister Ada's"; "with my brother Paul I'm restoring a boat" goes on.
            is_timed = cues.kinds["time"].search(folded(text)) is not None
            # "I gave my sister Ada flowers" in German, where both are written alike.
            is_longer = " " in fact.object and (cues.language == "german" or _DAY.search(fact.object) is not None)
            if not is_timed or is_longer or _AND.match(text, found.end()):
                return text
            role = who_is_named(text[: found.end()], fact.object, cues.language)
        return f"{role[:1].upper()}{role[1:]}{copula.format(fact.object)}" if role else text

    def _with_who(self, facts: Sequence[StatedFact], text: str) -> str:
        """A text that begins with the name of somebody whom the user has to care for, with who that is."""
        for fact in facts:
            who = self.near.get(fact.subject)
            if who is not None and fact.predicate in _CARE and text.startswith(fact.subject):
                gap = "" if _UNSPACED_END.search(who) else " "
                return f"{who[:1].upper()}{who[1:]}{gap}{text}"
        return text

    def dated(self, text: str, message: Message) -> str:
        return dated(text, message, self.expected, self.time_zone)


def dated(text: str, message: Message, expected: Cues | None, time_zone: str) -> str:
    """The text; with a cue of time in it, it ends with the day on which it was said."""
    cues = cues_of(folded(text), expected)
    is_timed = cues is not None and cues.kinds["time"].search(folded(text)) is not None
    return f"{text} ({local_day(message.at, time_zone).isoformat()})" if is_timed else text


def _is_acquaintance(facts: Sequence[StatedFact]) -> bool:
    """Whether all that facts say of the user is the name of somebody they know."""
    own = [fact for fact in facts if fact.subject == SELF]
    return bool(own) and all(_ACQUAINTANCE.fullmatch(fact.predicate) for fact in own)


def _without_parts(lines: Sequence[Memorable]) -> list[Memorable]:
    """The lines of one sentence without those whose words are all in another of them for the same file, which states
    their facts, too."""
    words = [frozenset(_WORD.findall(folded(line.statement.text))) for line in lines]
    whole: dict[int, int] = {}
    for at, line in enumerate(lines):
        wholes = (
            to
            for to, other in enumerate(lines)
            if line.target == other.target and (words[at] < words[to] or (words[at] == words[to] and to < at))
        )
        if (to := max(wholes, key=lambda to: (len(words[to]), -to), default=None)) is not None:
            whole[at] = to
    return [
        replace(
            line, facts=(*line.facts, *(fact for part, to in whole.items() if to == at for fact in lines[part].facts))
        )
        for at, line in enumerate(lines)
        if at not in whole
    ]


def _near_of(facts: Sequence[StatedFact]) -> dict[str, str]:
    """The people whom facts name as somebody near to the user, with the words for what they are to them."""
    found: dict[str, str] = {}
    for fact in facts:
        if fact.subject == SELF and fact.predicate in all_roles() and not _ACQUAINTANCE.fullmatch(fact.predicate):
            said = role_before(fact.object).search(fact.sentence)
            if said is not None:
                found[fact.object] = NAMING.sub("", said["role"].rstrip())
    return found


def _projects_of(facts: Sequence[StatedFact]) -> frozenset[str]:
    objects = [fact.object for fact in facts if fact.predicate in ("works_on", "leads") and fact.subject == SELF]
    # `Our project Heron` names one, too.
    objects += [found["name"] for fact in facts if (found := _PROJECT.search(fact.text))]
    return frozenset(term for object_ in objects for term in content_terms(object_) if term not in _OF_ANY_PROJECT)
