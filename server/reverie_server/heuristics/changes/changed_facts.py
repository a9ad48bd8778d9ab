"""Which fact a sentence says otherwise, by their similarity and by what both are about; what it then states. Pure.

People state plainly how things are and tell in a hundred ways how they changed: "My rent is 850 a month", then "The
landlord raised it to 920". The grammar reads the first. The second is found to replace it where the vectors of an
embedding model say that both are about the same, and it has a value of the fact's kind. Where that is not plain nothing
is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reverie_server.heuristics.changes.change_pairs import shared_parts
from reverie_server.heuristics.changes.change_sentences import ChangeSentence, OpenFact
from reverie_server.heuristics.changes.change_words import change_words
from reverie_server.heuristics.changes.changed_values import can_be_its_value, is_number, numbers_in
from reverie_server.heuristics.changes.values import (
    SMALL_NOUNS,
    is_other_value,
    shared_words,
    values_of,
)
from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.objects import is_trade_or_diet
from reverie_server.heuristics.fact_grammar.people import role_name
from reverie_server.heuristics.fact_grammar.phrases import all_phrases
from reverie_server.heuristics.fact_grammar.terms import (
    NUMERALS,
    PETS,
    ROLES,
    content_terms,
    exclude_each_other,
    scopes_of,
)
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.stated_fact import MAX_FIELD_CHARS, SELF, Change, StatedFact

# The cues of changes that were found so: plain by a value of the same kind, no more than likely, or a guess.
BY_MEANING, LIKELY, GUESSED = "meaning", "likely", "guessed"
_NUMBER = re.compile(r"\d|[一二三四五六七八九十两百千万]")
_NAME = re.compile(r"(?<=[\w,'’)] )(?!I(?:['’]|\b))[A-ZÄÖÜÁÉÍÓÚÑ][\w'’-]+|[\u4e00-\u9fff]{2}")
# Where one may live: a name behind a word for places, or a house of some kind.
_PLACE = re.compile(
    r"(?<!\w)(?:in|to|at|near|on|into|from|a|al|en|de|del|por|hasta|hacia) (?:the |la |el |los |las )?"
    r"(?!(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|(?:January|February|March|April|May|June|July|August|September"
    r"|October|November|December|Christmas|Easter)(?!\w))[A-ZÁÉÍÓÚÑ]"
    r"|(?<!\w)(?:house|flat|apartment|condo|cottage|place|home|bungalow|villa|studio|casa|piso|depa\w*|apartamento)(?!\w)"
)
# Whom one works for: a name behind a word for it, or who pays. In German a noun with an article may be any firm.
_EMPLOYER: Mapping[str, re.Pattern[str]] = {
    "english": re.compile(
        r"(?<!\w)(?:at|for|by|join(?:ed|ing)?) (?:the )?[A-Z]"
        r"|(?<!\w)[A-Z][\w'’-]+ (?:who |that )?(?:pays?|employs?|hired|took me)(?!\w)"
    ),
    "german": re.compile(
        r"(?<!\w)(?:[Bb]eim?|[Ff]ür|[Zz]u[rm]?|[Vv]on|[Ii]n)"
        r"(?: [A-ZÄÖÜ]| (?:der|dem|den|die|einer|einem) [A-ZÄÖÜ][\w-]+ [A-ZÄÖÜ])"
    ),
}
# Predicates whose objects are people.
_PEOPLE = frozenset(ROLES) | {
    *("wife", "husband", "partner", "landlord", "dentist", "doctor", "trainer", "mentor", "flatmate", "therapist"),
    *("lawyer", "accountant", "hairdresser", "coach"),
}
# A new name alone says nothing of them: `I have a second Sean now` is no husband.
SPOUSES = frozenset({"wife", "husband", "partner"})
# Somebody's words of their own life.
_REPORTS = re.compile(
    r"(?<!\w)(?:told|tells|said|says|erzähl\w*|gesagt|sagt\w*|meint\w*|dijo|dice|dicho|contó|cuenta|contado)(?!\w)|[说說讲講]"
)
# Predicates of the user of which one holds at a time, each with the word of `changes.toml` that a new value has.
_KINDS: Mapping[str, str] = {
    "commute": "vehicle",
    "lives_in": "home",
    "address": "home",
    "works_as": "trade",
    "works_on": "work",
    "drives": "vehicle",
    "works_at": "work",
    "works_in": "work",
}
RENAMED = re.compile(
    r"(?<!\w)(?:re-?named|re-?christened|(?:is|are|goes) (?:now )?(?:called|by)|umgetauft|umbenannt|heißt|se llama"
    r"|rebautiz\w+|cambi\w+ (?:el|de) nombre)(?!\w)|改名|改叫|叫"
)
_DAY = re.compile(
    r"(?<!\w)(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|mornings?|evenings?|nights?"
    r"|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|morgens|abends"
    r"|lunes|martes|miércoles|miercoles|jueves|viernes|sábados?|sabados?|domingos?)(?!\w)"
    r"|(?:周|星期|礼拜)[一二三四五六日天末]|上午|下午|晚上"
)
# Where one lives from now on says nothing of whom one works for.
_LIVES = re.compile(
    r"(?<!\w)(?:(?:i|we)(?:'m|'re|'ve| am| are| have)? (?:just |finally )*"
    r"(?:mov(?:e|ed|ing) (?:to|in|into|out)|liv(?:e|ed|ing) in)"
    r"|(?:be)?wohn(?:e|en|t|te|ten)|ziehe?n? [^,.;!?]{0,40}?(?:nach|um|ein)|(?:um|ein)gezogen"
    r"|viv(?:o|imos|iré|iremos)|(?:me|nos) (?:he |hemos )?mud\w+)(?!\w)|搬家|搬到|搬去|住在"
)
_WORKS = frozenset({"works_at", "works_in", "works_as"})
# What goes on as before.
_STILL = re.compile(
    r"(?<!\w)(?:still|as before|unchanged|immer noch|noch immer|nach wie vor|weiterhin|wie bisher|unverändert"
    r"|todavía|aún|sigo|sigue|seguimos|siguen|igual que antes)(?!\w)|仍然|仍旧|依然|照旧"
)
# What is so each time, and not once.
_EACH_TIME = re.compile(
    r"(?<!\w)(?:every|each|always|usually|(?:mon|tues|wednes|thurs|fri|satur|sun)days|jede[nrsm]?|immer|meistens"
    r"|(?:mon|diens|donners|frei|sams|sonn)tags|mittwochs|cada|siempre|todos|todas|los (?:lunes|martes|mi[ée]rcoles"
    r"|jueves|viernes|s[áa]bados|domingos))(?!\w)|每|总|都"
)
_THEIRS = re.compile(
    r"(?<!\w)(?:his|her|hers|their|theirs|sein|seine[mnrs]?|ihre[mnrs]?|sus?)(?!\w)|[他她](?:们)?的|[他她]们?家"
)
# "Thirty-four, he could be my son" is of no son.
_SO_YOUNG = re.compile(
    r"(?<!\w)(?:could be my \w+|könnte mein\w* \w+ sein|podr[ií]a ser mi \w+)(?!\w)|(?:都)?(?:能|可以|够)当我.{1,2}了"
)
_HE = re.compile(r"\W*(?:(?:he|his|er|él)(?!\w)|他)")
_SHE = re.compile(r"\W*(?:(?:she|her|ella)(?!\w)|她)")
# What something opens with, said with its number.
_OPENS_WITH = re.compile(
    r"(?:(?<!\w)(?:(?:pass|pin)?code|password|combination|pin|\w{0,20}(?:code|kennwort|passwort|kombination)|clave"
    r"|contrasena|contraseña|c[oó]digo|combinaci[oó]n)|密码|密碼|口令)"
    r"[:=,]? ?(?:(?:is|ist|lautet|es|now|jetzt|ahora|是|为|為) ?){0,2}\d{2}"
)
# Words that say that something is called so, whatever it is.
_CALLED = content_terms("called named name heißt heiße llama llamo 名字") | content_terms("叫做")
# What one decides, plans, or does as a rule: several hold at a time.
_CHOICES = frozenset({"decided", "habit", "booked", "plans", "drinks", "uses"})
NEVER = frozenset({"name", "nickname", "from", "goal", "wish", "located", "speaks", "birthday", "diet", "allergic_to"})
# What no other value of the same kind takes the place of: who has turned nine has not changed.
_UNCHANGED = NEVER | {"age"}


@dataclass(frozen=True, slots=True)
class SimilarityLimits:
    """From which cosine on a sentence and a fact are about the same, for one embedding model.

    `alone` holds in the languages `known` to the model; with a shared word `shared` is enough, in any language.
    `choice` is for what one may have several of. `ahead` is by how much the best fact must be better than the next.
    `valued` is for two that share a word and give different values.
    """

    alone: float
    shared: float
    choice: float
    ahead: float
    valued: float
    known: frozenset[str]


def has_other_value(change: ChangeSentence, fact: OpenFact) -> bool:
    """Whether a sentence gives another value of what a fact is about; `replacement` is then what it states."""
    if fact.said_at >= change.said_at or fact.predicate in _UNCHANGED or change.values.is_empty:
        return False
    if not _has_old_value(change, fact) or not can_be_its_value(change, fact):
        return False
    # "My boss Detlef has put the delivery off to Friday" says of the boss no day.
    tells = change.tells or change.names_old
    if not is_other_value(change.values, values_of(fact.object, change.language), tells=tells):
        return False
    return bool(shared_words(change.values, values_of(fact.text, change.language)))


def replacing_fact(
    change: ChangeSentence, facts: Sequence[OpenFact], similarities: Sequence[float], limits: SimilarityLimits
) -> StatedFact | None:
    """The fact that a sentence states in place of the one that it replaces; None where that is not plain.

    `similarities` are the cosines of the sentence and each of `facts`, in their order.
    """
    able = [at for at, fact in enumerate(facts) if _can_be_replaced(fact) and fact.said_at < change.said_at]
    if not able or not change.tells:
        return None
    at = max(able, key=lambda at: similarities[at])
    fact, best = facts[at], similarities[at]
    second = max((similarities[other] for other in able if not _is_of_one(facts[other], fact)), default=0.0)
    shared = content_terms(change.said) & (content_terms(f"{fact.subject} {fact.text}") - _values(fact) - _CALLED)
    if not _is_like(best, is_shared=bool(shared), fact=fact, change=change, limits=limits):
        return None
    if best - second < limits.ahead or exclude_each_other(scopes_of(change.said), scopes_of(fact.text)):
        return None
    if not is_about(change, fact) or not has_value(change, fact) or not _has_old_value(change, fact):
        return None
    return replacement(change, fact) if can_be_its_value(change, fact) else None


def replacement(change: ChangeSentence, fact: OpenFact, cue: str = BY_MEANING) -> StatedFact:
    """The fact that a sentence states in place of another."""
    text = change.told
    numbers = numbers_in(text) if is_number(fact) else None
    # Of people it says who is it no more, and not who is; of a number that it holds no more.
    is_left = fact.predicate in _PEOPLE and bool(content_terms(fact.object) & content_terms(change.said))
    is_end = is_left or (numbers == [] and fact.is_functional)
    return StatedFact(
        utterance=change.utterance,
        sentence=change.sentence,
        text=text,
        subject=fact.subject,
        predicate=fact.predicate,
        object=(numbers[0] if numbers and len(numbers) == 1 else text.strip(" .!。！"))[:MAX_FIELD_CHARS],
        category=fact.category,  # type: ignore[arg-type]
        said_at=change.said_at,
        valid_from=change.said_at,
        confidence=0.5,
        is_functional=fact.is_functional and not is_end,
        about_user=fact.about_user,
        change=Change("ends", cue, fact.object)
        if is_end
        else Change("replaces", cue, None if fact.is_functional else fact.object),
    )


def _can_be_replaced(fact: OpenFact) -> bool:
    is_one = fact.is_functional and fact.predicate not in _UNCHANGED
    return is_one or fact.predicate in _CHOICES or fact.predicate in PETS


def _is_like(best: float, *, is_shared: bool, fact: OpenFact, change: ChangeSentence, limits: SimilarityLimits) -> bool:
    """Whether a sentence is about the same as a fact; more is asked where a person can have several of the kind."""
    if not is_shared and (change.language not in limits.known or not fact.is_functional):
        return False
    if not fact.is_functional:
        return best >= limits.choice
    return best >= (limits.shared if is_shared else limits.alone)


def _has_old_value(change: ChangeSentence, fact: OpenFact) -> bool:
    """Whether a fact may be what a sentence denies: where both give a time or a day of a kind, it is the same."""
    theirs, denied = values_of(fact.object, change.language), change.old_values
    kinds = ((denied.days, theirs.days), (denied.weekdays, theirs.weekdays), (denied.times, theirs.times))
    return all(old & own for old, own in kinds if old and own)


def _is_of_one(a: OpenFact, b: OpenFact) -> bool:
    """Whether two facts are of one sentence or of the same of the same."""
    return a.text == b.text or (a.subject, a.predicate) == (b.subject, b.predicate)


def _values(fact: OpenFact) -> frozenset[str]:
    return content_terms(fact.object) if _NUMBER.search(fact.object) else frozenset()


def is_about(change: ChangeSentence, fact: OpenFact) -> bool:
    """Whether a sentence can be about the subject of a fact: what others do changes things, not the user's life."""
    if not has_to_do_with(change, fact.text):
        return False
    # "The gas key opens with the padlock, combination 77" ends no job, unless it is told as news.
    is_of_code = not change.tells and _OPENS_WITH.search(folded(change.said)) is not None
    if fact.predicate in _WORKS and (is_of_code or _LIVES.search(aligned(change.said)) is not None):
        return False
    if fact.about_user and _is_of_others(change, fact):
        return False
    if change.of_other is None or change.of_other == fact.subject:
        return True
    if fact.predicate in _PEOPLE or fact.predicate in ("when", "is"):
        return True
    return fact.subject != SELF and names_subject(change, fact.subject)


