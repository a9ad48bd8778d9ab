# ruff: noqa: E501  # a pattern stands on one line
"""What cannot be what a mark says it is, by its own words and those around it. Pure.

The model of marks knows spans by their looks: who waits at an airport works at none, and who has changed dentists is
none.
"""

from __future__ import annotations

import re

from reverie_indexer.embed.marks import SPEAKER, Mark
from reverie_server.heuristics.cues import cues_of, folded
from reverie_server.heuristics.fact_grammar.han import is_titled_han_name
from reverie_server.heuristics.fact_grammar.terms import is_unspaced
from reverie_server.heuristics.marked_people import is_of_end, known_relation
from reverie_server.heuristics.simplified import simplified

_BEFORE_CHARS, _BEHIND_CHARS = 60, 40
# Who is changed for somebody else.
_CHANGED = re.compile(
    r"(?<!\w)(?:chang|switch|replac|wechs|gewechs|cambi)\w*(?: \w+){0,3} $|换(?:了|掉)?(?:一?个|新的?)?$|換(?:了|掉)?(?:一?個|新的?)?$"
)
# "Iván el mecánico y yo".
_NAMED_BY_TRADE = re.compile(r"(?<=\s)(?!Yo |Ich |Soy )[A-ZÁÉÍÓÚÄÖÜ]\w+,? (?:el|la|the|der|die|unsere?r?|our) $")
# Where somebody is for the moment, in a place without a name.
_IS_THERE = re.compile(
    r"(?<!\w)(?:(?:i'?m|i am|we'?re|we are) (?:still |just |already |currently |sitting |stuck |waiting )*at (?:the |an? )?"
    r"|(?:(?:ich )?(?:bin|sitze|stehe|warte)|wir sind)(?: ich| gerade| noch| jetzt| schon)* (?:am |im |in der |auf dem |an der )"
    r"|(?:estoy|estamos|sigo) (?:ya |aún |todavía |ahora )*en (?:el |la |un |una )?)$|我们?(?:现在|现|还|正|刚|已经)*在$"
)
# Who says what they are says so, or stands in a list behind who they are: a word for work is mostly of something else.
_OF_TRADE = re.compile(
    r"(?<!\w)(?:i'?m|i've|i|i was|we'?re|as|a|an|our|my|local|job|work\w*|train\w*|bin|war|als|arbeit\w*|gelernte[rn]?|beruf\w*|job\w*|mach\w*|werd\w*|studier\w*|ich|soy|era|llevo|hago|ando"
    r"|fui|somos|trabaj\w*|estudi\w*|dedic\w*|oficio|profesión|ejerz\w*|de|como|sono|faccio|lavoro|je suis|sou|ik ben|jag är|jestem)(?: \w+){0,4} ?$"
    r"|[是当當做干任为為]\S{0,8}$|(?:工作|职业|職業|上班|从事|從事)\S{0,6}$|(?:^|[,.;:–—\n，、。]|\d) ?$"
)
# "Auf Französisch, bitte" is how a text is to be.
_IN_LANGUAGE = re.compile(r"(?<!\w)(?:auf|ins?|into|en|al) $|用$")
_SPEAKS = re.compile(
    r"(?<!\w)(?:sp[er][eaei][ckh]\w*|sprach\w*|talk\w*|learn\w*|lern\w*|grew up|aufgewachsen|habl\w*|aprend\w*|fluent\w*|fließend|taught|teach\w*|parl\w*)(?!\w)|[说說讲講会會学學]"
)
_OF_LANGUAGES = re.compile(r"\w*(?:sprachig|lingual|lingüe)\w*")
# A code is of a thing, and no thing of one's own.
_CODE = re.compile(r"(?=(?:\D*\d){3})[A-Za-z]{0,6}[ ./-]?[\dA-Za-z][\d./-]*\d[A-Za-z]?")
_MANY = re.compile(r"(?:an|in|es|on|ol|ch)[oa]s$")
_WORK = re.compile(
    r"(?<!\w)(?:work|job|shift|hire|employ|night|intern|arbeit|schicht|dienst|stelle|angestellt|beruf|trabaj|turno|emple|curr)\w*"
    r"|工作|上班|值班|实习|打工"
)
# Where somebody has a business, and need not live.
_BUSINESS = (
    r"(?:workshop|shop|store|caf[eé]|restaurant|bar|studio|office|practice|bakery|business|company|werkstatt|laden|geschäft|lokal"
    r"|praxis|büro|firma|betrieb|bäckerei|atelier|taller|tienda|negocio|restaurante|oficina|consulta|clínica|estudio|cafetería"
    r"|panadería|empresa|local|despacho)"
)
_BUSINESS_BEFORE = re.compile(rf"(?<!\w){_BUSINESS} (?:\w+ )?(?:in|en|near|bei|at) (?:the )?$")
_BUSINESS_BEHIND = re.compile(
    r"[^，。！？]{0,3}(?:开了?|經?营|经营|開了?)一?[家间間个個][^，。！？]{1,10}(?:店|馆|館|公司|厅|廳|吧|铺|鋪|室)"
)
# Who says how old somebody is, or what they are called, says so: a number is mostly of something else, and a name mostly
# somebody else's.
_OLDEST = 110
_TURNS = re.compile(
    r"(?:(?<!\w)(?:turn(?:s|ed|ing)?|age[ds]?(?: of)?|alter|cumpl\w+|edad(?: de)?|hago|werde?|wurde|born in)(?: \w+){0,2}|今年\D{0,2}) ?$"
)
_OF_AGE = re.compile(
    r"(?:(?<!\w)(?:i'?m|i am|is|was|she'?s|he'?s|bin|ist|war|wird|mit|soy|tengo|tiene|tenía)(?: \w+){0,2},? |[\w.)], ?|[我他她是叫才]\D{0,4})$"
)
_OF_YEARS = re.compile(
    r"[ -]?(?:years?|yrs?|yo|y/o|jahre?n?|jährig\w*|j|años?|añit\w+|anos|ans|anni|m|f|w)(?!\w)|\s?[岁歲了]",
    re.IGNORECASE,
)
# Behind the number of an age stands no other word of a sentence, but what one is.
_BEHIND_AGE = re.compile(r"\W*$|\s?[,.;:!?…)(/–—-]|\s(?:and|und|y|e|now|jetzt|ya|this|dieses|este|next|in|on|am)(?!\w)")
# "Jonas 52 Tischler aus Bremen".
_OPENS = re.compile(r"[^\W\d_]{2,} ")
_INTRODUCES = re.compile(
    r"(?:(?<!\w)(?:i'?m|i am|i go by|it'?s|this is|(?:my|full|the) name(?:'?s| is)?|name|call me|me|here'?s|signed|regards|love|cheers|thanks"
    r"|ich bin|bin (?:der|die|das)?|ich heisse?|heisse|mein name(?: ist)?|name ist|hier (?:ist|schreibt|spricht)?|nenn\w* mich|gruss|grüsse|lg"
    r"|soy|yo|me llamo|mi nombre(?: es)?|nombre|me dicen|llám[ae]me|le escribe|te escribe|aquí|habla|saludos|firmado"
    r"|je m'appelle|moi c'est|je suis|mi chiamo|sono|me chamo|(?:o )?meu nome é|(?:eu )?sou(?: [oa])?|jag (?:heter|är)|ik (?:ben|heet)|jeg (?:heter|hedder|er)|nazywam się|jestem)[ ,:]*(?:\w+[ ,.]+){0,2}"
    r"|(?:我是|我叫|我名|名字|叫我|本人|在下|这里是)\D{0,4}|[—–-] ?|\n ?)$"
)
# In other scripts no list says how people introduce themselves.
_OTHER_SCRIPT = re.compile(r"[\u0370-\u1fff\u3040-\u30ff\uac00-\ud7af]")
_BEHIND_OWN_NAME = re.compile(
    r"(?: \w+)?(?:,|:| ?\(| ?[–—-]|[.!]|$| here| hier| aquí|，|：|\s?\d)| (?:is|ist|es) (?:my|mein|mi) "
)
_NICKNAMES = re.compile(
    r"(?<!\w)(?:call|calls|called|calling|known as|nick|nicknam\w*|goes? by|nenn\w*|genannt|ruf\w*|spitznam\w*|heiss\w*|sag\w* .{0,20}zu mir|apod\w*|llam\w*|dice[ns]?|digan|conoc\w+"
    r"|alias|aka|short for|mote)(?!\w)|[叫喊]|外号|外號|小名|昵称|绰号|暱稱"
)


