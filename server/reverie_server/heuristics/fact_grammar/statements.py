"""The facts that a sentence states, clause by clause: subject, predicate, object, and what they change. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from reverie_server.heuristics.fact_grammar.clauses import Clause, Denied, clauses_of, denied
from reverie_server.heuristics.fact_grammar.fragments import in_full
from reverie_server.heuristics.fact_grammar.general import general_fact, request_fact
from reverie_server.heuristics.fact_grammar.objects import (
    fits,
    is_amount_or_code,
    is_vague,
    is_value,
    tidy,
    time_only,
)
from reverie_server.heuristics.fact_grammar.people import People
from reverie_server.heuristics.fact_grammar.phrases import Phrases, Predicate
from reverie_server.heuristics.fact_grammar.spoken import reworded, reworded_by
from reverie_server.heuristics.fact_grammar.statement import Statement, Talk
from reverie_server.heuristics.fact_grammar.subjects import Subject, relations_in, subject_of
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.stated_fact import SELF, Change, StatedFact

_OPPOSITES = {"likes": "dislikes", "dislikes": "likes", "eats": "avoids", "drinks": "avoids", "can_eat": "avoids"}
# These are said by their denial alone: what one cannot eat, what one cannot stand.
_DENIED_ONLY = {"can_eat": "can_eat", "can_stand": "likes", "does": "habit"}
# Of these a denial says that they are not, or not any more.
_DENIABLE = frozenset({"lives_in", "works_at", "works_as", "has", "uses", "boss", "diet", "allergic_to", "drives"})
_POSSESSIVE = re.compile(
    r"^(?:the|my|our|mein(?:e|en|em)?|unser(?:e|en)?|den|die|das|der|el|la|los|las|mi|mis|nuestr[oa]) "
    r"|^(?:我的|我们的|我)",
    re.IGNORECASE,
)
# Things of which one has one, with the predicate that says which.
_KINDS = {
    **dict.fromkeys(("car", "auto", "wagen"), "drives"),
    **{kind: kind for kind in ("bike", "motorbike", "phone", "laptop", "camera", "bank", "rad", "fahrrad", "handy")},
}
_SAME = dict.fromkeys(("e-mail", "email address", "e-mail address", "mail", "mail address"), "email") | dict.fromkeys(
    ("mailadresse", "mail-adresse", "email-adresse", "emailadresse"), "e-mail-adresse"
)
_SAME |= dict.fromkeys(("number", "new number", "mobile number", "cell number", "phone no"), "phone number")
_NAMES = frozenset({"name", "nombre", "名字"})
# After these facts a clause says no more of the kind.
_EXCLUSIVE = frozenset(
    {"name", "prefers", "when", "ended", "left", "quit", "state", "located", "value", "switched", "takes"}
)
# These are what a clause says where it says nothing more exact.
_ALONE = frozenset({"switched", "value", "quit", "has", "uses", "state", "located"})
_WHO = {"self": {"self"}, "person": {"person"}, "thing": {"thing"}, "name": {"person", "thing"}}
_ATTRIBUTE = re.compile(
    r"(?:.* )?(?:(?:first|native) language|mother tongue|number|address|e-?mail|name|surname|password|passcode"
    r"|passphrase|code|pin|birthday|anniversary|size"
    r"|goal|hobby|nationality|time ?zone|plate|id|username|handle|key|url|wi-?fi|combination|iban|licen[cs]e|date"
    r"|blood type|dose|price|deposit|size|weight|email|salary"
    r"|nickname|pronouns|shift|budget|salary|rent|seat|locker|desk|extension|phone|account|room|title|height|weight)"
)
_FAVOURITE = re.compile(
    r"(?:all[- ]time )?favou?rite .+|lieblings.+|.+ (?:favorit[oa]s?|preferid[oa]s?)(?: .+)?|最(?:喜欢|喜歡|爱|愛).*"
)
_ATTRIBUTES = re.compile(
    r".*(?:nummer|adresse|passwort|kennwort|code|geburtstag|name|größe|hobby|kennzeichen|pin|schlüssel"
    r"|miete|gehalt|budget|preis|dosis|e-?mail|iban|kaution)"
    r"|(?:número|numero|dirección|direccion|contraseña|clave|código|codigo|nombre|apellidos?|apodo|cumpleaños|correo|email"
    r"|mail|talla|matrícula|matricula|teléfono|telefono|móvil|celular|pin|usuario|sueldo|salario|peso|altura|estatura|turno"
    r"|lengua materna|idioma materno|grupo sanguíneo|signo|aniversario|puesto|cargo|nacionalidad|pasatiempo|hobby|meta"
    r"|objetivo|horario|alquiler|renta|hipoteca|presupuesto)(?: .*)?"
    r"|.*(?:号码|电话|手机号?|密码|地址|邮箱|生日|名字|尺码|爱好|账号|车牌号?|验证码|微信号?|工号|房间号|月薪|年薪|工资|目的地|房租|房贷"
    r"|母语|职业|身高|体重|血型|姓名|网名|小名|学号|座位号?|会员号|护照号?|身份证号?|纪念日|星座|预算|英文名)"
)


_SAYS = (
    r"said|says|say|asked|wrote|writes|told|tells|text(?:ed|s)?|means|called|example|e\.g|sagt\w*|schr\w+|fragt\w*|meint\w*"
    r"|beispiel\w*|heißt|dijo|dice|escribi\w+|pregunt\w+|ejemplo|significa"
)
# Somebody's words: `My sister said: I live in Rome`.
_SAID = re.compile(rf"[^:：]{{0,80}}(?:(?<!\w)(?:{_SAYS})(?!\w)|说|写|问|例如|比如)[^:：]{{0,20}}[:：]", re.IGNORECASE)
# What announces a statement and is none: `Change of plan: the meeting is on Thursday`.
# Words for animals with which people live, and how each language says what the speaker's is called.
_PET = re.compile(
    r"(?<!\w)(?:dog|puppy|cat|kitten|parrot|budgie|rabbit|hamster|horse|pony|tortoise|hund|welpe|katze|kater|kätzchen"
    r"|wellensittich|hase|kaninchen|pferd|perr[oa]|cachorr[oa]|gat[oa]|gatit[oa]|loro|conejo|caballo)(?!\w)"
    r"|小?[猫狗](?:咪|狗)?|兔子|仓鼠|鹦鹉",
    re.IGNORECASE,
)
_PET_IS = {
    "english": "My {} is called ",
    "german": "Mein {} heißt ",
    "spanish": "Mi {} se llama ",
    "chinese": "我的{}叫",
}
_ANNOUNCED = re.compile(r"[^:：\d]{3,60}[:：]\s*(?P<rest>\S.{8,})", re.DOTALL)


# The point of a name ends nothing: `in St. Albans`, but not `in Elm St.` It is read as a letter that no text has.
_SHORT_NAME = re.compile(
    r"((?<!\w)(?:[a-zß-öø-ÿ]{1,20}|In|At) |^)(St|Sta|Sto|Mt|Dr|Dra|Prof|Mr|Mrs|Ms|Hr|Fr|Sr|Sra)\.(?= [A-ZÄÖÜÁÉÍÓÚÑ])"
)
_POINT = "\ua78f"


def facts_of_sentence(statement: Statement, talk: Talk) -> list[StatedFact]:
    """The facts of a sentence, in the order of its words; [] where it states none."""
    core = _SHORT_NAME.sub(rf"\1\2{_POINT}", statement.core)
    if core == statement.core:
        return _facts_of_sentence(statement, talk)
    return [
        replace(
            fact,
            text=fact.text.replace(_POINT, "."),
            subject=fact.subject.replace(_POINT, "."),
            object=fact.object.replace(_POINT, "."),
        )
        for fact in _facts_of_sentence(replace(statement, core=core), talk)
    ]


def _facts_of_sentence(statement: Statement, talk: Talk) -> list[StatedFact]:
    if statement.phrases["handed"].search(aligned(statement.core)):
        # `Translate this: I live in …` hands over a text.
        return []
    phrases = statement.phrases
    if phrases["fiction"].search(aligned(statement.core)):
        return []
    if _SAID.match(statement.core) and not statement.is_asked:
        return []
    statement = _of_pet(statement, talk)
    found = _announced_facts(statement, talk)
    talk.pet = next((word for fact in found if (word := _pet_of(fact))), None)
    return found


def _of_pet(statement: Statement, talk: Talk) -> Statement:
    """The sentence with the animal of which the one before told: `His name is Rex` after `We got a dog`."""
    named = statement.phrases["pet_named"].match(aligned(statement.core)) if talk.pet else None
    wording = _PET_IS.get(statement.phrases.language)
    if named is None or wording is None:
        return statement
    return replace(statement, core=f"{wording.format(talk.pet)}{statement.core[named.end() :]}")


def _pet_of(fact: StatedFact) -> str | None:
    """The word for an animal that a fact gives the user."""
    if fact.subject != SELF or fact.predicate not in ("has", "owns", "got", "bought", "adopted"):
        return None
    if fact.change is not None and fact.change.kind == "ends":
        return None
    found = _PET.search(fact.object)
    return found[0] if found else None


def _announced_facts(statement: Statement, talk: Talk) -> list[StatedFact]:
    announced = _ANNOUNCED.match(statement.core)
    if announced is not None and (found := _spoken_facts(replace(statement, core=announced["rest"]), talk)):
        return found
    return _spoken_facts(statement, talk)


def _spoken_facts(statement: Statement, talk: Talk) -> list[StatedFact]:
    phrases = statement.phrases
    is_of_self = not talk.is_of_other and not statement.is_of_file
    full = in_full(statement.core, phrases, talk.people, is_of_self=is_of_self)
    core = reworded(full, phrases)
    found = _in_other_words(statement, core, talk) if core != statement.core else []
    found = found or _facts(statement, talk)
    ordered = reworded_by(phrases.ordered, full)
    if ordered != full:
        in_order = _in_other_words(statement, reworded(ordered, phrases), talk)
        found = in_order if len(in_order) > len(found) else found
    return found or _general_facts(statement, core, talk)


def _in_other_words(statement: Statement, core: str, talk: Talk) -> list[StatedFact]:
    """The facts of a statement in other words; each stands in its own words, but for a clause of several."""
    found = _facts(replace(statement, core=core), talk)
    return [replace(fact, text=statement.core) if fact.text == core else fact for fact in found]


def _general_facts(statement: Statement, core: str, talk: Talk) -> list[StatedFact]:
    """The fact that the statement, or the same in other words, states as a whole; [] where a part states nothing."""
    drop, phrases = statement.phrases["drop"], statement.phrases
    for words in dict.fromkeys((core, statement.core)):
        said = replace(statement, core=words)
        clauses = clauses_of(words, phrases)
        if not any(_is_dropped(clause, drop, phrases) for clause in clauses):
            found = [_with_cue(fact, said) for fact in general_fact(said, clauses, talk)]
            if found:
                return [replace(fact, text=statement.core) if fact.text == words else fact for fact in found]
    return []


def _facts(statement: Statement, talk: Talk) -> list[StatedFact]:
    found: list[StatedFact] = []
    before: Subject | None = None
    is_dropped = False
    drop, phrases = statement.phrases["drop"], statement.phrases
    clauses = clauses_of(statement.core, phrases)
    dropped = [_is_dropped(clause, drop, phrases) for clause in clauses]
    first = drop.search(aligned(statement.core)) if any(dropped) else None
    # What is said before the part that states nothing is said: `My boss, Ada, wants me to call`.
    end = len(statement.core) if first is None else first.start()
    filler = phrases["filler"].match(aligned(statement.core), 0, end)
    certain = replace(statement, core=statement.core[filler.end() if filler is not None else 0 : end].rstrip(" ,"))
    found += [replace(fact, text=statement.core) for fact in _relation_facts(certain, talk)]
    for clause, is_of_drop in zip(clauses, dropped, strict=True):
        subject = subject_of(clause, before, talk.people, phrases, talk.number, _it(clause, talk, phrases))
        is_dropped = is_of_drop or (clause.inherits and is_dropped)
        if subject is not None and not is_dropped:
            read = list(_facts_of_clause(statement, clause, subject, talk, is_only=len(clauses) == 1))
            # "My daughter started at Hill Road School": who goes to a school is not employed there.
            pupils = {(fact.subject, fact.object) for fact in read if fact.predicate in ("school", "lives_in")}
            found += [f for f in read if f.predicate != "works_at" or (f.subject, f.object) not in pupils]
        if subject is not None and subject.kind in ("thing", "name") and not subject.is_pronoun:
            talk.last_thing = (talk.number, subject.name)
        before = subject or before
    talk.is_of_other = before.kind in ("person", "name") if before else talk.is_of_other
    return [_with_cue(fact, statement) for fact in found]


def _is_dropped(clause: Clause, drop: re.Pattern[str], phrases: Phrases) -> bool:
    """Whether a clause states nothing: a wish, a guess, somebody's words. Its reason may be any of these."""
    reason = phrases["reason"].search(clause.plain)
    return drop.search(clause.plain, 0, reason.start() if reason is not None else len(clause.plain)) is not None


