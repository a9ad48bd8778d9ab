"""Who or what a clause is about: its subject, and the relations to the user that its words give. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from reverie_server.heuristics.fact_grammar.clauses import Clause
from reverie_server.heuristics.fact_grammar.han import is_han_job, is_han_name, is_name_by_sound
from reverie_server.heuristics.fact_grammar.objects import is_trade_or_diet
from reverie_server.heuristics.fact_grammar.people import Gender, People, role_name
from reverie_server.heuristics.fact_grammar.phrases import Phrases, all_phrases
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.stated_fact import SELF

Kind = Literal["self", "person", "thing", "name"]
_NAME = re.compile(
    r"(?:(?:Dr|Prof|Mr|Mrs|Ms|St)\.? )?"
    r"[^\W\d_a-zß-öø-ÿ][\w’'-]*+(?: (?:[^\W\d_a-zß-öø-ÿ][\w’'-]*+|van|von|de|del|der|da|el|al)(?!\w)){0,4}"
)
_HAN_NAME = re.compile("[\u4e00-\u9fff]{1,4}")
# What stands behind `my boss is`, and names nobody.
_NO_HAN_NAME = re.compile("[个一做当在谁名姓我你他她它上下现已很最不没有的了从来去要会能就都也还特真超前跟和被让]")
_BEHIND_HAN_NAME = re.compile("(?<=.)(?:[很真特超也都最和跟与已现不要]|太(?=.))")
# What one has with a dentist, without a word between.
_WITH_PERSON = re.compile("预约|复诊|门诊|挂号|生日|电话|手机号|号码|微信|邮箱|地址")
_PARTICLE_END = re.compile(r"(?: (?:van|von|de|del|der|da|el|al))+$")
_NOWADAYS = re.compile(
    r" (?:these days|nowadays|currently|at the moment|right now|zurzeit|im moment|momentan)$", re.IGNORECASE
)
_POSSESSED = re.compile(r"['’]s$")
_MAX_SUBJECT_WORDS, _MAX_SUBJECT_CHARS = 9, 16
# A noun behind a word for a person.
_OF_PERSON = re.compile(
    r"\s(?!(?:in|at|from|of|and|with|who|that|to|or|on|is|was|just|never|im|von|und|aus)(?!\w))[^\W\d]"
)
# `Meinem Bruder` is no subject.
_DECLINED = re.compile(r"(?:mein|unser|dein|euer)e[mnrs](?!\w)")
_PLACE_OF_PERSON = re.compile(
    r" from (?:the )?(?P<place>[a-z][\w-]+(?: [a-z][\w-]+)?)(?= (?:is|has|was|lives|works|moved|left|can|loves"
    r"|likes|hates|and))"
)


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject: `rest` is where the clause goes on behind it. `said` is how the clause writes it, "" for an inherited.

    `owned` is a thing of the speaker ("phone number" of "my phone number").
    """

    kind: Kind
    name: str
    rest: int
    said: str = ""
    gender: Gender = "unknown"
    owned: str | None = None
    role: str | None = None
    is_new: bool = False
    is_pronoun: bool = False
    is_plural: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """Somebody of a name who is `role` to the user; `change`: the one before is none any more, or this one is not."""

    role: str
    name: str
    change: Literal["replaces", "ends"] | None
    cue: str
    is_single: bool


def name_at(text: str, at: int, phrases: Phrases) -> re.Match[str] | None:
    """The name that begins at a place of a text as written; None where a word begins that is no name."""
    if phrases.unspaced and (han := _HAN_NAME.match(text, at)):
        verb = phrases["finite"].search(text, at + 1, han.end() + 4)
        end = min(han.end(), verb.start()) if verb else han.end()
        found = _HAN_NAME.match(text, at, end)
    else:
        found = _NAME.match(text, at)
    if found is None:
        return None
    first = aligned(found[0]).split(" ")[0].removesuffix("'s")
    if phrases["name_break"].fullmatch(first):
        return None
    return found


def gender_of(role: str, phrases: Phrases) -> Gender:
    """What a word for a relative says of the person."""
    last = role.split("'s ")[-1]
    relations = phrases.relations
    return "female" if last in relations.female else "male" if last in relations.male else "unknown"


