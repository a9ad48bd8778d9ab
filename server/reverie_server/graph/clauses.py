"""The claims of sentences about people and things, in languages that write names with capitals. Pure.

A sentence is read by its verbs: who stands before a verb is its subject, or else who was the subject of the verb before
it ("works on Orion and reports to Bruno"); what stands behind is its object.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from reverie_server.graph.claims import Claim, HasRole, Leaves, Names, Ref, Relates, Role, Succeeds
from reverie_server.graph.phrases import NAME, Form, Phrases, Verb
from reverie_server.graph.successions import with_successions
from reverie_server.heuristics.cues import folded

# The characters before a verb among which its subject is looked for, and between verbs of one subject.
_SUBJECT_CHARS, _SHARED_CHARS = 160, 120
_SPACE = re.compile(r"\s+")
_NAMES = re.compile(NAME)
# The month, where it is no verb that hedges.
_MONTH_OF_MAY = re.compile(r"\bMay\b")
_POSSESSIVE = re.compile(r"['’]s?$")
# A German word for what somebody does or where they come from, which is written like a name.
_NOUN = re.compile(
    r"(?:erin|istin|entin|orin|[äÄ]rztin|mutter|vater|frau|mann|leiter|lehrer|helfer|ist|ologe|ologin|iener|aner|änder|ese|ungen|"
    r"heiten|keiten|tionen|isch|arbeit|projekten|aufgaben|themen)$"
)
_DEMONYM = re.compile(
    r"(?:[a-z](?:ian|ish|ese|ican|ench|erman|utch|reek|wede|olish)|Indian|Swiss|Catholic|Jewish|Muslim)$"
)


def claims_of(phrases: Phrases, sentence: str) -> list[Claim]:
    """The claims of a sentence, in its order; none of one that hedges."""
    text = _expanded(phrases, sentence)
    if phrases.hedges.search(folded(_MONTH_OF_MAY.sub("", text))):
        return []
    roles = list(_roles(phrases, text))
    named = [(place, claim.who) for place, claim in roles if isinstance(claim, HasRole) and not claim.ended]
    found = [*roles, *_verbs(phrases, text, named), *_things(phrases, text)]
    claims = [claim for _, claim in sorted(found, key=lambda pair: pair[0])]
    return with_successions(text, claims, phrases.language, partial(names_in, phrases))


def own_name(phrases: Phrases, sentence: str) -> str | None:
    """The name that a sentence says is the speaker's."""
    text = _expanded(phrases, sentence)
    match = phrases.named.search(text)
    if match is None and (match := phrases.am.search(text)) and (_DEMONYM.search(match[0]) or _NOUN.search(match[0])):
        return None
    return proper(match["name"], phrases) if match else None


def names_in(phrases: Phrases, sentence: str) -> list[str]:
    """The words of a sentence that are written like names; with `names_first` other nouns, too."""
    found = (proper(name, phrases) for name in _NAMES.findall(_expanded(phrases, sentence)))
    return [name for name in found if name]


def _expanded(phrases: Phrases, sentence: str) -> str:
    text = _SPACE.sub(" ", sentence).strip()
    for short, long in phrases.expand:
        text = text.replace(short, long)
    return text


def proper(written: str, phrases: Phrases) -> str | None:
    """The name in words that are written like one, without leading words of no name; None if it is none."""
    words = written.split()
    while words and _is_no_name(words[0], phrases) and not words[0].endswith("."):
        if phrases.names_first and len(words) > 1:
            return None
        words.pop(0)
    if not words or _POSSESSIVE.search(words[-1]) or any(_is_no_name(word, phrases) for word in words[1:]):
        return None
    return " ".join(words)


def _is_no_name(word: str, phrases: Phrases) -> bool:
    return folded(word).partition("'")[0].strip(".") in phrases.not_names


def _is_noun(name: str) -> bool:
    """Whether a word that is written like a name is a German one for what somebody does; a name of several is none:
    `Petra Lindqvist`."""
    return " " not in name and _NOUN.search(name) is not None


def _roles(phrases: Phrases, text: str) -> Iterator[tuple[int, Claim]]:
    """Who is said to be what to the speaker: "my sister Clara", "Petra is my new boss"."""
    for pattern in (phrases.role_then_name, phrases.name_then_role, phrases.beside_role):
        for match in pattern.finditer(text):
            role = phrases.roles[match["role"]]
            link = match["link"]
            is_over = phrases.over.search(link) is not None
            if (phrases.negations.search(link) and not is_over) or text[match.end() :].startswith(("'s", "’s")):
                continue
            written = _NAMES.findall(match["names"])
            several = match["role"] in phrases.plural_roles
            if not several and pattern is not phrases.name_then_role:
                written = written[:1]
            elif not several and len(written) > 1 and role.kind == "superior":
                written = written[-1:]
            is_former = any(phrases.former.search(match[group] or "") for group in ("adjectives", "behind"))
            for name in written:
                kept = proper(name, phrases)
                if kept is None or not _fits_role(phrases, kept, role, match):
                    continue
                if not is_former or role.kind != "kin":
                    yield match.start(), HasRole(Ref(kept, role, "person"), role, is_over or is_former)


