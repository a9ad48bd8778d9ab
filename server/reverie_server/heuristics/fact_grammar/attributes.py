"""What belongs to somebody and has a value: its name, and the shape that a value of it has. Pure.

`My phone number is still the same` says no number: it is no fact, and takes the place of none.
"""

from __future__ import annotations

import re
from typing import Literal

from reverie_indexer.text.analyse import stop_words
from reverie_server.heuristics.fact_grammar.han import can_be_han_name
from reverie_server.heuristics.fact_grammar.terms import is_unspaced, word_set
from reverie_server.heuristics.stated_fact import SELF, StatedFact

Shape = Literal["sure", "doubtful", "none"]
"""Whether a text can be a value: a doubtful one is kept beside the older ones, it closes none of them."""
_SAME = dict.fromkeys(("e-mail", "email address", "e-mail address", "mail", "mail address"), "email") | dict.fromkeys(
    ("mailadresse", "mail-adresse", "email-adresse", "emailadresse"), "e-mail-adresse"
)
_SAME |= dict.fromkeys(("number", "new number", "mobile number", "cell number", "phone no"), "phone number")
_SAME |= dict.fromkeys(("nombre", "名字", "姓名"), "name")
_OF_PROFILE = re.compile(
    r"name|birthday|nationality|hobby|nickname|pronouns|time ?zone|blood type|native language|mother tongue|job"
    r"|profession|hometown|home town|full name|last name|first name|email|phone(?: number)?|address"
)
# The names that other languages have for what is told of a person in every language.
_CANONICAL = {
    **dict.fromkeys(
        ("telefonnummer", "handynummer", "nummer", "mobilnummer", "telefon", "número", "numero"), "phone number"
    ),
    **dict.fromkeys(("mobile", "mobile phone", "phone", "número de teléfono", "numero de telefono"), "phone number"),
    **dict.fromkeys(
        ("teléfono", "telefono", "móvil", "celular", "número de móvil", "número de celular"), "phone number"
    ),
    **dict.fromkeys(("电话", "手机", "手机号", "号码", "电话号码", "手机号码"), "phone number"),
    **dict.fromkeys(("adresse", "anschrift", "wohnadresse", "home address", "postal address"), "address"),
    **dict.fromkeys(("dirección", "direccion", "地址", "住址", "家庭地址"), "address"),
    **dict.fromkeys(
        ("e-mail-adresse", "dirección de correo", "correo", "correo electrónico", "correo electronico"), "email"
    ),
    **dict.fromkeys(("邮箱", "电子邮箱", "邮箱地址"), "email"),
    **dict.fromkeys(
        ("geburtstag", "geburtsdatum", "cumpleaños", "fecha de nacimiento", "生日", "出生日期"), "birthday"
    ),
    **dict.fromkeys(("spitzname", "apodo", "小名"), "nickname"),
    **dict.fromkeys(("nachname", "apellido", "apellidos", "surname"), "last name"),
    "vorname": "first name",
    **dict.fromkeys(("muttersprache", "lengua materna", "idioma materno", "母语"), "native language"),
    **dict.fromkeys(("staatsangehörigkeit", "nationalität", "nacionalidad"), "nationality"),
    **dict.fromkeys(("blutgruppe", "grupo sanguíneo", "血型"), "blood type"),
    **dict.fromkeys(("pasatiempo", "爱好"), "hobby"),
    "职业": "profession",
}
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
    r"|母语|职业|身高|体重|血型|姓名|网名|小名|学号|座位号?|会员号|护照号?|身份证号?|纪念日|星座|预算|英文名|出生日期|wifi名|预产期)"
)
# Of what a value has a shape. The first whose words end the name of an attribute counts.
_SHAPED: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("day", re.compile(r"birthday|geburtstag|geburtsdatum|cumpleaños|fecha de nacimiento|.*生日|出生日期")),
    (
        "email",
        re.compile(
            r".*e-?mail(?:[- ]?adresse| address)?|mail|mailadresse|(?:direcci[óo]n de )?correo(?: electr[óo]nico)?"
            r"|.*邮箱(?:地址)?"
        ),
    ),
    (
        "address",
        re.compile(r"(?:(?:home|postal|work|new|old) )?address|\w*adresse|direcci[óo]n(?: .*)?|.*(?:地址|住址)"),
    ),
    (
        "name",
        re.compile(
            r"(?:(?:first|last|full|real|middle|maiden) )?name|surname|(?:vor|nach)?name|nombre|apellidos?|姓名|名字"
        ),
    ),
    ("device", re.compile(r"(?:mobile |cell )?phone|m[óo]vil|celular|手机")),
    ("size", re.compile(r".*(?:size|größe)|talla(?: .*)?|.*尺码")),
    (
        "number",
        re.compile(
            r".*(?:number|pin|height|weight|salary|rent|budget|price|deposit|iban|plate|extension)"
            r"|.*(?:nummer|miete|gehalt|preis|kaution|kennzeichen|telefon)"
            r"|(?:n[úu]mero|tel[ée]fono|sueldo|salario|peso|altura|estatura|alquiler|renta|hipoteca|presupuesto"
            r"|matr[íi]cula)(?: .*)?"
            r"|.*(?:电话|号码?|号|车牌|月薪|年薪|工资|房租|房贷|身高|体重|预算)"
        ),
    ),
    (
        "code",
        re.compile(
            r".*(?:code|password|passcode|passphrase|combination|username|handle|key|url|wi-?fi|id)"
            r"|.*(?:passwort|kennwort|schlüssel)|(?:contraseña|clave|c[óo]digo|usuario)(?: .*)?|.*(?:密码|账号|验证码)"
        ),
    ),
    ("spot", re.compile(r".*(?:seat|desk|locker|room|account)|.*座位")),
)
_NUMBER = re.compile(
    r"\d|(?<!\w)(?:(?:one|uno|eins) (?:one|uno|eins)|zero|oh|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|\w+teen|\w+ty|hundred|thousand|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|dos|tres|cuatro|cinco"
    r"|seis|siete|ocho|nueve|diez|once|doce|mil|cien|quinientos|\w+cientos|\w+enta|veinte)(?!\w)"
    r"|(?:hundert|tausend|zig)(?!\w)|[零〇一二两三四五六七八九十百千万幺]{2}|[一二两三四五六七八九十][百千万块米]"
)
# `My phone is 3 years old` says no number of it.
_SPAN = re.compile(
    r"\d+ ?(?:years?|months?|weeks?|days?|hours?|jahren?|monaten?|wochen?|tagen?|años|meses|semanas|días|年了)"
)
_SIZE = re.compile(
    r"(?:(?:an?|la|el|una?|eine?) )?(?:x{0,4}[sl]|m|(?:extra )?(?:small|medium|large)|klein|mittel|groß|pequeñ[ao]"
    r"|median[ao]|grande|[小中大]号|均码)"
)
_EMAIL = re.compile(r"@| at [^@]* dot | arroba |\(at\)| ät ", re.IGNORECASE)
_MONTHS = (
    "january february march april may june july august september october november december januar februar märz mai juni"
    " juli oktober dezember enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
)
_DAY = re.compile(
    rf"\d|(?<!\w)(?:{_MONTHS.replace(' ', '|')}|christmas|new year|halloween|valentine|weihnachten|heiligabend"
    r"|silvester|neujahr|nochebuena|navidad|año nuevo|nochevieja)|[一二三四五六七八九十]+月|初[一二三四五六七八九十]"
    r"|除夕|元旦|圣诞|中秋|端午|国庆"
)
_NEAR_DAY = re.compile(
    r"(?:(?:on|this|am|el) )?(?:today|tomorrow|(?:mon|tues|wednes|thurs|fri|satur|sun)day|heute|morgen|hoy|mañana"
    r"|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|lunes|martes|miércoles|jueves|viernes|sábado|domingo|[今明后]天)"
)
_STREET = re.compile(
    r"\d|(?<!\w)(?:road|street|lane|avenue|drive|close|square|court|crescent|terrace|platz|allee|weg|calle|avenida|plaza"
    r"|paseo|carrer)(?!\w)|(?:straße|strasse|gasse|weg|platz|allee)(?!\w)|[省市区县镇乡村路街巷弄号楼室](?!的)"
)
_CODE = re.compile(r"\S*\d\S*|\S+@\S+|\S+[.:/_-]\S+|[\"'“„«].+")
_LAUGH = re.compile(r"(?<!\w)(?:lo+l|(?:ha){2,}|(?:ja){2,}|lmao|haha\w*)(?!\w)|哈哈|(?P<same>[a-z])(?P=same){2}")
# What is said of a name: how it is written or spoken, or the saying that it tells all.
_OF_A_NAME = re.compile(
    r"(?:mis)?spel(?:led|t)|(?:mis)?pronounced|(?:mis)?written|misspelt|printed|listed|missing|taken|programm(?!\w)"
    r"|.* de \w+[aei]r(?!\w)"
)
_UPPER = re.compile(r"[^\W\d_a-zß-öø-ÿ\u2e80-\uffff]")
# What is said of a thing, in a script without capitals: `坏的`, `丢了`.
_HAN_STATE = re.compile(r"[\u2e80-\uffff]*[的了]")
_PARTICLES = word_set("de del la las los der den van von zu bin ibn al el di da dos y e")
_MAX_CHARS = 120
_MAX_NAME_WORDS = 6
_MAX_LOWER_WORDS = 3