def relations_in(text: str, people: People, phrases: Phrases, at: int) -> Iterator[Relation]:
    """The people whom a sentence names with what they are to the speaker: `my sister Ada`, `Ada, my sister`."""
    plain = aligned(text)
    for found in phrases["possessive"].finditer(plain):
        role = phrases.relations.pattern.match(plain, found.end())
        if role is None:
            continue
        is_inside = found.start() > 0 and plain[found.start() - 1].isalnum()
        if is_inside and not phrases.unspaced:
            continue
        ended = phrases["is_not_my"].match(plain[: found.start()])
        if ended is not None and (former := name_at(text, 0, phrases)):
            word = role_name(role["role"])
            is_single = role["role"] in phrases.relations.single
            yield Relation(word, people.named(former[0]), "ends", ended[0].split(" ", 1)[-1].strip(), is_single)
            continue
        if is_inside:
            continue
        end = _role_end(plain, role.end(), phrases)
        name = _name_behind(text, plain, end, phrases)
        is_owner = phrases["owner_of"].search(plain[max(0, found.start() - 4) : found.start()]) is not None
        is_of_thing = is_owner or (found.start() > 0 and phrases["genitive"].fullmatch(found[0]) is not None)
        if is_of_thing and phrases["called"].match(plain, end):
            # `The teacher of my son is called Elena.`
            continue
        if name is None and not plain.startswith(("'s", " "), role.end()):
            # `Ada is my sister.` and `Ada, my sister, …`; in `Luckily, my son is well` no name is before it.
            name = _name_before(text, found.start(), phrases)
        if name is None:
            continue
        word = role["role"]
        is_single = word in phrases.relations.single
        is_new = is_single and phrases.relations.new.search(role["adjectives"] or "") is not None
        is_gone = is_single and phrases.relations.gone.search(role["adjectives"] or "") is not None
        if not is_gone:
            subject = people.named(name, word, is_single=is_single)
            people.mention(at, subject, gender_of(word, phrases), text)
            yield Relation(role_name(word), subject, "replaces" if is_new else None, "new" if is_new else "", is_single)
        else:
            yield Relation(role_name(word), people.named(name), "ends", role["adjectives"].strip(), is_single)


def _name_behind(text: str, plain: str, end: int, phrases: Phrases) -> str | None:
    """The name right behind a relation: `Ada`, `, Ada`, `is Ada`, `is called Ada`, `'s name is Ada`."""
    link = phrases["called"].match(plain, end)
    at = link.end() if link else end
    if link is None and at < len(text) and text[at] == " ":
        at += 1
    if at == end and (not phrases.unspaced or text.startswith("的", at) or phrases["finite"].match(plain, at)):
        return None
    found = name_at(text, at, phrases)
    if found is None:
        return None
    name = _POSSESSED.sub("", _PARTICLE_END.sub("", found[0]))
    is_linked = link is not None and link[0].startswith((" ist", " is")) and not link[0].endswith(("called ", "named "))
    if is_linked and is_trade_or_diet(name):
        # `Meine Tochter ist Lehrerin.` Names that end as occupations do are called so: `Juniper`.
        return None
    if phrases.unspaced:
        name = name if is_name_by_sound(name) else _BEHIND_HAN_NAME.split(name, maxsplit=1)[0]
        if not _is_named_there(name, is_linked=link is not None and at > end):
            return None
    behind = text[found.start() + len(name) : found.start() + len(name) + 1]
    return name if phrases.unspaced or not behind or not behind.isalnum() else None


def _is_named_there(name: str, *, is_linked: bool) -> bool:
    """Whether characters behind a word for a person are a name: `我妹妹小丽`, and not those of `我老公是日本人`."""
    is_trait = name.endswith("人") or is_han_job(name)
    return is_han_name(name) or (is_linked and _NO_HAN_NAME.match(name) is None and not is_trait)


def _name_before(text: str, start: int, phrases: Phrases) -> str | None:
    """The name right before: `Ada, my sister` and `Ada is my sister`, at the beginning of the text."""
    link = phrases["is_my"].match(aligned(text[:start]))
    if link is None:
        return None
    found = name_at(text, link.start("name"), phrases)
    return _POSSESSED.sub("", found[0]) if found and found.end() >= link.end("name") else None


def called_at(text: str, phrases: Phrases) -> str | None:
    """How the speaker calls somebody at the beginning of a text, as the subject of a clause: `Mein Bruder`."""
    plain = aligned(text)
    possessive = phrases["possessive"].match(plain)
    role = phrases.relations.pattern.match(plain, possessive.end()) if possessive is not None else None
    if possessive is None or role is None or _DECLINED.match(possessive[0]):
        return None
    # Who is new now is not when it is said again.
    is_new = phrases.relations.new.search(role["adjectives"] or "") is not None
    return f"{text[: possessive.end()]}{text[role.start('role') if is_new else role.start() : role.end()]}"