def _is_of_others(change: ChangeSentence, fact: OpenFact) -> bool:
    """Whether a sentence has people in it whom the fact has not, or something of theirs: `my sister got her keys`."""
    phrases, plain = all_phrases()[change.language], _SO_YOUNG.sub("", aligned(change.said))
    if _THEIRS.search(plain) is not None:
        return True
    roles = {role_name(found["role"]) for found in phrases.relations.pattern.finditer(plain)}
    named = {role_name(found["role"]) for found in phrases.relations.pattern.finditer(aligned(fact.text))}
    many = {role_name(word) for word in phrases.relations.many} - set(PETS)
    return bool((roles & many) - named - {fact.predicate})


def has_to_do_with(change: ChangeSentence, text: str) -> bool:
    """Whether a sentence can end what a text says, as far as the values and words of both tell.

    What goes on as before ends nothing, and what he does is nothing of hers. A sum of money ends with another sum; and
    what is so each Saturday not by what happens on one of them.
    """
    plain = folded(change.said)
    if not change.tells and _STILL.search(plain) is not None:
        return False
    if {_who(plain), _who(folded(text))} == {"he", "she"}:
        return False
    old = values_of(text, change.language)
    if not change.tells and "money" in old.numbers and change.values.numbers and not is_other_value(change.values, old):
        return False
    is_same_day = bool(change.values.weekdays & old.weekdays) and not change.values.words & old.words
    return not (is_same_day and _EACH_TIME.search(folded(text)) and not _EACH_TIME.search(plain))