def attribute_name(owned: str) -> str:
    """The name of an attribute of the user's as facts have it."""
    plain = owned.casefold()
    return _SAME.get(plain, plain)


def is_of_profile(fact: StatedFact) -> bool:
    """Whether a fact says who the user is, or how to reach them: of themselves, or of what is theirs."""
    name = attribute_name(fact.predicate if fact.subject == SELF else fact.subject)
    if not fact.about_user or _OF_PROFILE.fullmatch(_CANONICAL.get(name, name)) is None:
        return False
    # `My phone is on the desk` tells of the thing.
    return fact.subject == SELF or shape_of(fact.subject, fact.object, has_capitals=True) != "none"


def is_attribute(owned: str) -> bool:
    """Whether a thing of the user's is a value rather than a thing: a favourite, a number."""
    plain = owned.casefold()
    return any(pattern.fullmatch(plain) for pattern in (_FAVOURITE, _ATTRIBUTE, _ATTRIBUTES))


def shape_of(attribute: str, text: str, *, has_capitals: bool, is_value: bool = True) -> Shape:
    """Whether a text has the shape of a value of an attribute. Where it `is_value` it is said to be one, else a
    time or a place: `My rent is due on Friday`, `My key is under the mat`, `My birthday is in three weeks`. A name has
    neither: `My name is April` says the name."""
    kind = _kind(attribute.casefold())
    if not is_value and kind != "day":
        return "none" if kind == "name" else "sure"
    text = text[:_MAX_CHARS]
    plain = text.casefold()
    match kind:
        case "name":
            return _shape_of_name(text, plain, has_capitals=has_capitals)
        case "code":
            return _shape_of_code(text, plain, has_capitals=has_capitals)
        case "day":
            is_span = _SPAN.search(plain) is not None
            is_date = _DAY.search(plain) is not None and not is_span
            return "sure" if is_date else "doubtful" if _NEAR_DAY.fullmatch(plain) else "none"
        case "spot":
            return "sure" if _is_number(plain) or _CODE.match(text) or _UPPER.match(text) else "doubtful"
        case "":
            return "sure"
    return "sure" if _is_of_kind(kind, text, plain, has_capitals=has_capitals) else "none"