def _it(clause: Clause, talk: Talk, phrases: Phrases) -> str | None:
    """The thing for which `it` stands: that of the same sentence, or the last one where the clause corrects it."""
    if talk.last_thing is None:
        return None
    number, name = talk.last_thing
    is_near = number == talk.number or (talk.number - number <= 2 and phrases["corrects"].search(clause.plain))
    return name if is_near else None


def _relation_facts(statement: Statement, talk: Talk) -> Iterator[StatedFact]:
    for relation in relations_in(statement.core, talk.people, statement.phrases, talk.number):
        is_single = relation.is_single
        change = None
        if relation.change is not None:
            change = Change(relation.change, relation.cue, relation.name if relation.change == "ends" else None)
        yield statement.fact(
            SELF,
            relation.role,
            relation.name,
            "profile",
            is_functional=is_single and relation.change != "ends",
            change=change,
        )


def _facts_of_clause(
    statement: Statement, clause: Clause, subject: Subject, talk: Talk, *, is_only: bool
) -> Iterator[StatedFact]:
    phrases = statement.phrases
    # What stands behind a subject begins with the space before it.
    lead = "" if subject.said or phrases.unspaced else " "
    behind = lead + clause.text[subject.rest :], lead + clause.plain[subject.rest :]
    rest = denied(*behind, phrases)
    text = _text_of(statement, clause, subject, talk.people, is_only=is_only)
    is_planned = phrases["plan"].search(clause.plain) is not None
    taken: set[str] = set()
    for predicate in phrases.predicates:
        if not predicate.subjects & _WHO[subject.kind] or predicate.name in taken or taken & _EXCLUSIVE:
            continue
        if taken and predicate.name in _ALONE:
            continue
        if is_planned and not (predicate.name == "when" and subject.kind in ("thing", "name")):
            continue
        fact = _match(predicate, statement, subject, rest, talk)
        if fact is not None:
            taken.add(predicate.name)
            yield replace(fact, text=text)
    is_over = not taken and rest.is_over
    if is_over and rest.cue is not None and (done := phrases["activity"].match(rest.plain)):
        activity = tidy(rest.text[: done.end()])
        if activity and subject.kind in ("self", "person"):
            change = Change("ends", rest.cue, activity)
            yield statement.fact(
                subject.name,
                "habit",
                activity,
                "preference",
                text=text,
                change=change,
                about_user=subject.kind == "self",
            )
            return
    if not taken and rest.cue is not None and rest.is_over:
        # `I quit smoking`: the words that say it is over are themselves a predicate.
        plain = Denied(*behind)
        for predicate in phrases.predicates:
            if predicate.change == "ends" and predicate.subjects & _WHO[subject.kind]:
                fact = _match(predicate, statement, subject, plain, talk)
                if fact is not None:
                    yield replace(fact, text=text)
                    return


