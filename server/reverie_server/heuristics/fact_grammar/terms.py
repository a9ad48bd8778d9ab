"""The words of facts as they are compared: content words, scopes, and what kinds of predicates there are. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from reverie_indexer.text.analyse import CJK, SOUTH_EAST, stop_words
from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.stated_fact import SELF

_WORD = re.compile(rf"[{CJK}{SOUTH_EAST}]+|(?:(?![{CJK}{SOUTH_EAST}])[\w'@.:/-])+")
# Who writes Spanish without accents writes of the same.
_ACCENTS = str.maketrans("áéíóú", "aeiou")
# Words for one thing, by the one that stands for them.
_SYNONYMS: Mapping[str, str] = {
    other: word
    for word, others in (
        ("contrasena", "contraseña clave password"),
        ("telefono", "celular movil cel"),
        ("correo", "email mail e-mail"),
        ("coche", "carro auto"),
        ("alquiler", "renta arriendo"),
        ("vegetariano", "vegetariana"),
        ("vegano", "vegana"),
        ("celiaco", "celiaca"),
        ("fumar", "fumo fuma"),
        ("trabajo", "empleo laburo curro chamba"),
        ("wifi", "wi-fi"),
        ("favourite", "favorite"),
        ("colour", "color"),
    )
    for other in others.split()
}
_UNSPACED = re.compile(f"[{CJK}{SOUTH_EAST}]")
_MAX_TEXT_CHARS, _SHORTEST_TOWN = 1_000, 4


def word_set(words: str) -> frozenset[str]:
    """The words of a list that is written as one text."""
    return frozenset(words.split())


_LANGUAGES = ("english", "german", "spanish")
_CHINESE_STOPS = frozenset("的了在是我你他她它们和与也都就很会要把被到从不没有个这那吧呢啊吗")
# Words that say nothing of what a fact is about.
_GENERIC = word_set(
    "now new old current currently actually anymore longer instead changed change switched switch moved move since"
    " cancelled canceled postponed rescheduled today yesterday tomorrow week month year last next also just really user"
    " jetzt neu neue neuer neues neuen alt alte mehr statt gewechselt umgezogen verschoben abgesagt seit heute gestern"
    " morgen woche monat jahr letzte letzten nächste nächsten auch wirklich ahora nuevo nueva nuevos nuevas viejo vieja"
    " actualmente cambiado cambié mudé cancelado aplazado pospuesto hoy ayer mañana semana mes año también realmente"
    " beim membership subscription account contract mitgliedschaft abo abonnement vertrag suscripción membresía"
    " please remember bitte please favor mude cambie ultimo ultima proximo proxima manana tambien suscripcion membresia"
)
# Words for numbers that are stop words elsewhere.
NUMERALS = word_set(
    "one two three four five six seven eight nine ten first second third fourth fifth sixth seventh eighth ninth tenth"
    " eins zwei drei vier fünf sechs sieben acht neun zehn ersten zweiten dritten vierten fünften sechsten siebten"
    " achten erste zweite dritte vierte fünfte uno dos tres cuatro cinco seis siete ocho nueve diez primero segundo"
    " tercero cuarto quinto sexto primera segunda tercera cuarta quinta sexta"
)
# Predicates that hold of many objects at a time: another object closes none of them.
MULTIPLE = frozenset(
    {
        "likes",
        "dislikes",
        "has",
        "speaks",
        "works_on",
        "works_with",
        "allergic_to",
        "avoids",
        "eats",
        "habit",
        "plays",
        "owns",
    }
    | {"knows", "learns", "decided", "event", "plans", "visited", "sister", "brother", "son", "daughter", "friend"}
    | {"colleague", "cousin", "aunt", "uncle", "pet", "dog", "cat", "states"}
)
# The people of one's work, of whom one who leaves the place is none any more.
ROLES = ("boss", "manager", "team lead", "supervisor", "colleague", "assistant", "mentor")
PETS = ("dog", "cat", "pet", "horse", "rabbit", "parrot", "conejo", "loro", "tortuga", "caballo", "yegua")
FLATMATES = ("flatmate", "roommate", "compañero de piso", "compañera de piso", "compañero de cuarto", "roomie")
_DAYS = re.compile(
    r"(?<!\w)(?:(?:on|at|every|each|los|las|el|la|cada|todos|todas|por|a|am|um|jeden|immer) )*"
    r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:lunes|martes|mi[ée]rcoles|jueves|viernes|s[áa]bados?|domingos?)"
    r"|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|mañanas?|tardes?|noches?|días?|mornings?|evenings?"
    r"|\d{1,2}(?:[:.]\d\d)?(?: ?(?:am|pm|h|uhr))?|(?<=at )(?:five|six|seven|eight|nine|ten|eleven|noon)"
    r"|(?<=um )(?:fünf|sechs|sieben|acht|neun|zehn))(?!\w)"
    r"|每?个?(?:周|星期|礼拜)[一二三四五六日天末](?:、?[一二三四五六日天])*|每天|早上|晚上|上午|下午|[一二三四五六七八九十\d]{1,3}点半?"
)
RELATED_PREDICATES: Mapping[str, str] = {
    **dict.fromkeys(("lives_in", "from", "address"), "home"),
    **dict.fromkeys(("works_at", "works_as", "boss", "works_on", "reports_to", "manager"), "work"),
    **dict.fromkeys(("likes", "dislikes", "prefers", "drinks", "eats", "avoids", "diet", "habit", "uses"), "taste"),
    **dict.fromkeys(("speaks", "learns"), "language"),
    **dict.fromkeys(("partner", "wife", "husband", "boyfriend", "girlfriend", "fiancé", "fiancée"), "partner"),
}
GENERIC_EVENTS = frozenset(
    {"meeting", "call", "appointment", "deadline", "event", "party", "exam", "flight", "train", "trip", "interview"}
    | {"termin", "treffen", "besprechung", "frist", "prüfung", "flug", "zug", "cita", "reunión", "llamada", "plazo"}
    | {"examen", "vuelo", "会议", "约会", "面试", "考试", "航班"}
)
# Of what, these do not say: everything has one.
GENERIC_VALUES = frozenset(
    {"code", "password", "passcode", "pin", "pin code", "combination", "number", "phone number", "address"}
    | {"passwort", "kennwort", "nummer", "telefonnummer", "kombination", "zahl", "adresse", "pin-code", "zahlencode"}
    | {"contraseña", "clave", "código", "número", "combinación", "dirección", "número de teléfono", "teléfono"}
    | {"密码", "密碼", "口令", "号码", "號碼", "电话", "電話", "地址", "暗号", "暗號"}
)
_SCOPE_WORDS: Mapping[str, str] = {
    **dict.fromkeys(
        ("work", "office", "business", "arbeit", "büro", "dienst", "dienstlich", "trabajo", "oficina"), "work"
    ),
    **dict.fromkeys(("home", "private", "personal", "zuhause", "privat", "casa", "personal"), "home"),
    **dict.fromkeys(("weekend", "weekends", "wochenende", "wochenenden"), "weekend"),
    **dict.fromkeys(("weekday", "weekdays", "werktags"), "weekday"),
    **dict.fromkeys(("morning", "mornings", "morgens", "breakfast", "frühstück", "desayuno"), "morning"),
    **dict.fromkeys(("evening", "evenings", "abends", "dinner", "abendessen", "cena"), "evening"),
    **dict.fromkeys(("summer", "sommer", "verano"), "summer"),
    **dict.fromkeys(("winter", "invierno"), "winter"),
}
_SCOPES = re.compile(rf"(?<!\w)(?:{'|'.join(_SCOPE_WORDS)})(?!\w)")
_CHINESE_SCOPES = re.compile("公司|办公室|工作|家里|在家|私人|个人|周末|早上|晚上|夏天|冬天")


@lru_cache(maxsize=8192)
def content_terms(text: str) -> frozenset[str]:
    """The content words of a text, folded; in scripts without spaces its pairs of characters."""
    terms: set[str] = set()
    for found in _WORD.finditer(folded(text[:_MAX_TEXT_CHARS]).translate(_ACCENTS)):
        word = found[0].strip("'.:/-")
        word = _SYNONYMS.get(word, word)
        if _UNSPACED.search(word):
            run = "".join(character for character in word if character not in _CHINESE_STOPS)
            terms.update(run[at : at + 2] for at in range(max(1, len(run) - 1)) if run)
        elif word and word not in _stops() and word not in _GENERIC and word != SELF:
            terms.add(_stem(word))
    return frozenset(terms)


def all_content_terms(text: str) -> frozenset[str]:
    """The content words of a text of any length, as `content_terms` has those of a short one."""
    parts = [text[start : start + _MAX_TEXT_CHARS] for start in range(0, len(text), _MAX_TEXT_CHARS)]
    return frozenset[str]().union(*map(content_terms, parts))


def without_days(text: str) -> str:
    """A habit without the days and hours of it."""
    return _DAYS.sub(" ", folded(text[:_MAX_TEXT_CHARS]))


# Scopes of one kind exclude each other; the others of a language are of one kind.
_SCOPE_KINDS = (
    frozenset(("work", "home")),
    frozenset(("weekend", "weekday")),
    frozenset(("morning", "evening")),
    frozenset(("summer", "winter")),
)


def exclude_each_other(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether two facts are limited to different lives, parts of the day, of the week or of the year."""
    known = frozenset().union(*_SCOPE_KINDS)
    kinds = (*((a & kind, b & kind) for kind in _SCOPE_KINDS), (a - known, b - known))
    return any(of_a and of_b and not of_a & of_b for of_a, of_b in kinds)