def _who(plain: str) -> str | None:
    """Whether a sentence begins with him or with her."""
    return "he" if _HE.match(plain) else "she" if _SHE.match(plain) else None


def names_subject(change: ChangeSentence, subject: str) -> bool:
    """Whether a sentence has a word of a subject, or of a German compound in it: "Training" of "Rudertraining"."""
    terms, own = content_terms(subject), content_terms(change.said)
    return not terms or bool(terms & own) or shared_parts(own, terms, change.language) > 0


def is_parted(change: ChangeSentence) -> bool:
    """Whether a sentence says of somebody that they are gone: that two have parted, or that one has died."""
    return change_words()[change.language]["parted"].search(folded(change.said)) is not None


def is_trade(fact: OpenFact) -> bool:
    """Whether a fact says what somebody does for a living: "My husband Jörg is a nurse", too."""
    first = fact.object.split(" ", 1)[0]
    return fact.predicate == "works_as" or (fact.predicate == "is" and is_trade_or_diet(first))


def has_kind(fact: OpenFact) -> bool:
    """Whether a fact has a value of a kind that is known: a place, a time, a number, who is what to somebody."""
    is_timed = fact.predicate in ("when", "age", "school_year") or _NUMBER.search(fact.object) is not None
    return is_timed or fact.predicate in _KINDS or fact.predicate in _PEOPLE