def _fits_role(phrases: Phrases, name: str, role: Role, match: re.Match[str]) -> bool:
    """Whether a word behind "my boss is" is a name rather than what somebody is."""
    if "names" in match.groupdict() and match.re is not phrases.role_then_name:
        return not _DEMONYM.search(name)
    is_copula = match["link"].strip(" ,") != ""
    if not is_copula:
        return not (phrases.names_first and _is_noun(name))
    if phrases.names_first and "heiß" not in match["link"]:
        return role.kind == "superior" and not _is_noun(name)
    return not _DEMONYM.search(name)


def _verbs(phrases: Phrases, text: str, named: Sequence[tuple[int, Ref]]) -> Iterator[tuple[int, Claim]]:
    """The claims of verbs. A verb without a subject has that of the verb, or of the role in `named`, before it."""
    lowered = text.lower()
    matches = [
        (match, verb) for verb in phrases.verbs if verb.anchor in lowered for match in verb.pattern.finditer(text)
    ]
    # Of wordings at one place the longest is meant: "no longer works at", not "works at".
    matches.sort(key=lambda pair: (pair[0].end("pre"), -pair[0].end(), pair[1].form != "first"))
    subjects: list[Ref] = []
    last_end = 0
    taken = -1
    for match, verb in matches:
        if match.end("pre") < taken:
            continue
        for place, ref in named:
            if last_end <= place < match.start():
                subjects, last_end = [ref], place + 1
        found = _subjects(phrases, text, match, verb)
        if not found and subjects and _shares(phrases, text, last_end, match):
            found = subjects
        if not found or not _agrees(phrases, found, verb.form, match):
            continue
        subjects, last_end, taken = found, match.end("pre") + 1, match.end("pre") + 1
        over = _is_over(phrases, text, match)
        if over is None or (verb.only_over and not over):
            continue
        claim = _claim(phrases, verb, match, found, ended=over)
        if claim is not None:
            yield match.start(), claim


def _subjects(phrases: Phrases, text: str, match: re.Match[str], verb: Verb) -> list[Ref]:
    """Who stands before a verb, or behind it where the language allows; or the speaker, whom it may leave out."""
    before = text[max(0, match.start() - _SUBJECT_CHARS) : match.start()].rstrip()
    who = phrases.who_at_end.search(before)
    inverted = match.groupdict().get("inverted")
    listed = None if inverted else phrases.subjects_at_end.search(before[: who.start()] if who else before)
    if listed:
        start = listed.start("list")
        found = _refs(phrases, listed["list"], at_start=start == 0 and match.start() <= _SUBJECT_CHARS)
        if who is not None or phrases.boundary_at_end.search(before[:start].rstrip()):
            return found
        # Any noun may stand behind an article: "der Hund wohnt in". A word for a person tells.
        explicit = [ref for ref in found if ref.role or ref.is_speaker or ref.is_pronoun or not phrases.names_first]
        # What stands before it is another verb's: "I work at Globex and I joined".
        return explicit[-1:]
    if inverted:
        return _refs(phrases, inverted)
    if phrases.pro_drop and verb.form == "first" and phrases.boundary_at_end.search(before):
        return [Ref(is_speaker=True)]
    return []


def _refs(phrases: Phrases, listed: str, *, at_start: bool = False) -> list[Ref]:
    """The people of a list; nobody where one of them is not known by the words."""
    found: list[Ref] = []
    for unit in phrases.subject.finditer(listed):
        ref = _ref(phrases, unit, at_start=at_start)
        if ref is None:
            return []
        if not (found and ref.role and not ref.name and found[-1].name):
            found.append(ref)
    return found


def _ref(phrases: Phrases, unit: re.Match[str], *, at_start: bool = False) -> Ref | None:
    if unit["speaker"]:
        return Ref(is_speaker=True)
    if unit["pronoun"]:
        return Ref(is_pronoun=True)
    if unit["role"]:
        name = proper(unit["role_name"], phrases) if unit["role_name"] else ""
        if name is None:
            return None
        return Ref(
            name, None if unit["others"] else phrases.roles[unit["role"]], "person", of_other=bool(unit["others"])
        )
    name = proper(unit["name"], phrases)
    if name is None or (phrases.names_first and not at_start and _is_noun(name)):
        return None
    return Ref(name)