def scopes_of(text: str) -> frozenset[str]:
    """What a fact is limited to by its words: work or private life, a part of the day, week or year."""
    plain = folded(text[:_MAX_TEXT_CHARS])
    found = {_SCOPE_WORDS[match[0]] for match in _SCOPES.finditer(plain)}
    return frozenset(found | {match[0] for match in _CHINESE_SCOPES.finditer(plain)})


def _stem(word: str) -> str:
    """A word without the endings of plural and tense, as far as two forms of one word become equal."""
    word = word.removesuffix("'s")
    for suffix in ("ies", "ing", "es", "ed", "s", "n", "e"):
        if len(word) - len(suffix) >= 4 and word.endswith(suffix):
            return word.removesuffix(suffix)
    return word


@lru_cache(maxsize=1)
def _stops() -> frozenset[str]:
    return frozenset(word.translate(_ACCENTS) for language in _LANGUAGES for word in stop_words(language))


# Words of Spanish between the words of a name for a thing: `cita con el dentista`, `cita del dentista`.
_JOINTS = frozenset({"de", "del", "con", "el", "la", "los", "las", "mi", "mis", "para", "al"})
_OF_KIND = re.compile(r"^(?:numero (?:de )?(?=telefono|coche)|clases? de )")
_OF_THING = re.compile(
    r"^(budget|code|password|passcode|pin|deadline|rent|price|trip|flight|holiday)"
    r" (?:for|of|to) (?:the |our |my )?([\w -]+)$"
)
_HAN_JOINTS = re.compile(
    "(?:的|新|旧|舊|现在|目前|(?:我们|我|咱们?|俺)家里?|我们|我|咱们|家里|家头|屋头|屋里头?|那个|这个|时间$|日期$)"
)
_HAN_NAMES = (
    ("手机号码", "手机号"),
    ("电话号码", "手机号"),
    ("手机", "手机号"),
    ("电话", "手机号"),
    ("号码", "手机号"),
    ("口令", "密码"),
)


