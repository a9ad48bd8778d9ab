# ruff: noqa: E501  # a pattern stands on one line
"""What an assistant promises in its answer: that it will remember what was just said. Pure.

People ask for it in more ways than are known here. Who was told "I've made a note of that" counts on it; "Noted." is
what assistants say to anything; "Noted: 8830." and "I have replaced the code." to what has a value are not.
"""

from __future__ import annotations

import re

from reverie_server.heuristics.lasting import is_of_the_moment
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.salience import sentence_spans
from reverie_server.heuristics.small_talk import says_nothing

# A promise opens an answer: what comes later is about something else.
_MAX_CHARS, _MAX_SAID_CHARS = 120, 600
_SENTENCE_END = re.compile(r"[.!?。！？\n]")
# Possessive, with longer words before their beginnings: a hundred times "okay" is read once.
_LEAD = r"(?:(?:okay|ok|sure|done|right|alright|of course|certainly|got it|will do|thanks|alles klar|klar|gut|gerne|natürlich|erledigt|claro|listo|hecho|vale|por supuesto|perfecto|好的?|没问题|行|嗯|当然|收到)[\s,.!;:–—，。！、-]*+)*+"
_PROMISES = re.compile(
    _LEAD
    + r"(?:(?:it's |that's |i've |i have )?(?:saved|stored|written (?:that |it |this )?down|made a note(?: of (?:that|it|this))?|filed (?:it |that )?away|on record)|i(?:'ve| have) (?:noted|recorded) (?:that|it|this)"
    r"|(?:i will|i'll do that|i do), i(?:'ve| have) (?:kept|saved|stored|noted|written down|made a note of) (?:that|it|this|the \w+)"
    r"|i(?:'ll| will) (?:remember|make a note of|keep|hold on to|hang on to|hold|store|save|note|look after) (?:that|it|this|the \w+)"
    r"|i(?:'ll| will)(?: not|n't)? forget (?:that|it)|i won't (?:forget|lose) (?:that|it)|(?:that|it)'s safe with me"
    r"|(?:das |ist |das ist |hab(?:e)? ich |ich hab(?:e)?(?: es| das| mir das)? )?(?:mir )?(?:gemerkt|gespeichert|aufgeschrieben|abgelegt|hinterlegt)|hab(?:e)? ich(?: mir)?(?: das| es)? notiert|(?:ja,? )?[^.,!?:\n]{1,80}? hab(?:e)? ich mir (?:gemerkt|notiert|aufgeschrieben)|ich hab(?:e)?(?: mir)?(?: das| es)? notiert"
    r"|(?:das |es )?(?:merk(?:e)?|notier(?:e)?|behalt(?:e)?|heb(?:e)?) ich(?: mir| für dich| gut)?(?: auf)?|ich (?:merk(?:e)?|notier(?:e)?|behalt(?:e)?) (?:mir )?(?:das|es)|das vergess(?:e)? ich nicht"
    r"|(?:queda |lo tengo |la tengo |ya (?:lo |la )?(?:tengo )?|está )(?:anotad|apuntad|guardad|registrad)[oa]|guardad[oa]|(?:lo|la) (?:anoto|apunto|guardo|recordaré|recuerdo)|me (?:lo|la) (?:quedo|guardo|apunto|anoto)|no (?:lo|la|se me) olvid(?:o|aré|ará|a)"
    r"|(?:我|已经?|都|帮你|替你|给你)*(?:记住|记下|记好|记着|存好|存下|保存|收好|记录)(?:了|来了|下了|啦|着呢)|(?:我)?(?:会)?(?:帮你|替你)?(?:记着|记住|存着|收着)(?:的|呢|$|[，。！,.!])|不会忘)"
)


# An answer that notes something, and one that puts a value in the place of another.
_NOTES = re.compile(
    r"(?<!\w)(?:noted|notes?|(?:got|have) (?:it|that)|on file|notiert|vermerkt|eingetragen|habe? ich|anotad[oa]|apuntad[oa]|tomo nota|lo tengo)(?!\w)|记|記|收到|知道了"
)
_REPLACES = re.compile(
    r"(?<!\w)(?:replace[ds]?|swapped|updated|changed (?:it|that)|ersetzt|ausgetauscht|geändert|aktualisiert|cambiad[oa]|sustituid[oa]|reemplazad[oa]|actualizad[oa])(?!\w)|[换換]好|[换換]掉了|更新好|改好|更新了"
)
_VALUE = re.compile(r"\w*\d[\w-]{2,}")


# "I'll keep that between us", "I'll store that nowhere": said to who wants something to be forgotten.
_APART = re.compile(
    r"(?<!\w)(?:between|to myself|private|secret|out|off|nowhere|forget|forgotten|delet\w+|unter uns|für mich|geheim|nirgends|nicht|nichts|vergess\w*|gelöscht|entre nosotros|para mí|en secreto|fuera|nada de eso|olvid\w+|borr\w+)(?!\w)"
    r"|保密|忘|删|不"
)


def promises_to_keep(answer: str) -> bool:
    """Whether an answer begins by saying that something is kept, and says nothing of keeping it apart or of forgetting.
    Takes linear time."""
    opening = aligned(answer[:_MAX_CHARS]).strip()
    end = _SENTENCE_END.search(opening)
    return _APART.search(opening if end is None else opening[: end.start()]) is None and promises_to_remember(
        answer, ""
    )


def promises_to_remember(answer: str, said: str) -> bool:
    """Whether an answer begins by saying that what was `said` is kept, and not as a question. Takes linear time.

    It does so, too, where it notes a value and says it again, or says that a value takes the place of another. "I'll
    remember that" is no promise where it answers to thanks, a feeling, or what was just done; `said` may be "".
    """
    text = aligned(answer[:_MAX_CHARS]).strip()
    promise = _PROMISES.match(text)
    end = _SENTENCE_END.search(text, 0 if promise is None else promise.end())
    if end is not None and end[0] in "?？":
        return False
    if promise is not None:
        told = said[:_MAX_SAID_CHARS]
        return not told or not (is_of_the_moment(told) or says_nothing(told))
    values = set(_VALUE.findall(aligned(said[:_MAX_SAID_CHARS])))
    if not values:
        return False
    openings = [text[slice(*span)] for span in sentence_spans(text, 0, len(text))][:2]
    if openings and _REPLACES.search(openings[0]) is not None:
        return True
    # It may be the second thing that it says: "Glad you still have it. I've updated the code to 9026."
    again = [each for each in openings if each[-1] not in "?？" and not values.isdisjoint(_VALUE.findall(each))]
    return any(_NOTES.search(each) or _REPLACES.search(each) for each in again)
