"""The facts that a sentence states, clause by clause: subject, predicate, object, and what they change. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from reverie_server.heuristics.fact_grammar.carried import carry, owner_before, with_owner, with_pet, with_sold
from reverie_server.heuristics.fact_grammar.clauses import Clause, Denied, clauses_of, denied
from reverie_server.heuristics.fact_grammar.fragments import in_full
from reverie_server.heuristics.fact_grammar.general import general_fact, request_fact
from reverie_server.heuristics.fact_grammar.named_anew import with_new_name
from reverie_server.heuristics.fact_grammar.objects import is_vague, tidy
from reverie_server.heuristics.fact_grammar.people import People
from reverie_server.heuristics.fact_grammar.phrases import Phrases
from reverie_server.heuristics.fact_grammar.predicates import fact_behind, named_in
from reverie_server.heuristics.fact_grammar.spoken import reworded, reworded_by
from reverie_server.heuristics.fact_grammar.statement import Statement, Talk
from reverie_server.heuristics.fact_grammar.subjects import Subject, called_at, relations_in, subject_of
from reverie_server.heuristics.fact_grammar.successors import with_successors
from reverie_server.heuristics.fact_times import begins_later
from reverie_server.heuristics.jest import is_joke
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.stated_fact import SELF, Change, StatedFact

# After these facts a clause says no more of the kind.
_EXCLUSIVE = frozenset(
    {"name", "prefers", "when", "ended", "left", "quit", "state", "located", "value", "switched", "takes", "retires"}
)
# These are what a clause says where it says nothing more exact.
_ALONE = frozenset({"switched", "value", "quit", "has", "uses", "state", "located"})
_OF_PLACES = frozenset({"lives_in", "works_at", "works_as", "school"})
_WHO = {"self": {"self"}, "person": {"person"}, "thing": {"thing"}, "name": {"person", "thing"}}
_SAYS = (
    r"said|says|say|asked|wrote|writes|told|tells|text(?:ed|s)?|means|called|example|e\.g|sagt\w*|schr\w+|fragt\w*|meint\w*"
    r"|beispiel\w*|heißt|dijo|dice|escribi\w+|pregunt\w+|ejemplo|significa"
)
# Somebody's words: `My sister said: I live in Rome`.
_SAID = re.compile(rf"[^:：]{{0,80}}(?:(?<!\w)(?:{_SAYS})(?!\w)|说|写|问|例如|比如)[^:：]{{0,20}}[:：]", re.IGNORECASE)
# What announces a statement and is none: `Change of plan: the meeting is on Thursday`.
_ANNOUNCED = re.compile(r"[^:：\d]{3,60}[:：]\s*(?P<rest>\S.{8,})", re.DOTALL)
# The point of a name ends nothing: `in St. Albans`, but not `in Elm St.` It is read as a letter that no text has.
_SHORT_NAME = re.compile(
    r"((?<!\w)(?:[a-zß-öø-ÿ]{1,20}|In|At|Frau|Herrn?|Doña|Don) |^)"
    r"(St|Sta|Sto|Mt|Dr|Dra|Prof|Mr|Mrs|Ms|Hr|Fr|Sr|Sra)\.(?= [A-ZÄÖÜÁÉÍÓÚÑ])"
)
_POINT = "\ua78f"


def facts_of_sentence(statement: Statement, talk: Talk) -> list[StatedFact]:
    """The facts of a sentence, in the order of its words; [] where it states none."""
    core = _SHORT_NAME.sub(rf"\1\2{_POINT}", statement.core)
    # Who was named so in another sentence has that letter in their name.
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
    if phrases["fiction"].search(aligned(statement.core)) or (is_joke(statement.core) and not statement.is_asked):
        return []
    if _SAID.match(statement.core) and not statement.is_asked:
        return []
    statement = with_new_name(with_sold(with_pet(statement, talk), talk), talk)
    found = with_successors(statement, _announced_facts(statement, talk), talk)
    carry(statement, found, talk)
    return found


def _announced_facts(statement: Statement, talk: Talk) -> list[StatedFact]:
    announced = _ANNOUNCED.match(statement.core)
    if announced is not None and (found := _spoken_facts(replace(statement, core=announced["rest"]), talk)):
        return found
    return _spoken_facts(statement, talk)


def _spoken_facts(statement: Statement, talk: Talk) -> list[StatedFact]:
    phrases = statement.phrases
    is_of_self = not talk.is_of_other and not statement.is_of_file
    full = in_full(statement.core, phrases, talk.people, is_of_self=is_of_self)
    core = _of_whom(reworded(full, phrases), full, statement, talk)
    found = _in_other_words(statement, core, talk) if core != statement.core else []
    found = found or _facts(statement, talk)
    ordered = _of_whom(reworded_by(phrases.ordered, full), full, statement, talk)
    if ordered != full:
        in_order = _in_other_words(statement, _of_whom(reworded(ordered, phrases), full, statement, talk), talk)
        found = in_order if len(in_order) > len(found) else found
    return found or _general_facts(statement, core, talk)


def _of_whom(core: str, full: str, statement: Statement, talk: Talk) -> str:
    """A sentence in other words; as it is where these make the user speak of themselves behind talk of another."""
    phrases = statement.phrases
    more, few = (len(phrases["first"].findall(aligned(text))) for text in (core, full))
    return full if more > few and (talk.is_of_other or _is_of_other(full, phrases)) else core


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
    is_of_unread = False
    text_before: str | None = None
    for clause, is_of_drop in zip(clauses, dropped, strict=True):
        own = subject = None
        # `My grandmother is well on in her nineties, lives in Leeds`: of whom the first part is, the second is too.
        if not (is_of_unread and clause.inherits):
            it = _it(clause, talk, phrases)
            is_of_other = before is None and talk.is_of_other
            subject = subject_of(clause, before, talk.people, phrases, talk.number, it, is_of_other=is_of_other)
            own = subject
            subject = with_owner(subject, owner_before(text_before, before, talk, phrases), phrases)
            is_of_unread = (subject is None or subject.kind == "thing") and _is_of_other(clause.text, phrases)
        is_dropped = is_of_drop or (clause.inherits and is_dropped)
        if subject is not None and not is_dropped:
            read = list(_facts_of_clause(statement, clause, subject, talk, is_only=len(clauses) == 1))
            # "My daughter started at Hill Road School": who goes to a school is not employed there.
            pupils = {(fact.subject, fact.object) for fact in read if fact.predicate in ("school", "lives_in")}
            # Whose code it is, the clause alone does not say.
            read = [replace(fact, text=statement.core) for fact in read] if subject is not own else read
            found += [f for f in read if f.predicate != "works_at" or (f.subject, f.object) not in pupils]
        if subject is not None and subject.kind in ("thing", "name") and not subject.is_pronoun:
            talk.last_thing = (talk.number, (own or subject).name)
        before, text_before = subject or before, clause.text
    if before is not None or is_of_unread:
        talk.is_of_other = is_of_unread or (before is not None and before.kind in ("person", "name"))
    return [_with_cue(fact, statement) for fact in found]


def _is_of_other(text: str, phrases: Phrases) -> bool:
    """Whether a sentence or a clause begins with somebody else."""
    plain = aligned(text)
    return called_at(text, phrases) is not None or any(phrases[of].match(plain) for of in ("of_other", "in_care"))


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
    if subject.kind in ("self", "person") and (later := _facts_of_later(statement, clause, subject, talk)):
        yield from (replace(fact, text=text) for fact in later)
        return
    taken: set[str] = set()
    for predicate in phrases.predicates:
        if not predicate.subjects & _WHO[subject.kind] or predicate.name in taken or taken & _EXCLUSIVE:
            continue
        if taken and predicate.name in _ALONE:
            continue
        if is_planned and not (predicate.name == "when" and subject.kind in ("thing", "name")):
            continue
        fact = fact_behind(predicate, statement, subject, rest, talk)
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
                fact = fact_behind(predicate, statement, subject, plain, talk)
                if fact is not None:
                    yield replace(fact, text=text)
                    return


def _facts_of_later(statement: Statement, clause: Clause, subject: Subject, talk: Talk) -> list[StatedFact]:
    """What a clause says to hold from a day on that is to come; [] where nothing of it can only be meant so."""
    phrases = statement.phrases
    day = begins_later(clause.text, statement.said_at, needs_year=statement.is_of_file)
    if day is None or any(
        phrases["future"].fullmatch(found[0]) is None for found in phrases["plan"].finditer(clause.plain)
    ):
        return []
    at, start, end = day
    if start < subject.rest:
        return []
    lead = "" if subject.said or phrases.unspaced else " "
    text = f"{clause.text[subject.rest : start].rstrip()}{clause.text[end:]}"
    text = lead + text
    if (will := phrases["helping"].search(aligned(text))) is not None:
        text = text[: will.start()] + text[will.end() :]
    rest = denied(text, aligned(text), phrases)
    if rest.cue is not None:
        return []
    facts = (fact_behind(each, statement, subject, rest, talk) for each in phrases.predicates if each.is_functional)
    return [replace(fact, valid_from=at) for fact in facts if fact is not None and fact.predicate in _OF_PLACES][:1]


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
        if statement.phrases.language == "english" and subject.is_pronoun:
            behind = _without_contraction(behind, statement.phrases)
        is_joined = statement.phrases.unspaced or behind[:1] in (" ", "'", "’")
        text = f"{who}{'' if is_joined else ' '}{behind}"
    elif not subject.said:
        text = f"{statement.phrases.words_of_self}{'' if statement.phrases.unspaced else ' '}{clause.text}"
    else:
        text = clause.text
    text = text.strip(" ,;")
    if subject.kind == "self" and (one := statement.phrases["one_of_many"].match(aligned(text))) is not None:
        text = f"{statement.phrases.words_of_us}{text[one.end() :]}"
    return text[:1].upper() + text[1:] + ("" if text[-1:] in ".!。！" else "。" if statement.phrases.unspaced else ".")


def _without_contraction(behind: str, phrases: Phrases) -> str:
    """What stands behind "she" with "is" and "has" as words of their own: "Ada's allergic" reads like a possessive."""
    if not behind.startswith(("'s ", "’s ")):
        return behind
    verb = "is" if phrases["has_done"].match(behind) is None else "has"
    return f" {verb}{behind[2:]}"


def _with_cue(fact: StatedFact, statement: Statement) -> StatedFact:
    """The fact with what the other words of its sentence say of an earlier one."""
    phrases = statement.phrases
    plain = aligned(fact.text)
    change = fact.change
    if phrases["also"].search(plain) or (change is not None and (change.kind == "ends" or change.old_object)):
        return fact
    old = phrases["old"].search(plain)
    if old is not None:
        named = named_in(old, fact.text, "old")
        if named and not is_vague(named) and named.casefold() not in fact.object.casefold():
            return replace(fact, change=Change("replaces", old[0].strip()[:40], named))
    if change is not None:
        return fact
    core = aligned(statement.core)
    # `Mi madre vive en Lugo y mi padre en Vigo con su nueva mujer`: what is new is not where she lives.
    end = core.find(aligned(fact.object)) + len(fact.object) + 1
    cues = phrases["cue"].finditer(core)
    own = (cue[0] for cue in cues if cue.start() <= end or phrases["adjective"].fullmatch(cue[0]) is None)
    cue = next(own, None)
    return fact if cue is None else replace(fact, change=Change("replaces", cue))


__all__ = ["Statement", "Talk", "facts_of_sentence", "request_fact"]