def is_unspaced(text: str) -> bool:
    """Whether a text is of a script without spaces."""
    return _UNSPACED.search(text) is not None


_HAN_TIMED = re.compile(r"(?:项目)?的?(?:截止日期|截止时间|交付日期|日期|排练|训练|练习|活动|预约|复查|检查|课程?)$")


def without_timed_kind(text: str) -> str:
    """The name of something that takes place, in a script without spaces, without the word for what kind it is."""
    return _HAN_TIMED.sub("", text) or text


def key_of(text: str) -> str:
    """A subject or predicate as it is compared: without the words that people leave out or put in."""
    plain = folded(text).translate(_ACCENTS)
    if _UNSPACED.search(plain):
        short = _HAN_JOINTS.sub("", plain).replace("wi-fi", "wifi").replace(" ", "")
        return dict(_HAN_NAMES).get(short, short) or plain
    words = [_SYNONYMS.get(word, word) for word in plain.split()]
    short = " ".join(word for word in words if word not in _JOINTS)
    if short == "numero":
        return "telefono"
    short = _OF_THING.sub(r"\2 \1", short)
    return _OF_KIND.sub("", short if short else " ".join(words)).replace("numero telefono", "telefono") or plain


# What one does: that it has ended says nothing of what was decided.
ACTIVITIES = frozenset({"works_on", "works_at", "works_as", "lives_in", "leads", "drinks", "eats", "plays", "learns"})
# The words of the general names of values.
VALUE_TERMS = content_terms(" ".join(sorted(GENERIC_VALUES)))
# How one gets to what one does on a day of the week.
GOING = content_terms("go goes going attend gehe gehen mache machen play spiele have habe")
# Who eats of these is no vegetarian, or no vegan.
ANIMALS = content_terms(
    "meat fish chicken beef pork seafood fleisch fisch carne pescado 吃肉 dairy cheese eggs milk käse eier"
)
PLANT_DIETS = content_terms(
    "vegetarian vegan pescatarian vegetarier vegetarierin veganer veganerin vegetarisch vegano vegetariano"
)


def is_longer_name(long: str, short: str) -> bool:
    """Whether a thing of a longer name can be the one of a shorter: `team dinner` and `dinner`, compared as keys."""
    return (
        long != short
        and len(short) > 1
        and (long.endswith(short if short[-1] > "\u2e7f" else f" {short}") or long.startswith(f"{short} "))
    )


def says_same(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether two objects are the same, or one says the other more exactly."""
    return a == b or (bool(a) and bool(b) and (a <= b or b <= a))


# What something that takes place is called beside its name, as terms.
TIMED_KINDS = content_terms(
    "deadline date due project practice rehearsal training appointment exam check-up checkup doctor doctors"
    " office launch start delivery session lesson class course meets"
    " termin abgabe frist projekt probe training praxis untersuchung beginn start kurs stunde"
    " fecha entrega plazo proyecto ensayo entrenamiento cita consulta examen clase inicio"
)


def is_within_place(a: str, b: str) -> bool:
    """Whether the name of one place is a part of the other's: "Brühl" and "Altbrühl", "成都" and "成都高新区"."""
    short, long = sorted((folded(a).strip(), folded(b).strip()), key=len)
    if not short or short == long:
        return False
    if is_unspaced(short):
        return len(short) > 1 and short in long
    words = [word for word in long.replace("-", " ").split() if word != short]
    return len(short) >= _SHORTEST_TOWN and any(word.endswith(short) for word in words)
