"""What a sentence may end of what was said before, by the words of both, whatever the model of pairs says. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta

from reverie_server.heuristics.changes.change_pairs import shared_parts
from reverie_server.heuristics.changes.change_sentences import ChangeSentence, OpenFact, says_it_is_over
from reverie_server.heuristics.changes.changed_facts import (
    NEVER,
    RENAMED,
    SPOUSES,
    has_kind,
    has_to_do_with,
    has_value,
    is_about,
    is_parted,
    is_trade,
    names_subject,
)
from reverie_server.heuristics.changes.changed_values import can_be_its_value, is_of_another_value, is_value
from reverie_server.heuristics.changes.lasting_facts import abides, is_for_good
from reverie_server.heuristics.changes.values import is_other_value, shared_words, values_of
from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.general import NOTED
from reverie_server.heuristics.fact_grammar.han import fits_han
from reverie_server.heuristics.fact_grammar.phrases import all_phrases
from reverie_server.heuristics.fact_grammar.terms import (
    PETS,
    ROLES,
    content_terms,
    exclude_each_other,
    is_unspaced,
    is_within_place,
    scopes_of,
)
from reverie_server.heuristics.requests.fact_requests import aligned, split_request
from reverie_server.heuristics.stated_fact import SELF

# Within a conversation people say more of what they said, and correct themselves in so many words.
APART = timedelta(hours=1)
# What stays true when other things change: what one likes, and who is what to whom.
_LASTING = NEVER - {"located"} | {"likes", "dislikes", "avoids", "left", "ended", "moved_out"}
# Of such a thing a life has one at a time.
_OF_ONE_A_LIFE = content_terms(
    "rent salary wage paycheck miete gehalt lohn alquiler renta sueldo salario 房租 租金 工资 薪水"
)
_OF_SOMETHING = re.compile(
    r"['’]s (?:rent|salary|wage|paycheck)|(?:rent|salary|wage|paycheck|miete|gehalt|lohn|alquiler|renta|sueldo|salario)"
    r" (?:for|of|von|vom|für|de|del|der|des|meiner|deiner|seiner|ihrer)(?!\w)"
)
# What has no owner any more.
_LOST = re.compile(
    r"(?<!\w)(?:dead|put (?:down|to sleep)|ran away|rehomed|gave (?:him|her|it|them) (?:away|up)|(?:him|her|it) go"
    r"|gestorben|tot|eingeschläfert|weggelaufen|abgegeben|muerto|murió|se escapó|regal[éó]|di en adopción"
    r"|sacrific\w+)(?!\w)|死|走丢|走失|送人|没了|安乐"
)
_GONE = re.compile(r"sold|scrapped|verkauft|verkauf|verschrottet|vendí|vendi|vendido|vendimos|vendió")
_FEW_WORDS, _PART_OF, _WORDS = 4, frozenset({"of", "from", "von", "vom", "de", "del"}), re.compile(r"\w+")
# Of what a sentence says beside the facts that were read in it another speaks by so many words.
_FEWEST_BESIDE = 2
_OF = re.compile(r"(?<!\w)(?:von|vom|für|fürs|des|(?:mein|dein|unser)(?:es|er))(?!\w)")

# What somebody or something is called, and words of a name.
_CALLED = re.compile(
    r"(?<!\w)(?:heiss(?:t|en)|genannt|(?:is|are|was) (?:called|named)|(?:['’]s|s?he['’]?s) called|name(?:'s| is)"
    r"|se llaman?)(?!\w)|[叫名]"
)
_TITLE = re.compile(
    r"(?<!\w)(?:dr|frau|herrn?|mrs?|ms|miss|se[nñ]or(?:a|ita)?|don|doña|doctora?)(?!\w)|医生|大夫|老师|先生|女士|師傅|师傅"
)
# Who looks for another has the one that there is; who has moved in, has moved to where it was said.
_SEEKS = re.compile(
    r"(?<!\w)(?:(?:look|search|hunt)(?:s|ed|ing)? for|(?:flat|house|job|car)[- ]?hunting|apply(?:ing)? for"
    r"|such(?:e|en|t|st)|(?:bewerb|bewirb)\w+|busc(?:o|a|as|amos|an|ando))(?!\w)|[在想]找(?!到)|找(?:房|工作)|看房"
)
_FOUND = re.compile(r"(?<!\w)(?:found|gefunden|fand(?:en)?|encontr\w+)(?!\w)|找到")
_MOVES = re.compile(
    r"(?<!\w)(?:mov(?:e[ds]?|ing)|relocat\w+|settl\w+|emigrat\w+|back|left|zieh\w*|zog\w*|gezogen|umzug\w*|zurück"
    r"|mud\w+|traslad\w+|regres\w+|volv\w+|vuel\w+)(?!\w)|搬|回国|回老家|回来"
)
_MOVED_IN = re.compile(
    r"(?<!\w)(?:moved in(?! with)|eingezogen|me (?:mudé|instalé)|nos (?:mudamos|instalamos))(?!\w)|搬[进進好完]"
)
_STUDIES = re.compile(
    r"(?<!\w)(?:school|uni(?:versity)?|college|courses?|degree|class|lessons?|stud(?:y|ies|ied|ying)|learn\w*|graduat\w*|apprentice\w*"
    r"|\w*schule|studi(?:um|er\w*)|hochschule|fachhochschule|klasse|ausbildung|lehre|lern\w*|kurs|kita|kindergarten"
    r"|colegio|escuela|universidad|carrera|estudi\w+|instituto|curso|clases?|aprend\w+|jardín)(?!\w)"
    r"|[大小中]学|学校|高中|专业|毕业|转学|幼儿园|上学|[在改]学|课"
)
_IT = re.compile(r"(?<!\w)(?:it|es|lo)(?!\w)|它")
_GOES = content_terms("go going went every twice gehe gehen fahre jeden jede voy vamos ir cada hago mache do")
_SEEKABLE = frozenset({"lives_in", "address", "works_at", "works_in", "works_as", "drives"})


def can_be_otherwise(change: ChangeSentence, fact: OpenFact) -> bool:
    """Whether a fact is one that a sentence can end: one of the user's that changes, or of whom the sentence names."""
    if not can_change(fact.predicate) or not is_apart(change, fact.said_at):
        return False
    # Who changes the place of work has the same profession, and what a boss has put off is no other boss.
    is_of_new_value = fact.predicate in (*ROLES, "works_on", "drives") or is_trade(fact)
    if is_of_new_value and not has_value(change, fact) and not _says_it_is_gone(change, fact):
        return False
    if fact.predicate in (*PETS, *SPOUSES) and fact.object in change.said and not _is_gone(change):
        # "Rex has put on weight again" is no end of Rex.
        return False
    if fact.about_user is False and fact.subject != SELF and not _is_of_them(change, fact):
        return False
    sentence = folded(change.said)
    is_seeking = _SEEKS.search(sentence) is not None and _FOUND.search(sentence) is None
    if fact.predicate in _SEEKABLE and is_seeking and not says_it_is_over(change):
        return False
    # One's age ends by itself, and the age of a car is another.
    if fact.predicate == "age" or abides(change, fact):
        return False
    if fact.predicate == "lives_in" and _MOVED_IN.search(sentence) is not None and not has_value(change, fact):
        return False
    # A doctor in the town where one lives says nothing of a move.
    is_there = fact.predicate == "lives_in" and _names_place(change, fact.object)
    # Nor is the town where one works another for a new employer.
    is_there = is_there or (fact.predicate == "works_in" and fits_han("town", fact.object))
    if is_there and not (says_it_is_over(change) or _MOVES.search(sentence)):
        return False
    # "Ellie's kids are called Josh and Maya" says nothing of where she lives; the user's own home may be alluded to.
    is_of_them = fact.predicate == "lives_in" and fact.subject != SELF
    if is_of_them and not (has_value(change, fact) or says_it_is_over(change) or _MOVES.search(sentence)):
        return False
    if not can_be_its_value(change, fact) or _is_of_another_event(change, fact):
        return False
    # "Two bedrooms, so Ellie's got somewhere" says nothing of what she reads at Cardiff.
    if fact.predicate in ("school", "learns") and not (says_it_is_over(change) or _STUDIES.search(sentence)):
        return False
    # Who has children has them, until something else is said of children.
    if fact.predicate == "has" and _is_kin(fact.object) and not _is_kin(change.said):
        return False
    # "I go every Sunday" says only with what stands before it where to.
    if fact.predicate == "habit" and values_of(fact.text, change.language).words <= _GOES:
        return False
    # "Something came up at the dentist's" gives the dentist no other name.
    if fact.predicate == "is" and _CALLED.search(folded(fact.text)) is not None and not _names_somebody(change, fact):
        return False
    # "Lunch with Anna is on Tuesday" and "with Ben on Friday" are two lunches.
    theirs = values_of(fact.text, change.language)
    # What was asked to be kept is otherwise only by what speaks of it, and with a value by another one of the same.
    if not is_value(fact) and is_of_another_value(change, fact.text):
        return False
    if fact.category == "request" and not _speaks_of(change, fact):
        return False
    if fact.category == "request" and not theirs.is_empty and not is_other_value(change.values, theirs, tells=True):
        return False
    has_both = not change.values.is_empty and not theirs.is_empty
    if has_both and theirs.names and change.values.names and not theirs.names & change.values.names:
        return False
    return is_about(change, fact) and not _is_of_another_scope(change, fact)