def _shares(phrases: Phrases, text: str, last_end: int, match: re.Match[str]) -> bool:
    """Whether a verb without a subject of its own has that of the verb before it."""
    between = text[last_end : match.start()].rstrip()
    return (
        0 < match.start() - last_end <= _SHARED_CHARS
        and phrases.boundary_at_end.search(between) is not None
        and not re.search(r"[.!?;]", between)
    )


def _agrees(phrases: Phrases, subjects: Sequence[Ref], form: Form, match: re.Match[str]) -> bool:
    if form == "any":
        return True
    if len(subjects) > 1:
        return form == "plural"
    if subjects[0].is_speaker:
        return form in ("first", "plural")
    return form == "third" or (form == "first" and not phrases.pro_drop and _is_negated(phrases, match))


def _is_negated(phrases: Phrases, match: re.Match[str]) -> bool:
    return phrases.negations.search(match["pre"]) is not None


def _is_over(phrases: Phrases, text: str, match: re.Match[str]) -> bool | None:
    """Whether a verb is said to be over; None where it is negated otherwise."""
    spoken = match[0]
    if phrases.over.search(spoken):
        return True
    boundary = phrases.last_boundary.match(text[: match.start()][-_SUBJECT_CHARS:])
    clause = text[: match.start()][-_SUBJECT_CHARS:][boundary.end() if boundary else 0 :]
    if not phrases.negations.search(spoken):
        return None if phrases.negations.search(clause) else False
    return True if phrases.over_after.match(text, match.end()) else None


def _claim(phrases: Phrases, verb: Verb, match: re.Match[str], subjects: Sequence[Ref], *, ended: bool) -> Claim | None:
    groups = match.groupdict()
    objects = _objects(phrases, groups)
    if verb.kind == "leaves":
        if verb.scope == "named" and not objects:
            return None
        return Leaves(subjects, verb.scope, objects)
    if not objects:
        return None
    if verb.kind == "succeeds":
        as_role = phrases.roles[_last_role(phrases, groups["as_role"])] if groups.get("as_role") else None
        return (
            None if ended or len(objects) > 1 else Succeeds(subjects, replace(objects[0], type="person"), role=as_role)
        )
    if verb.kind == "takes_over":
        return None if ended else Succeeds(subjects, _from(phrases, groups["from"]), objects)
    if verb.name is None:
        return None
    return Relates(
        verb.name, subjects, objects, verb.source, verb.target, ended, verb.needs_source, verb.needs_target,
        _from(phrases, groups.get("was")), (groups.get("after") or groups.get("before") or "") in phrases.teams,
    )  # fmt: skip


def _objects(phrases: Phrases, groups: dict[str, str | None]) -> list[Ref]:
    if role := groups.get("role"):
        name = proper(groups["role_name"] or "", phrases) if groups.get("role_name") else ""
        return [Ref(name or "", phrases.roles[_last_role(phrases, role)], "person")]
    word = groups.get("after") or groups.get("before")
    kind = phrases.type_words[word] if word else None
    names = (proper(written, phrases) for written in _NAMES.findall(groups.get("objects") or ""))
    return [Ref(name, type=kind) for name in names if name and (kind or not (phrases.names_first and _is_noun(name)))]


def _from(phrases: Phrases, written: str | None) -> Ref | None:
    """Who or what stands behind "from": by name, or by a role."""
    if not written:
        return None
    if written.split()[-1] in phrases.roles:
        return Ref(role=phrases.roles[_last_role(phrases, written)])
    name = proper(written, phrases)
    return Ref(name) if name else None


def _last_role(phrases: Phrases, written: str) -> str:
    """The word for a role that a text ends with, the longest."""
    return max((word for word in phrases.roles if written.endswith(word)), key=len)


def _things(phrases: Phrases, text: str) -> Iterator[tuple[int, Claim]]:
    """Projects, teams, places and the like that are named with what they are: "the Atlas project"."""
    for match in phrases.exists.finditer(text):
        name = proper(match["name"] or match["named"], phrases)
        if name and not (phrases.names_first and _is_noun(name)):
            yield match.start(), Names(Ref(name, type=phrases.type_words[match["after"] or match["before"]]))
    for pattern, kind in phrases.mentions:
        for match in pattern.finditer(text):
            if name := proper(match["name"], phrases):
                yield match.start(), Names(Ref(name, type=kind))