def _match(predicate: Predicate, statement: Statement, subject: Subject, rest: Denied, talk: Talk) -> StatedFact | None:
    found = predicate.pattern.match(rest.plain)
    if found is None:
        return None
    object_ = _without_old(_object_of(found, rest.text), statement.phrases)
    if not object_ and predicate.change != "ends":
        return None
    if predicate.name == "when":
        object_ = time_only(object_)
    is_empty = is_vague(object_) and predicate.name != "when"
    if object_ and (is_empty or not fits(predicate.condition, object_, has_capitals=talk.has_capitals)):
        return None
    if (
        predicate.name == "left"
        and "place" in found.groupdict()
        and found["place"]
        and not talk.people.is_of_work(subject.name)
    ):
        # `Helen left the station` on any day, if she is nobody's boss there.
        return None
    of_thing = _named(found, rest.text, "s")
    if of_thing is not None:
        about_thing = _POSSESSIVE.sub("", of_thing)
        subject = replace(subject, kind="thing", name=about_thing, owned=about_thing)
    about = _about(predicate, subject)
    if about is None:
        return None
    subject_name, predicate_name = about
    is_functional = predicate.is_functional
    if predicate.name == "when" and (
        is_amount_or_code(object_) or (predicate.change == "replaces" and _is_no_time(object_, statement.phrases))
    ):
        # `The code was changed to 7788`, and what moves to a place.
        if not is_value(object_):
            return None
        predicate_name = "is"
    if predicate.name == "switched" and subject.kind == "thing" and is_value(object_):
        # `The alarm code changed to 9034.`
        predicate_name, is_functional = "is", True
    old = _named(found, rest.text, "old")
    than = _named(found, rest.text, "than")
    if than:
        predicate_name = f"prefers of {' / '.join(sorted((object_.casefold(), than.casefold())))}"
    if predicate.name == "name" and subject.kind != "self":
        return None
    change = Change(predicate.change, found[0].strip()[:40], old) if predicate.change else None
    if old and change is None:
        change = Change("replaces", "from … to", old)
    if rest.cue is not None:
        if predicate.change == "ends":
            return None
        predicate_name, change, is_functional = _denied(predicate, predicate_name, object_, rest, change)
        if not predicate_name:
            return None
    elif predicate.name in _DENIED_ONLY:
        return None
    elif subject.is_new and change is None:
        change = Change("replaces", "new")
    if predicate_name == "avoids" and statement.phrases["passing"].search(aligned(statement.core)):
        # `No coffee today` is no diet.
        return None
    if predicate.change == "ends" and not object_:
        object_ = subject_name if subject.kind != "self" else predicate.name
    return statement.fact(
        subject_name,
        predicate_name,
        object_,
        "profile" if predicate_name == "name" else predicate.category,
        is_functional=is_functional,
        change=change,
        about_user=subject.kind == "self" or subject.owned is not None,
        confidence=0.85 if predicate.is_functional else 0.8,
    )