def _is_kin(noun: str) -> bool:
    """Whether a German noun is who somebody is to one, other than at work: `Tochter`, and not `Leiterin`."""
    found = all_phrases()["german"].relations.pattern.fullmatch(aligned(noun))
    return found is not None and role_name(found["role"]) not in ROLES


def has_value(change: ChangeSentence, fact: OpenFact) -> bool:
    """Whether a sentence has a value of the kind of a fact's, which is not the same."""
    words, sentence = change_words()[change.language], folded(change.said)
    own = content_terms(fact.object) | frozenset(folded(fact.object).split()) & NUMERALS
    present = content_terms(change.said) | frozenset(sentence.split()) & NUMERALS
    is_parted = fact.predicate in SPOUSES and words["parted"].search(sentence) is not None
    if own and own <= present and not is_parted and not words["over"].search(sentence):
        return False
    if fact.predicate == "when":
        phrases = all_phrases()[change.language]
        is_timed = "time_of" in phrases.patterns and phrases["time_of"].search(aligned(change.said)) is not None
        return is_timed or _NUMBER.search(change.said) is not None or bool(_days(sentence))
    if fact.predicate == "lives_in" and change.language in SMALL_NOUNS and _PLACE.search(change.said) is None:
        # "But it halves my rent" says nothing of where.
        return False
    if fact.predicate == "works_at" and (named := _EMPLOYER.get(change.language)) and not named.search(change.said):
        # "At the new firm everybody works with Neovim" says nothing of which.
        return False
    if is_trade(fact) and change.language == "german":
        return any(is_trade_or_diet(noun) and not _is_kin(noun) for noun in _NAME.findall(change.said))
    if (kind := _KINDS.get(fact.predicate)) is not None:
        return words[kind].search(sentence) is not None
    if fact.predicate in _PEOPLE:
        # "Jan told me that he no longer drives" ends no marriage.
        is_reported = fact.predicate in SPOUSES and _REPORTS.search(sentence) is not None
        is_over = is_parted or (words["over"].search(sentence) is not None and not is_reported)
        if own & present or is_over:
            # Who left was it, or was not: `Gareth has retired` of another boss.
            return is_over and bool(own & present)
        roles = all_phrases()[change.language].relations.pattern.finditer(aligned(change.said))
        if fact.predicate in SPOUSES:
            return any(role_name(role["role"]) in SPOUSES for role in roles)
        is_of_role = any(role_name(role["role"]) == fact.predicate for role in roles)
        return is_of_role or (change.language in SMALL_NOUNS and _NAME.search(change.said) is not None)
    if fact.predicate in PETS:
        return RENAMED.search(sentence) is not None and bool(content_terms(fact.text) & present)
    if fact.predicate in ("age", "school_year"):
        return _NUMBER.search(sentence) is not None or bool(frozenset(sentence.split()) & NUMERALS)
    if _NUMBER.search(fact.object):
        return _NUMBER.search(change.said) is not None
    return _NAME.search(change.said) is not None or bool(content_terms(fact.subject) & present)


def _days(sentence: str) -> frozenset[str]:
    return frozenset(_DAY.findall(sentence))
