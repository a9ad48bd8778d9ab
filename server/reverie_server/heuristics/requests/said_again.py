# ruff: noqa: E501  # a pattern stands on one line
"""What an assistant says again of what it keeps: "Kept: your mum's birthday is August 3." Pure.

Who is answered so asked for it, in whatever words, or counts on it from now on. What is said again tells which of the
statements of the message is meant, wherever in the message it stands.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie_server.heuristics.fact_grammar.terms import content_terms
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.requests.promises import promises_to_remember
from reverie_server.heuristics.spoken_sentences import spoken_sentences

_MAX_CHARS, _BEGINNING_CHARS, _FEWEST_SHARED = 200, 6, 2
# The point of an ordinal ends no sentence: "Der 19. April ist notiert."
_END = re.compile(r"(?<=[!?…])\s|(?<=\w\w\.)(?<!\s\d\d\.)\s|(?<=[。！？])|\n")
# What is kept stands behind a mark ("Kept: …") or before it ("The 19th is noted.").
_MARK = r"(?=[ ]?(?:[:,.;!。，！：；]|[–—-](?!\w)|$))"
_KEPT = re.compile(
    r"(?<!\w)(?<!was )(?<!were )(?<!be )(?<!been )(?<!get )(?<!not )(?:kept|saved|stored|noted|recorded|memori[sz]ed|tattooed|filed(?: away)?|logged|written down|locked in)(?: (?:it|that|this|them|both))?"
    + _MARK
    + r"|(?<!\w)(?:in safe hands|safe with me|on file|on record"
    r"|i(?:'ll| will) (?:keep|remember|hold on to|look after) (?:it|that|this|them|both)|(?:i(?:'ve| have) )?got (?:it|that|both)(?: and i'll keep (?:it|that|both))?|i(?:'ll| will) not forget(?: it| that)?|i won't forget(?: it| that)?)"
    + _MARK
    + r"|(?<!\w)(?<!wurde )(?<!wurden )(?<!nicht )(?:gemerkt|notiert|vermerkt|gespeichert|abgespeichert|behalten|aufgehoben|aufgeschrieben|festgehalten|hinterlegt|eingetragen|abgelegt|gesichert)(?: (?:ist|hab) (?:es|das|ich|ich's)(?: mir)?)?"
    + _MARK
    + r"|(?<!\w)(?:das|die|den|es|beides) habe? ich (?:bereit|parat|griffbereit)|(?<!\w)l[oa]s? tengo a (?:la )?mano"
    + _MARK
    + r"|(?<!\w)(?:das |es )?(?:merk|notier|speicher)e? ich(?: mir)?(?: das| es)?(?: gut)?"
    + _MARK
    + r"|(?<!\w)(?<!no )(?:(?:guardad|anotad|apuntad|registrad|grabad|memorizad|agendad)[oa]s?|l[oa]s? (?:guardo|anoto|apunto|recuerdo|recordaré|tendré(?: siempre)? presente)|no se me (?:va a )?olvid(?:a|ará|ar)|no l[oa]s? olvid(?:o|aré))"
    + _MARK
    + r"|[记刻存收留](?:住|下|好|到|着|牢|上|进去)+(?:来|咯|啰)?[了啦咯啰]?(?=[，。！：:,!.]|$)"
)
_APART = re.compile(
    r"(?<!\w)(?:nowhere|forget(?:ting)?|forgotten|deleted?|erased?|nirgends|vergessen|gelöscht|borrad[oa]s?|olvidad[oa]s?|sin guardar|not|nothing|never|nichts?|nada)(?!\w)|[删忘没未别]|不"
)
# "It won't be forgotten" keeps it.
_NOT_FORGOTTEN = re.compile(r"(?:won't|will not|not) (?:be )?forg\w+|no se me \w+|(?:nicht|nie) vergessen|不会忘")
_VALUE = re.compile(r"(?<![\w])(?=[\w.,/-]{0,40}\d)\w[\w.,/-]{0,40}")
_POINTS_AROUND = ".,/-"


def said_again(answer: str, statements: Sequence[str]) -> list[int]:
    """The numbers of the statements, all of the message before, that an answer says again as it says that it keeps them.

    By a value that both have: all statements with one; else the one that has most of its words, two at least. None where
    the answer says of nothing that it is kept. Takes time linear in the texts.
    """
    text = aligned(_END.split(answer[: 2 * _MAX_CHARS].strip(), maxsplit=1)[0][:_MAX_CHARS])
    kept = _KEPT.search(text)
    if kept is None or text[-1:] in "?？" or _APART.search(_NOT_FORGOTTEN.sub(" ", text[: kept.end()])) is not None:
        return []
    values = _values(text)
    having = [number for number, said in enumerate(statements) if values & _values(aligned(said))]
    if values and having:
        return having
    named = _beginnings(text)
    shared = [len(named & _beginnings(said)) for said in statements]
    most = max(shared, default=0)
    return [shared.index(most)] if most >= _FEWEST_SHARED else []


def promises_last(answer: str, last: str, message: str) -> bool:
    """Whether an answer to a message promises to remember its `last` statement, and says no other one of it again. Takes
    time linear in the texts."""
    if not promises_to_remember(answer, last):
        return False
    said = [message[span.start : span.end].strip() for span in spoken_sentences(message)]
    again = [said[at] for at in said_again(answer, said)]
    return not again or last.strip() in again


def _values(plain: str) -> set[str]:
    return {found.strip(_POINTS_AROUND) for found in _VALUE.findall(plain)}


def _beginnings(text: str) -> set[str]:
    """How the words of a text begin that carry meaning: "Allergie" as "allergisch"."""
    return {term[:_BEGINNING_CHARS] for term in content_terms(text)}
