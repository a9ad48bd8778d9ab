# ruff: noqa: E501  # a pattern stands on one line
"""What an assistant promises in its answer: that it will remember what was just said, or forget it. Pure.

People ask for it in more ways than are known here. Who was told "I've made a note of that" or "I won't keep it" counts
on it; "Noted." is what assistants say to anything.
"""

from __future__ import annotations

import re

from reverie_server.heuristics.requests.fact_requests import aligned

# A promise opens an answer: what comes later is about something else.
_MAX_CHARS = 120
_SENTENCE_END = re.compile(r"[.!?。！？\n]")
# Possessive, with longer words before their beginnings: a hundred times "okay" is read once.
_LEAD = r"(?:(?:okay|ok|sure|done|right|alright|of course|certainly|got it|will do|thanks|alles klar|klar|gut|gerne|natürlich|erledigt|claro|listo|hecho|vale|por supuesto|perfecto|好的?|没问题|行|嗯|当然|收到)[\s,.!;:–—，。！、-]*+)*+"
_PROMISES = re.compile(
    _LEAD
    + r"(?:(?:it's |that's |i've |i have )?(?:saved|stored|written (?:that |it |this )?down|made a note(?: of (?:that|it|this))?|filed (?:it |that )?away|on record)|i(?:'ve| have) (?:noted|recorded) (?:that|it|this)"
    r"|i(?:'ll| will) (?:remember|make a note of|keep|hold on to|hang on to|hold|store|save|note|look after) (?:that|it|this|the \w+)"
    r"|i(?:'ll| will)(?: not|n't)? forget (?:that|it)|i won't (?:forget|lose) (?:that|it)|(?:that|it)'s safe with me"
    r"|(?:das |ist |das ist |hab(?:e)? ich |ich hab(?:e)?(?: es| das| mir das)? )?(?:mir )?(?:gemerkt|gespeichert|aufgeschrieben|abgelegt|hinterlegt)|hab(?:e)? ich(?: mir)?(?: das| es)? notiert|ich hab(?:e)?(?: mir)?(?: das| es)? notiert"
    r"|(?:das |es )?(?:merk(?:e)?|notier(?:e)?|behalt(?:e)?|heb(?:e)?) ich(?: mir| für dich| gut)?(?: auf)?|ich (?:merk(?:e)?|notier(?:e)?|behalt(?:e)?) (?:mir )?(?:das|es)|das vergess(?:e)? ich nicht"
    r"|(?:queda |lo tengo |la tengo |ya (?:lo |la )?(?:tengo )?|está )(?:anotad|apuntad|guardad|registrad)[oa]|guardad[oa]|(?:lo|la) (?:anoto|apunto|guardo|recordaré|recuerdo)|no (?:lo|la|se me) olvid(?:o|aré|ará|a)"
    r"|(?:我|已经?|都|帮你|替你|给你)*(?:记住|记下|记好|记着|存好|存下|保存|收好|记录)(?:了|来了|下了|啦|着呢)|(?:我)?(?:会)?(?:帮你|替你)?(?:记着|记住|存着|收着)(?:的|呢|$|[，。！,.!])|不会忘)"
)
_OPENS = (
    r"(?:(?:understood|no problem|absolutely|verstanden|verstehe|in ordnung|entendido|de acuerdo|dale|明白|了解|没事|没关系|知道了|可以)[\s,.!;:–—，。！、-]*+|"
    + _LEAD.removeprefix("(?:")
)
_IT = r"(?:that|it|this|any(?:thing)? of (?:that|it|this)|those|the \w+)(?!\w)"
_WONT = r"(?:i(?:'ll| will) not|i won't|i (?:do not|don't))"
# "Deleted" may be said of a file.
_FORGOTTEN = re.compile(
    _OPENS
    + r"(?:(?:it's |it is |that's |that is |already |all |consider (?:it|that) )*forgotten(?!\w)|i(?:'ve| have) (?:already )?forgotten "
    + _IT
    + r"|i(?:'ll| will) (?:forget|unlearn) "
    + _IT
    + rf"|{_WONT} (?:keep|store|save|remember|record|retain|write down|hold on to|log|note|make a note of) {_IT}"
    r"|(?:that|this|it|none of (?:that|it|this)) (?:won't|will not|is not going to|isn't going to|will never) be (?:kept|stored|saved|remembered|recorded|written|noted)"
    r"|(?:(?:it's |it is )?(?:as if|like) )?(?:you|i) never (?:said|told|mentioned|wrote|heard) (?:me )?(?:that|it|this|anything|a (?:word|thing))"
    r"|(?:das |es |ist |schon |bereits |hab(?:e)? ich |ich hab(?:e)? (?:das|es) )*vergessen(?!\w)|(?:das |es )?vergess(?:e)? ich(?! nicht)|ich vergess(?:e)? (?:das|es)"
    r"|(?:das |es |davon )?(?:bleibt hier und |wird |bleibt )+(?:hier |nirgends |nirgendwo |auch |nichts |nicht )+(?:notiert|gespeichert|behalten|festgehalten|gemerkt|aufgeschrieben|vermerkt|stehen)"
    r"|ich (?:speicher(?:e)?|behalt(?:e)?|notier(?:e)?|merk(?:e)?|schreib(?:e)?|halt(?:e)?) (?:mir )?(?:das|es|davon) (?:nicht|nichts)|(?:das )?(?:speicher(?:e)?|behalt(?:e)?|notier(?:e)?|merk(?:e)?|schreib(?:e)?) ich (?:mir )?(?:nicht|nirgends)"
    r"|(?:(?:das|du) )?(?:hast du |hab(?:e)? ich |ist |wurde )?nie (?:gesagt|gehört|erwähnt|erzählt)"
    r"|(?:queda |ya |está |lo |eso )*olvidad[oa]|(?:lo |la |eso lo |me )+(?:olvido|olvidé|olvidaré)|no (?:lo |la |los |las |me lo )?(?:guardo|guardaré|anoto|anotaré|apunto|apuntaré|registro|conservo|conservaré|recordaré)(?!\w)"
    r"|no queda(?:rá)?(?: (?:nada|registro|rastro|guardad[oa]|anotad[oa]|escrit[oa]|apuntad[oa]))?(?=\s*(?:[.,;!]|$))|(?:como si )?(?:no|nunca|jamás) (?:me |lo |me lo )?(?:hubieras dicho|hubieses dicho|has dicho|dijiste|contaste|hubiera oído|oí|escuché)"
    r"|(?:我|就|都|已经?|这就|马上|那)*(?:忘了|忘掉|忘记)(?:了|吧|这|那|它|[，。！,.!]|$)|(?:我|就|那)*(?:当作?|做|就当)(?:你|我|它|这|那|事|话|件)*没(?:有|说|听|发生|这|提)|(?:我|就|都|一个字|一句|半个字|什么|也|绝|保证|这|那|件|事|段|话)*不(?:会)?(?:留|记|存|保存|记录)(?:着|下|录|住|了|的|这|那|它|[，。！,.!]|$))"
)


def promises_to_remember(answer: str) -> bool:
    """Whether an answer begins by saying that what was said is kept. Takes time linear in the text."""
    return _is_promise(_PROMISES, aligned(answer[:_MAX_CHARS]).strip())


def _is_promise(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a text opens with what a pattern says, and not as a question."""
    promise = pattern.match(text)
    if promise is None:
        return False
    end = _SENTENCE_END.search(text, promise.end())
    return end is None or end[0] not in "?？"


def promises_to_forget(answer: str) -> bool:
    """Whether an answer begins by saying that what was said is not kept. Takes time linear in the text."""
    return _is_promise(_FORGOTTEN, aligned(answer[:_MAX_CHARS]).strip())