def introduces(text: str, start: int, end: int) -> bool:
    """Whether a text gives its speaker's own name from `start` to `end`: it says so, or begins with it. Takes time linear
    in the text."""
    before, behind = folded(text[max(0, start - _BEFORE_CHARS) : start]), text[end : end + _BEHIND_CHARS]
    return (
        _OTHER_SCRIPT.search(text) is not None
        or _INTRODUCES.search(before) is not None
        or (not before.strip() and _BEHIND_OWN_NAME.match(behind) is not None)
    )


def is_none(text: str, mark: Mark, value: str) -> bool:
    """Whether the value of a mark in a text cannot be what its label says. Takes time linear in the text."""
    before = folded(text[max(0, mark.start - _BEFORE_CHARS) : mark.start])
    end = max(text.find(value, mark.start, mark.end), mark.start) + len(value)
    behind = text[end : end + _BEHIND_CHARS]
    match mark.label:
        case "age":
            return not _is_age(value, before, behind)
        case "nick":
            return _NICKNAMES.search(folded(text)) is None
        case "job":
            is_changed = bool(known_relation(value)) and _CHANGED.search(before) is not None
            is_of_named = _NAMED_BY_TRADE.search(text[max(0, mark.start - _BEFORE_CHARS) : mark.start]) is not None
            # A value may begin with the verb: `做芯片`.
            said = before + value[:1] if is_unspaced(value) else before
            says_so = mark.of != SPEAKER or is_of_end(mark) or _OF_TRADE.search(said) is not None
            return is_changed or is_of_named or not says_so or _is_no_job(text, value)
        case "employer":
            if is_unspaced(value) and is_titled_han_name(simplified(value)):
                return True
            is_named = value[:1].isupper() and _nouns_are_small(text)
            return not is_named and _IS_THERE.search(before) is not None and _WORK.search(folded(text)) is None
        case "speaks":
            # Of a language there is one: "helados italianos" speak none.
            is_of_text = _IN_LANGUAGE.search(before) is not None and _SPEAKS.search(folded(text)) is None
            is_many = " " not in value and _MANY.search(folded(value)) is not None
            return is_many or is_of_text or _OF_LANGUAGES.fullmatch(folded(value)) is not None
        case "has":
            return _CODE.fullmatch(value) is not None
        case "home":
            if "还是" in simplified(value):
                # A choice, and a question.
                return True
            return _BUSINESS_BEFORE.search(before) is not None or _BUSINESS_BEHIND.match(simplified(behind)) is not None
    return False


def _is_age(value: str, before: str, behind: str) -> bool:
    """Whether a number with what stands around it can be how old somebody is."""
    if value.isdecimal() and int(value[:4]) > _OLDEST:
        return False
    if _OF_YEARS.match(behind) is not None or _TURNS.search(before) is not None:
        return True
    if value.isdecimal() and _OPENS.fullmatch(before) is not None:
        return True
    return _OF_AGE.search(before) is not None and _BEHIND_AGE.match(behind) is not None


def _is_no_job(text: str, value: str) -> bool:
    """Whether a word is no trade by its form: a German noun without a capital, characters that tell what happened, and
    somebody with a title."""
    if is_unspaced(value):
        plain = simplified(value)
        return "了" in plain or is_titled_han_name(plain)
    is_written_small = value == value.lower() and text[1:] != text[1:].lower()
    return is_written_small and not _nouns_are_small(text)


def _nouns_are_small(text: str) -> bool:
    cues = cues_of(folded(text))
    return cues is None or not cues.nouns_capitalised