def _names_place(change: ChangeSentence, place: str) -> bool:
    """Whether a sentence names a place, or a part of it: "Altbrühl" of Brühl."""
    names = change.values.names
    if is_unspaced(place):
        return bool(content_terms(place) & content_terms(change.said))
    return not names.isdisjoint(content_terms(place)) or any(is_within_place(place, name) for name in names)


def _speaks_of(change: ChangeSentence, fact: OpenFact) -> bool:
    """Whether a sentence shares a word with a fact, or a part of one."""
    own, theirs = content_terms(change.said), content_terms(fact.text)
    return bool(own & theirs) or shared_parts(own, theirs, change.language) > 0


def _is_of_another_event(change: ChangeSentence, fact: OpenFact) -> bool:
    """Whether a fact says when something takes place, and a sentence does not speak of that, nor says that something is
    over: "I'm taking the exam on the 22nd" moves no driving test."""
    if fact.predicate != "when" or fact.subject == SELF or says_it_is_over(change):
        return False
    return not names_subject(change, fact.subject) and _IT.search(folded(change.said)) is None


def _says_it_is_gone(change: ChangeSentence, fact: OpenFact) -> bool:
    """Whether a sentence names what a fact says and that it is over: "sold the Transit for scrap"."""
    words = _WORDS.findall(folded(change.said))
    gone = next((at for at, word in enumerate(words) if _GONE.fullmatch(word)), None)
    if fact.predicate != "drives" or gone is None:
        return False
    terms = content_terms(fact.object)
    named = [at for at, word in enumerate(words) if content_terms(word) & terms and abs(at - gone) <= _FEW_WORDS]
    return any(_PART_OF.isdisjoint(words[min(at, gone) : max(at, gone)]) for at in named)