def _denied(
    predicate: Predicate, name: str, object_: str, rest: Denied, change: Change | None
) -> tuple[str, Change | None, bool]:
    """Predicate, change and whether it is functional, of what a clause denies; "" where that is no fact."""
    assert rest.cue is not None
    name = _DENIED_ONLY.get(name, name)
    if rest.is_over:
        return name, Change("ends", rest.cue, object_), False
    if name in _OPPOSITES:
        return _OPPOSITES[name], change, False
    if name in _DENIABLE:
        return name, Change("ends", rest.cue, object_), False
    if name in ("likes", "speaks", "plays", "learns", "prefers") or predicate.category == "profile":
        return f"not {name}", change, False
    return "", None, False


def _about(predicate: Predicate, subject: Subject) -> tuple[str, str] | None:
    """The subject and the predicate of a fact; what the user owns is the user's where it is a value."""
    if predicate.name == "value":
        if predicate.condition == "attribute" and not (subject.owned and _is_attribute(subject.owned)):
            return None
        if predicate.condition == "kind":
            # `My car is a Golf.`
            kind = _KINDS.get(subject.owned.casefold()) if subject.owned else None
            return None if kind is None else (SELF, kind)
        if subject.owned is not None and _is_attribute(subject.owned):
            owned = _SAME.get(subject.owned.casefold(), subject.owned.casefold())
            return SELF, "name" if owned in _NAMES else owned
        if subject.kind == "name":
            return None
        return subject.name, "is"
    if predicate.name == "lives_in" and subject.kind == "thing":
        return subject.name, "located"
    if predicate.name == "boss" and subject.kind == "self":
        return SELF, "boss"
    return subject.name, predicate.name