def is_of_care(text: str, language: str) -> bool:
    """Whether a text begins with somebody whom the speaker has to do with at work for a while: a patient, a pupil."""
    phrases = all_phrases().get(language)
    return phrases is not None and phrases["in_care"].match(aligned(text)) is not None


def subject_of(
    clause: Clause,
    before: Subject | None,
    people: People,
    phrases: Phrases,
    at: int,
    it: str | None = None,
    *,
    is_of_other: bool = False,
) -> Subject | None:
    """The subject of a clause; `before` is that of the clause before it in the sentence. None where it has none.

    `it` is the thing for which `it` can stand. `is_of_other`: the sentence before was about somebody else.
    """
    text, plain = clause.text, clause.plain
    own = phrases["self"].match(plain)
    # What leaves `I` out goes on with whom it began: `My husband quit smoking, now drinks tea`.
    goes_on = clause.inherits and before is not None and before.kind in ("person", "name")
    if own is not None and (own[0] or not (goes_on or is_of_other)):
        return Subject("self", SELF, own.end(), own[0])
    is_of_thing = before is None or before.kind == "thing"
    if clause.inherits and is_of_thing and phrases["personal"].match(plain):
        # `My bike was stolen, now ride a scooter`, in a language that leaves `I` out.
        return Subject("self", SELF, 0)
    if clause.inherits and before is not None:
        if before.kind == "self" and phrases["not_self"].match(plain):
            # `Tengo una amiga que es enfermera y vive en Vigo`: the verb is not of the speaker.
            return None
        return Subject(before.kind, before.name, 0, "", before.gender, before.owned, is_plural=before.is_plural)
    if phrases["in_care"].match(plain):
        # What a nurse tells of a patient is neither of the nurse nor of anybody of theirs.
        return None
    possessive = phrases["possessive"].match(plain)
    if possessive is not None:
        return _of_possessive(text, plain, possessive.end(), people, phrases, at)
    pronoun = phrases["pronouns"].match(plain)
    if pronoun is not None:
        gender: Gender = (
            "female"
            if phrases["she"].fullmatch(pronoun[0])
            else "male"
            if phrases["he"].fullmatch(pronoun[0])
            else "unknown"
        )
        who = None if gender == "unknown" else people.meant(at, gender)
        return Subject("person", who, pronoun.end(), pronoun[0], gender, is_pronoun=True) if who else None
    if it and (spoken := phrases["it"].match(plain)):
        return Subject("thing", it, spoken.end(), spoken[0], is_pronoun=True)
    if (others := phrases["other_possessive"].match(plain)) is not None:
        return _of_other(text, plain, others, people, phrases, at)
    if phrases["things"].match(plain):
        return None
    article = phrases["articles"].match(plain)
    if article is None and (user := phrases["user"].match(plain)):
        return Subject("self", SELF, user.end(), user[0])
    name = None if article else name_at(text, 0, phrases)
    # In a script without capitals a name is one that was told.
    if name is not None and (not phrases.unspaced or people.is_known(name[0])):
        return _of_name(text, plain, name, people, phrases, at)
    return _of_thing(text, plain, 0, article.end() if article else 0, phrases)


def _role_end(plain: str, end: int, phrases: Phrases) -> int:
    """Where a word for a person ends with the adjective behind it: `mi hermano mayor`."""
    behind = phrases["after_role"].match(plain, end)
    return end if behind is None else behind.end()