def _is_gone(change: ChangeSentence) -> bool:
    """Whether a sentence says that somebody, or an animal, is gone."""
    return is_parted(change) or _LOST.search(folded(change.said)) is not None


def _is_ones_own(change: ChangeSentence) -> bool:
    """Whether the rent or the pay in a sentence is nobody else's, and of no other thing: "Anna's", "for the van"."""
    return not change.values.names and change.of_other is None and _OF_SOMETHING.search(folded(change.said)) is None


def _names_somebody(change: ChangeSentence, fact: OpenFact) -> bool:
    """Whether a sentence says what something is called, or has a title, or the name that a fact says."""
    sentence = folded(change.said)
    is_named = any(each.search(sentence) is not None for each in (_CALLED, RENAMED, _TITLE))
    return is_named or bool(content_terms(fact.object) & content_terms(change.said))


def _is_of_another_scope(change: ChangeSentence, fact: OpenFact) -> bool:
    """Whether a sentence is of another part of the day or of life than a fact, and does not say that this is over.

    "I don't swim on Saturdays any more, I've switched to Wednesday evenings" is of "every Saturday morning".
    """
    if not exclude_each_other(scopes_of(change.said), scopes_of(fact.text)):
        return False
    return not (says_it_is_over(change) and change.values.weekdays & values_of(fact.text, change.language).weekdays)


def _is_of_them(change: ChangeSentence, fact: OpenFact) -> bool:
    """Whether a sentence can be about what a fact says of somebody or something else: it names them, and more of it
    than their name, a value of its kind, or that it is over. "Bron can't have penicillin" is not of Bron's work."""
    # What was asked to be kept as a whole has no subject.
    if (fact.subject, fact.predicate) != NOTED and not names_subject(change, fact.subject):
        return False
    theirs = values_of(fact.text, change.language)
    # The code of the garage and that of the locker are two: what the code is of has to be shared.
    subject = content_terms(fact.subject)
    is_one = bool(subject) and subject <= _OF_ONE_A_LIFE & content_terms(change.said) and _is_ones_own(change)
    if not theirs.is_empty and not shared_words(change.values, theirs) and not is_one:
        # "The training is on Thursday" is of "Rudertraining"; "the key of the locker" is of no other key.
        is_of_another = _OF.search(folded(change.said)) is not None
        return not is_of_another and (
            shared_parts(content_terms(change.said), content_terms(fact.subject), change.language) > 0
        )
    if change.tells or says_it_is_over(change):
        return True
    shared = content_terms(fact.text) & content_terms(change.said)
    return bool(shared - content_terms(fact.subject)) or (has_kind(fact) and has_value(change, fact))