def _kind(attribute: str) -> str:
    """The kind of shape that the values of an attribute have; "" where they can be anything."""
    if len(attribute) > _MAX_CHARS or _FAVOURITE.fullmatch(attribute):
        return ""
    return next((kind for kind, pattern in _SHAPED if pattern.fullmatch(attribute)), "")


def _is_of_kind(kind: str, text: str, plain: str, *, has_capitals: bool) -> bool:
    """Whether a text has what each value of a kind has."""
    match kind:
        case "email":
            return _EMAIL.search(text) is not None
        case "address":
            # A town alone: `Leeds`, `in New York`.
            words = [word for word in plain.split() if word not in ("in", "at", "en")]
            is_town = has_capitals and _is_upper(text.split()[-len(words) :]) and len(words) <= _MAX_LOWER_WORDS
            return _STREET.search(plain) is not None or is_town
        case "size":
            return _is_number(plain) or _SIZE.fullmatch(plain) is not None
        case "device":
            return _is_number(plain) or (
                any(map(_UPPER.match, text.split())) or (is_unspaced(text) and _HAN_STATE.fullmatch(text) is None)
            )
    return _is_number(plain)


def _is_number(plain: str) -> bool:
    return _NUMBER.search(_SPAN.sub("", plain)) is not None


def _is_upper(words: list[str]) -> bool:
    """Whether each of some words has a capital, or is one that stands in names."""
    return bool(words) and all(_UPPER.match(word) or word in _PARTICLES for word in words)


def _shape_of_name(text: str, plain: str, *, has_capitals: bool) -> Shape:
    """What people are called has no articles, prepositions and verbs, and is written with capitals or quite without."""
    words = text.split()
    if is_unspaced(text):
        return "sure" if can_be_han_name(text) else "none"
    if _OF_A_NAME.match(plain) or len(words) > _MAX_NAME_WORDS:
        return "none"
    is_laughing = _LAUGH.search(plain) is not None
    if _UPPER.match(text):
        return "sure" if _is_upper(words) and not is_laughing else "doubtful"
    is_said_of_it = len(words) > 1 and (has_capitals or any(_is_stop(word) for word in plain.split()))
    return "none" if is_laughing or is_said_of_it or len(words) > _MAX_LOWER_WORDS else "doubtful"


def _shape_of_code(text: str, plain: str, *, has_capitals: bool) -> Shape:
    """A code has figures, marks or a capital; words that could be one are no sure one."""
    if _CODE.search(text) or _is_number(plain) or (has_capitals and _UPPER.match(text)):
        return "sure"
    words = plain.split()
    is_said_of_it = any(_is_stop(word) for word in words) or text.endswith("的") or len(words) > _MAX_LOWER_WORDS + 1
    return "none" if is_said_of_it else "doubtful"


def _is_stop(word: str) -> bool:
    return word not in _PARTICLES and any(word in stop_words(language) for language in ("english", "german", "spanish"))