def _of_possessive(text: str, plain: str, start: int, people: People, phrases: Phrases, at: int) -> Subject | None:
    role = phrases.relations.pattern.match(plain, start)
    if role is None:
        thing = _of_thing(text, plain, 0, start, phrases)
        return None if thing is None else Subject("thing", thing.name, thing.rest, thing.said, owned=thing.name)
    word, end = role["role"], _role_end(plain, role.end(), phrases)
    name = _name_behind(text, plain, end, phrases)
    if name is not None:
        known = people.named(name, word, is_single=word in phrases.relations.single)
        where = text.find(name, end) + len(name)
        gender = gender_of(word, phrases)
        people.mention(at, known, gender, text)
        if (mark := _owning_at(plain, where)) is not None:
            return _of_thing(text, plain, 0, where + len(mark), phrases, owner=f"{known}{mark}")
        if plain.startswith(",", where):
            where += 1
        return Subject("person", known, where, text[:where], gender, role=word)
    if (mark := _owning_at(plain, end)) is not None and not phrases["finite"].match(plain, end):
        return _of_thing(text, plain, 0, end + len(mark), phrases, owner=f"{people.of_role(word) or word}{mark}")
    if not any(phrases[verb].match(plain, end) for verb in ("finite", "finite_of_many")):
        # `My dentist appointment`: a thing that is called by somebody.
        if (_WITH_PERSON if phrases.unspaced else _OF_PERSON).match(plain, end) is None:
            return None
        thing = _of_thing(text, plain, 0, start, phrases)
        return None if thing is None else Subject("thing", thing.name, thing.rest, thing.said, owned=thing.name)
    known = people.of_role(word) or f"{SELF}'s {role_name(word)}"
    gender = gender_of(word, phrases)
    people.mention(at, known, gender, text)
    if (words := called_at(text, phrases)) is not None:
        people.call(known, phrases.language, words)
    is_new = phrases.relations.new.search(role["adjectives"] or "") is not None
    return Subject("person", known, end, text[:end], gender, role=word, is_new=is_new)


def _of_other(
    text: str, plain: str, others: re.Match[str], people: People, phrases: Phrases, at: int
) -> Subject | None:
    """A thing of somebody spoken of before: `His number is …`; None where nobody, or several, can be meant."""
    genders: dict[str, Gender] = {"hers": "female", "his": "male", "hers_or_his": "unknown"}
    gender = next((gender for name, gender in genders.items() if phrases[name].match(others[0])), None)
    who = None if gender is None else people.meant(at, gender)
    if who is None or who.startswith(f"{SELF}'s "):
        return None
    return _of_thing(text, plain, 0, others.end(), phrases, owner=f"{who}的" if phrases.unspaced else f"{who}'s")


def _owning_at(plain: str, at: int) -> str | None:
    """The mark at a place of a text that makes what follows a thing of the person before it; None where none stands."""
    return next((mark for mark, said in (("的", "的"), ("'s", "'s "), ("'", "' ")) if plain.startswith(said, at)), None)


def _of_name(text: str, plain: str, name: re.Match[str], people: People, phrases: Phrases, at: int) -> Subject | None:
    end = name.end()
    if name[0].endswith(("'s", "’s")) and not phrases["finite"].match(plain, end - 2):
        return _of_thing(text, plain, 0, end, phrases, owner=name[0])
    said = _POSSESSED.sub("", name[0])
    end = name.start() + len(said)
    place = _PLACE_OF_PERSON.match(plain, end)
    if place is not None:
        subject = people.named(said, f"from {place['place']}")
        people.mention(at, subject, "unknown", text)
        return Subject("person", subject, place.end(), text[: place.end()])
    if not phrases["finite"].match(plain, end):
        return _of_thing(text, plain, 0, 0, phrases)
    if people.is_ambiguous(said):
        return None
    is_known = people.is_known(said)
    subject = people.named(said) if is_known else said
    if is_known or len(said.split()) <= 3:
        people.mention(at, subject, "unknown", text)
    return Subject("person" if is_known else "name", subject, end, said)


def _of_thing(text: str, plain: str, start: int, head: int, phrases: Phrases, owner: str = "") -> Subject | None:
    """A noun phrase up to the first word that can be its verb; None for one that is too long or has a pronoun."""
    verb = phrases["finite"].search(plain, head, head + 120)
    if verb is None or verb.start() <= head:
        return None
    name = " ".join(text[head : verb.start()].split()).strip(" ,")
    words = name.split()
    if phrases.unspaced and len(name) > _MAX_SUBJECT_CHARS:
        return None
    if not words or len(words) > _MAX_SUBJECT_WORDS or any(mark in name for mark in ';:!?"“”(),，。；：！？、'):
        return None
    said = text[start : verb.start()].strip()
    if head == start and phrases["name_break"].fullmatch(aligned(words[0])):
        return None
    if phrases["broken_subject"].search(aligned(name)):
        return None
    if owner:
        # Somebody's thing is not the user's thing of that name.
        name = f"{owner}{name}" if phrases.unspaced else f"{owner} {name}"
    name = _NOWADAYS.sub("", name)
    return Subject("thing", phrases["subject_adjectives"].sub("", name) or name, verb.start(), said)