def _is_no_time(object_: str, phrases: Phrases) -> bool:
    """Whether a language knows what times look like, and an object has nothing of one."""
    return "time_of" in phrases.patterns and phrases["time_of"].search(aligned(object_)) is None


def _is_attribute(owned: str) -> bool:
    """Whether a thing of the user's is a value rather than a thing: a favourite, a number."""
    plain = owned.casefold()
    return any(pattern.fullmatch(plain) for pattern in (_FAVOURITE, _ATTRIBUTE, _ATTRIBUTES))


def _object_of(found: re.Match[str], text: str) -> str:
    for name, value in found.groupdict().items():
        if value is not None and name.startswith("o") and not name.startswith("old"):
            return tidy(text[found.start(name) : found.end(name)])
    return ""


def _without_old(object_: str, phrases: Phrases) -> str:
    """An object without the words behind it that say what it takes the place of."""
    old = phrases["old"].search(aligned(object_))
    return tidy(object_[: old.start()]) if old and old.start() > 0 else object_


def _named(found: re.Match[str], text: str, prefix: str) -> str | None:
    for name, value in found.groupdict().items():
        if value is not None and name.startswith(prefix):
            return tidy(text[found.start(name) : found.end(name)]) or None
    return None


def _text_of(statement: Statement, clause: Clause, subject: Subject, people: People, *, is_only: bool) -> str:
    """The clause as a sentence of its own, with a name in place of a pronoun or of a subject that it inherits.

    Where the sentence's language has no words for who it is, it stays as it was said.
    """
    if is_only and not subject.is_pronoun:
        return statement.core
    behind = clause.text[subject.rest :]
    if subject.is_pronoun or (not subject.said and subject.kind != "self"):
        who = people.words_for(subject.name, statement.phrases.language)
        if who is None:
            return statement.core
        is_joined = statement.phrases.unspaced or behind[:1] in (" ", "'", "’")
        text = f"{who}{'' if is_joined else ' '}{behind}"
    elif not subject.said:
        text = f"{statement.phrases.words_of_self}{'' if statement.phrases.unspaced else ' '}{clause.text}"
    else:
        text = clause.text
    text = text.strip(" ,;")
    return text[:1].upper() + text[1:] + ("" if text[-1:] in ".!。！" else "。" if statement.phrases.unspaced else ".")


def _with_cue(fact: StatedFact, statement: Statement) -> StatedFact:
    """The fact with what the other words of its sentence say of an earlier one."""
    phrases = statement.phrases
    plain = aligned(fact.text)
    change = fact.change
    if phrases["also"].search(plain) or (change is not None and (change.kind == "ends" or change.old_object)):
        return fact
    old = phrases["old"].search(plain)
    if old is not None:
        named = _named(old, fact.text, "old")
        if named and not is_vague(named) and named.casefold() not in fact.object.casefold():
            return replace(fact, change=Change("replaces", old[0].strip()[:40], named))
    if change is not None:
        return fact
    cue = phrases["cue"].search(aligned(statement.core))
    return fact if cue is None else replace(fact, change=Change("replaces", cue[0]))


__all__ = ["Statement", "Talk", "facts_of_sentence", "request_fact"]