def can_change(predicate: str) -> bool:
    """Whether what a predicate says of somebody can be otherwise later: a home or a boss, not a name or a sister."""
    return predicate not in _LASTING and (predicate in (*ROLES, *PETS) or not _is_kin(predicate))


def is_apart(change: ChangeSentence, said_at: datetime) -> bool:
    """Whether a sentence was said long enough after another to end it."""
    return said_at <= change.said_at - APART


def can_end_whole(change: ChangeSentence, text: str, facts: Sequence[OpenFact], *, is_likely: bool) -> bool:
    """Whether a sentence can end all that another says (`text`, with what was read in it), where it can end none of the
    facts by itself: it has to say so in words of change, to give another value, or to speak of what the other says
    besides, and of no number, no trade and nothing that lasts.

    Where nothing was read, a guess needs a word of change or one that both share. What is asked to be kept is new:
    without a word of change it is instead of nothing.
    """
    of_facts = content_terms(" ".join(f"{fact.subject} {fact.predicate} {fact.object}" for fact in facts))
    beside = (content_terms(text) - of_facts) & content_terms(change.said)
    is_told = change.tells or says_it_is_over(change) or len(beside) >= _FEWEST_BESIDE or _gives_another(change, text)
    if facts and not (is_likely and is_told and not any(is_value(fact) or is_trade(fact) for fact in facts)):
        return False
    if is_for_good(facts) or _says_who_is_who(change, text, facts) or is_of_another_value(change, text):
        return False
    if not change.tells and split_request(change.said).kind == "inside":
        return False
    is_alike = change.tells or bool(content_terms(text) & content_terms(change.said))
    return (is_likely or is_alike) and has_to_do_with(change, text)


def can_end_marked(change: ChangeSentence, text: str, facts: Sequence[OpenFact]) -> bool:
    """Whether a sentence can end, by a guess, all that another says (`text`) in which `facts` are read, or marked.

    It has to be able to end one of them, or else all; what is said of somebody only where it shares more than who that
    is. What it says, too, is not over: "I lie on the floor in Andritz" behind "We got the flat in Andritz".
    """
    if not facts:
        return True
    said = content_terms(change.said)
    homes = [fact for fact in facts if fact.predicate == "lives_in" or _is_kin(fact.predicate)]
    is_told_again = any(terms and terms <= said for fact in homes if (terms := content_terms(fact.object)))
    if is_told_again and not (change.tells or says_it_is_over(change) or _gives_another(change, text)):
        return False
    if any(can_be_otherwise(change, fact) for fact in facts):
        return True
    if any(fact.predicate in ROLES for fact in facts):
        return False
    who = content_terms(" ".join(f"{fact.subject} {fact.object}" for fact in facts))
    is_of_other = any(not fact.about_user for fact in facts)
    if is_of_other and len((content_terms(text) - who) & said) < _FEWEST_BESIDE:
        return False
    return can_end_whole(change, text, facts, is_likely=False)


def _gives_another(change: ChangeSentence, text: str) -> bool:
    """Whether a sentence has another day or number than a text with which it shares a word."""
    theirs = values_of(text, change.language)
    shared = (change.values.words & theirs.words) or (change.values.names & theirs.names)
    return bool(shared) and is_other_value(change.values, theirs, tells=True)


def _says_who_is_who(change: ChangeSentence, text: str, facts: Sequence[OpenFact]) -> bool:
    """Whether a text says what somebody is called, or who somebody's kin are and nothing besides that a sentence speaks
    of, which does not say that it is otherwise: "the cat won't come out" of "we have a cat called Pirata"."""
    kin = [fact for fact in facts if _is_kin(fact.predicate) and not can_change(fact.predicate)]
    who = content_terms(" ".join(f"{fact.predicate} {fact.object}" for fact in kin))
    is_of_rest = _gives_another(change, text) or (content_terms(text) - who) & content_terms(change.said)
    is_of_kin = bool(kin) and not is_of_rest
    if not is_of_kin and _CALLED.search(folded(text)) is None:
        return False
    told = folded(change.said)
    return not (_is_gone(change) or says_it_is_over(change) or RENAMED.search(told) or _CALLED.search(told))


def _is_kin(predicate: str) -> bool:
    plain = aligned(predicate)
    return any(phrases.relations.pattern.search(plain) is not None for phrases in all_phrases().values())
