"""Who the names, relations and pronouns of a conversation stand for. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.terms import PETS, ROLES, is_unspaced
from reverie_server.heuristics.stated_fact import SELF, StatedFact

Gender = Literal["female", "male", "unknown"]
# A person is looked for this many sentences back at most.
_MAX_DISTANCE = 3
# What stands before a last name, to be found in any case.
TITLES = "mrs?|ms|miss|dr|herrn?|frau|señora?|don|doña"
# A Chinese name without the surname.
_HAN_GIVEN = 2


_ROLE_NAMES = {
    word: name
    for name, words in (
        (
            "boss",
            "manager teamleiter teamleiterin abteilungsleiter abteilungsleiterin "
            "gerente 经理 supervisor chef chefin vorgesetzter vorgesetzte "
            "jefe jefa supervisora encargado encargada 老板 上司 领导 直属领导 "
            "直属上司 主管",
        ),
        ("wife", "frau ehefrau esposa mujer 妻子 老婆 太太 媳妇 媳妇儿"),
        ("husband", "mann ehemann marido esposo 丈夫 老公 先生"),
        (
            "partner",
            "partnerin pareja girlfriend boyfriend freundin freund novia novio 爱人 伴侣 对象 另一半 女朋友 男朋友"
            " 女友 男友",
        ),
        ("sister", "schwester hermana hermanita 妹妹 妹 姐姐 姐"),
        ("brother", "bruder hermano hermanito 哥哥 哥 弟弟 弟"),
        ("mother", "mom mum mutter mama madre mamá 妈妈 妈 母亲 老妈 娘 老娘"),
        ("father", "dad vater papa padre papá 爸爸 爸 父亲 老爸 爹 老爹"),
        ("son", "lad sohn hijo 儿子"),
        ("daughter", "tochter hija 女儿 闺女 丫头"),
        (
            "colleague",
            "coworker co-worker workmate arbeitskollege arbeitskollegin "
            "kollege kollegin colega compañera compañero 同事",
        ),
        ("friend", "buddy mate pal kumpel amiga amigo 朋友 好朋友 最好的朋友 闺蜜"),
        ("cousin", "cousine prima primo 表姐 表妹 表哥 表弟 堂姐 堂妹 堂哥 堂弟"),
        ("parents", "folks eltern padres 爸妈 父母"),
        ("grandparents", "großeltern abuelos"),
        ("grandmother", "gran nan nana granny grandma oma großmutter abuela abuelita yaya 奶奶 外婆 姥姥 祖母"),
        ("grandfather", "grandad grandpa opa großvater abuelo yayo 爷爷 外公 姥爷 祖父"),
        ("uncle", "onkel tío 叔叔 叔 舅舅 舅 伯伯 伯父"),
        ("aunt", "auntie tante tía 姑姑 姑妈 姨妈 舅妈 婶婶"),
        ("nephew", "neffe sobrino 侄子 外甥"),
        ("niece", "nichte sobrina 侄女 外甥女"),
        ("grandson", "enkel nieto 孙子 外孙"),
        ("granddaughter", "enkelin nieta 孙女 外孙女"),
        ("mother-in-law", "schwiegermutter suegra 婆婆 岳母 丈母娘"),
        ("father-in-law", "schwiegervater suegro 公公 岳父 老丈人"),
        ("sister-in-law", "schwägerin cuñada 嫂子 弟妹"),
        ("brother-in-law", "schwager cuñado 姐夫 妹夫"),
        ("neighbour", "neighbor nachbar nachbarin vecino vecina 邻居"),
        ("in-laws", "schwiegereltern suegros 公婆 岳父母"),
        ("twins", "zwillinge gemelos mellizos gemelas mellizas 双胞胎"),
        ("physio", "physiotherapist physiotherapeut physiotherapeutin fisio fisioterapeuta 理疗师"),
        ("therapist", "therapeut therapeutin terapeuta 心理医生"),
        ("dentist", "zahnarzt zahnärztin dentista 牙医"),
        ("doctor", "gp 家庭医生 medico medica arzt ärztin hausarzt hausärztin médico médica doctora 医生"),
        ("trainer", "trainerin entrenador entrenadora coach 教练"),
        ("mentor", "mentorin mentora 导师"),
        ("flatmate", "roommate housemate mitbewohner mitbewohnerin 室友"),
        ("landlord", "landlady vermieter vermieterin casero casera 房东"),
        ("dog", "puppy pup perro perra perrito perrita cachorro cachorra hund hündin 狗 小狗 狗狗"),
        ("cat", "kitten kitty tomcat gato gata gatito gatita katze kater 猫 小猫 猫咪"),
    )
    for word in words.split()
}

_ROLE_NAMES |= {
    "line manager": "boss",
    "family doctor": "doctor",
    # "Meine beste Freundin" is no girlfriend.
    **dict.fromkeys(
        (
            *("best friend", "mejor amiga", "mejor amigo", "beste freundin", "besten freundin", "bester freund"),
            *("besten freund", "gute freundin", "guter freund", "alte freundin", "alter freund"),
        ),
        "friend",
    ),
}


def role_name(word: str) -> str:
    """The name of the predicate for a relation, the same in each language."""
    return _ROLE_NAMES.get(word, word)


# One loved one, whatever they are called by now.
_LOVED = frozenset({"partner", "wife", "husband", "fiancé", "fiancée", "fiance", "fiancee", "verlobte", "verlobter"})


@dataclass(slots=True)
class People:
    """The people of a conversation: by name, by first name and by what they are to the user.

    `known` are people of earlier conversations, from `people_of`. Of several with one first name the name alone stands
    for the one of whom this conversation says who it is, else for nobody.
    """

    known: Mapping[str, str] = field(default_factory=dict)
    _by_name: dict[str, str] = field(default_factory=dict)
    _by_role: dict[str, list[str]] = field(default_factory=dict)
    _roles_of: dict[str, set[str]] = field(default_factory=dict)
    _last: list[tuple[int, str, Gender, str]] = field(default_factory=list)
    # How the speaker calls those whose names are not known, by language and subject.
    _called: dict[tuple[str, str], str] = field(default_factory=dict)
    # The subjects of each first name: those of earlier conversations, and those whose role this one tells.
    _earlier: dict[str, set[str]] = field(default_factory=dict)
    _here: dict[str, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for alias, name in self.known.items():
            kind, _, value = alias.partition(":")
            if kind == "role" and value:
                self._by_role.setdefault(_role(value), []).append(name)
                self._roles_of.setdefault(name, set()).add(_role(value))
            else:
                self._by_name[folded(alias)] = name
                self._earlier.setdefault(_first(name), set()).add(name)

    def named(self, name: str, role: str | None = None, *, is_single: bool = False) -> str:
        """The subject for a person of a name, who is `role` to the user where that is said.

        A full name and its first name are one. The same name with another role is another person.
        """
        key = folded(name)
        of_role = None if role is None else _role(role)
        subject = self._of_first_name(key, of_role) or self._by_name.get(key) or self._by_first_name(key)
        subject = subject or self._by_given_name(key, of_role) or name
        if " " in key and folded(subject) != key and self._is_another(subject, of_role):
            subject = name
        roles = self._roles_of.get(subject)
        if of_role is not None and roles and of_role not in roles:
            subject = f"{name} ({role})"
        elif len(name) > len(subject) and folded(name).startswith(f"{folded(subject)} "):
            subject = self._renamed(subject, name)
        self._by_name[folded(subject)] = subject
        self._by_name.setdefault(key, subject)
        if of_role is not None:
            self._here.setdefault(_first(subject), set()).add(subject)
            self._roles_of.setdefault(subject, set()).add(of_role)
            names = self._by_role.setdefault(of_role, [])
            if is_single:
                names.clear()
            if subject not in names:
                names.append(subject)
        return subject

    def is_ambiguous(self, name: str) -> bool:
        """Whether several people are known by a first name, and nothing says which of them is meant."""
        key = folded(name)
        return " " not in key and len(self._here.get(key) or self._earlier.get(key, set())) > 1

    def of_role(self, role: str) -> str | None:
        """The person who is the only one of a role."""
        names = self._by_role.get(_role(role), [])
        return names[0] if len(names) == 1 else None

    def is_of_work(self, subject: str) -> bool:
        """Whether a person is one of the user's work."""
        return bool(self._roles_of.get(subject, set()) & set(ROLES))

    def forget_role(self, role: str) -> None:
        """From here on nobody is known for a role."""
        self._by_role.pop(_role(role), None)

    def is_known(self, name: str) -> bool:
        """Whether somebody of that name was spoken of."""
        return folded(name) in self._by_name or self._by_first_name(folded(name)) is not None

    def is_person(self, name: str) -> bool:
        """Whether somebody of that name, or of its genitive, was spoken of who is no animal of the user's."""
        key = folded(name)
        subject = self._by_name.get(key) or self._by_first_name(key) or self._by_name.get(f"{key}s")
        return subject is not None and self._roles_of.get(subject, set()).isdisjoint(PETS)

    def first_names(self) -> frozenset[str]:
        """The first names of all who are known, folded."""
        return frozenset(_first(name) for name in self._by_name)

    def mention(self, at: int, subject: str, gender: Gender, sentence: str) -> None:
        """Note that a sentence, by number, speaks of somebody."""
        self._last.append((at, subject, gender, sentence))

    def call(self, subject: str, language: str, words: str) -> None:
        """Note how a speaker calls somebody whose name is not known: `Mi hermano`."""
        self._called[language, subject] = words

    def words_for(self, subject: str, language: str) -> str | None:
        """The words that stand for somebody in a line of a language; None where only others are known."""
        if not subject.startswith(f"{SELF}'s "):
            return subject
        return self._called.get((language, subject))

    def meant(self, at: int, gender: Gender) -> str | None:
        """The one person whom a pronoun at a sentence can stand for; None where that is nobody, or several."""
        near = [(where, who, is_) for where, who, is_, _ in self._last if at - _MAX_DISTANCE <= where <= at]
        fitting = [(where, who) for where, who, is_ in near if gender == "unknown" or is_ in (gender, "unknown")]
        if not fitting:
            return None
        nearest = max(where for where, _ in fitting)
        names = list(dict.fromkeys(who for where, who in fitting if where == nearest))
        return names[0] if len(names) == 1 else None

    def _by_first_name(self, key: str) -> str | None:
        names = {subject for known, subject in self._by_name.items() if known.split(" ")[0] == key.split(" ")[0]}
        is_compatible = len(names) == 1 and (" " not in key or folded(next(iter(names))) == key.split(" ")[0])
        return next(iter(names)) if is_compatible else None

    def _of_first_name(self, key: str, role: str | None) -> str | None:
        """The only one of a first name of whom this conversation says who it is, or who has a role."""
        if " " in key:
            return None
        here, earlier = self._here.get(key, set()), self._earlier.get(key, set())
        subjects = here if role is None else {who for who in here | earlier if role in self._roles_of.get(who, ())}
        return next(iter(subjects)) if len(subjects) == 1 else None

    def _by_given_name(self, key: str, role: str | None) -> str | None:
        """The only one who has that role and this name behind a surname of one character: 罗大鸿 of 大鸿."""
        if role is None or len(key) != _HAN_GIVEN or not is_unspaced(key):
            return None
        subjects = [who for who, roles in self._roles_of.items() if role in roles and who[1:] == key]
        return subjects[0] if len(subjects) == 1 else None

    def _is_another(self, subject: str, role: str | None) -> bool:
        """Whether a longer name is not known to be that of somebody of an earlier conversation."""
        is_here = subject in self._here.get(_first(subject), ())
        is_earlier = subject in self._earlier.get(_first(subject), ())
        return is_earlier and not is_here and role not in self._roles_of.get(subject, ())

    def _renamed(self, old: str, new: str) -> str:
        for key, subject in list(self._by_name.items()):
            if subject == old:
                self._by_name[key] = new
        self._by_role = {role: [new if who == old else who for who in who_s] for role, who_s in self._by_role.items()}
        self._roles_of[new] = self._roles_of.pop(old, set())
        for table in (self._earlier, self._here):
            for subjects in table.values():
                if old in subjects:
                    subjects.discard(old)
                    subjects.add(new)
        self._last = [(at, new if who == old else who, gender, text) for at, who, gender, text in self._last]
        return new


def _role(word: str) -> str:
    """One word for all words for a relation: a girlfriend and a wife can be the same person."""
    name = role_name(folded(word))
    return "partner" if name in _LOVED else name


def _first(name: str) -> str:
    return folded(name).split(" ")[0]


def people_of(facts: Iterable[StatedFact], roles: Iterable[str]) -> dict[str, str]:
    """The people whom facts tell of, for `known` of later conversations, in the order of the facts."""
    known: dict[str, str] = {}
    names = {folded(role) for role in roles}
    for fact in facts:
        if fact.subject == SELF and folded(fact.predicate) in names | set(map(role_name, names)) and fact.object:
            known[fact.object] = fact.object
            known[f"role:{fact.predicate}"] = fact.object
    return known
