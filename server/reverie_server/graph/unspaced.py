"""The claims of sentences about people and things in Chinese, which has neither spaces nor capitals. Pure but for
reading `unspaced.toml`.

A name is told by what stands around it, and a person's by a family name or a familiar "小" before it. Without these
nothing is taken.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from reverie_server.graph.claims import Claim, HasRole, Leaves, Names, Ref, Relates, Role, RoleKind, Scope, Succeeds
from reverie_server.graph.successions import with_successions
from reverie_server.heuristics.fact_grammar.han import OF_SOUNDS
from reverie_server.text.graph_terms import EntityType, RelationName

_CLAUSE = re.compile(r"[\uff0c,\uff1b;\u3002.!\uff01\n]+")
_SPACE = re.compile(r"\s+")
_LATIN = r"[A-Z][A-Za-z0-9]{0,30}+(?: [A-Z][A-Za-z0-9]{0,30}+){0,3}"
_EDGE = r"(?=$|[^\u4e00-\u9fff\w])"


@dataclass(frozen=True, slots=True)
class _Wording:
    """A wording of a relation behind its subject; `pattern` has the group object."""

    pattern: re.Pattern[str]
    name: RelationName
    target: EntityType
    may_be_over: bool = True


@dataclass(frozen=True, slots=True)
class _Chinese:
    """The patterns of Chinese."""

    of_user: str
    roles: dict[str, Role]
    hedges: re.Pattern[str]
    opens: re.Pattern[str]
    own_name: re.Pattern[str]
    subject: re.Pattern[str]
    unit: re.Pattern[str]
    over: re.Pattern[str]
    wordings: Sequence[_Wording]
    leaves: Sequence[tuple[re.Pattern[str], Scope]]
    role_then_name: re.Pattern[str]
    name_then_role: re.Pattern[str]
    succeeds: re.Pattern[str]
    together: re.Pattern[str]
    takes_over: re.Pattern[str]
    exists: re.Pattern[str]
    types: dict[str, EntityType]


def claims_of(sentence: str) -> list[Claim]:
    """The claims of a sentence, in its order; none of one that hedges."""
    chinese = _chinese()
    if chinese.hedges.search(sentence):
        return []
    found: list[Claim] = []
    subjects: list[Ref] = []
    for part in _CLAUSE.split(sentence):
        clause = _SPACE.sub(" ", part).strip()
        clause = clause[match.end() :] if (match := chinese.opens.match(clause)) else clause
        claims, subjects = _of_clause(chinese, clause, subjects)
        found += claims
    return with_successions(sentence, found, "chinese", names_in)


def own_name(sentence: str) -> str | None:
    """The name that a sentence says is the speaker's."""
    match = _chinese().own_name.search(sentence)
    return match["name"] if match else None


def names_in(sentence: str) -> list[str]:
    """The parts of a sentence that are written like a person's name."""
    return [unit["name"] for unit in _chinese().unit.finditer(sentence) if unit["name"]]


def of_user() -> str:
    """The description of somebody who is `{}` to the speaker."""
    return _chinese().of_user


def _of_clause(chinese: _Chinese, clause: str, before: list[Ref]) -> tuple[list[Claim], list[Ref]]:
    """The claims of a clause, and whom a clause behind it speaks of where it does not say."""
    found: list[Claim] = list(_things(chinese, clause))
    if match := chinese.name_then_role.search(clause):
        ref = Ref(match["name"], chinese.roles[match["role"]], "person")
        is_over = bool(match["over"]) or bool(match["former"])
        return [*found, HasRole(ref, chinese.roles[match["role"]], is_over)], [ref]
    subjects, rest = before, clause
    if match := chinese.role_then_name.match(clause):
        ref = Ref(match["name"], chinese.roles[match["role"]], "person")
        found.append(HasRole(ref, chinese.roles[match["role"]], bool(match["former"])))
        subjects, rest = [ref], clause[match.end() :]
    elif match := chinese.subject.match(clause):
        subjects, rest = _refs(chinese, match[0]), clause[match.end() :]
    if subjects:
        found += _claims_about(chinese, subjects, rest)
    return found, subjects


def _claims_about(chinese: _Chinese, subjects: list[Ref], rest: str) -> Iterator[Claim]:
    over = chinese.over.match(rest)
    is_over = bool(over and over["over"])
    predicate = rest[over.end() :] if over else rest
    for pattern, scope in chinese.leaves:
        if match := pattern.match(
            predicate if scope != "company" or not is_over else rest[over.start("over") :] if over else predicate
        ):
            what = match.groupdict().get("object")
            yield Leaves(subjects, scope, [Ref(what)] if what else [])
            return
    if match := chinese.succeeds.match(predicate):
        role = chinese.roles[match["role"]] if match["role"] else None
        yield Succeeds(subjects, Ref(match["of"], type="person"), role=role)
        return
    if match := chinese.takes_over.match(predicate):
        of = Ref(match["of"], type="person") if match["of"] else None
        yield Succeeds(subjects, of, [Ref(match["object"], type="project")])
        return
    if len(subjects) > 1 and chinese.together.match(predicate) and not is_over:
        yield Relates("collaborates_with", subjects[:1], subjects[1:], "person", "person")
        return
    for wording in chinese.wordings:
        if match := wording.pattern.match(predicate):
            # "不住在北京" alone may say that it never was so; with "了" at its end it was.
            if is_over and not (rest.endswith("了") or "不再" in rest[: match.end()]):
                return
            target = chinese.types.get(match.groupdict().get("type") or "", wording.target)
            kind = target if match.groupdict().get("type") else None
            yield Relates(
                wording.name, subjects, [Ref(match["object"], type=kind)], "person", target, is_over,
                needs_source=False, needs_target=False,
            )  # fmt: skip
            return


def _refs(chinese: _Chinese, text: str) -> list[Ref]:
    found = []
    for unit in chinese.unit.finditer(text):
        if unit["speaker"]:
            found.append(Ref(is_speaker=True))
        elif unit["pronoun"]:
            found.append(Ref(is_pronoun=True))
        elif unit["role"]:
            found.append(Ref(role=chinese.roles[unit["role"]], type="person"))
        else:
            found.append(Ref(unit["name"]))
    return found


def _things(chinese: _Chinese, clause: str) -> Iterator[Claim]:
    for match in chinese.exists.finditer(clause):
        yield Names(Ref(match["name"] or match["quoted"], type=chinese.types[match["type"]]))


@dataclass(frozen=True, slots=True)
class _Parts:
    """The parts of wordings: what may stand between words, a person, and another thing by its name."""

    gap: str
    person: str
    thing: str

    @property
    def place(self) -> str:
        """The object of a wording, of any type."""
        return rf" ?(?P<object>{self.thing}) ?"

    def behind(self, pattern: str) -> re.Pattern[str]:
        """A pattern behind a gap."""
        return re.compile(rf"{self.gap}(?:{pattern})")


def _wordings(parts: _Parts) -> list[_Wording]:
    """The wordings of relations."""
    of_project = rf" ?(?P<object>{parts.thing}) ?(?P<type>项目|团队)"
    whom = rf" ?(?P<object>{parts.person})"
    return [
        _Wording(parts.behind(rf"在{of_project}组?(?:里|上)?(?:工作|上班)?"), "works_on", "project"),
        _Wording(
            parts.behind(rf"在{parts.place}(?P<type>公司|集团)?(?:工作|上班|任职|就职)"), "based_at", "organization"
        ),
        _Wording(
            parts.behind(rf"(?:加入了?|入职了?|跳槽到了?|去了){parts.place}(?P<type>公司|集团|团队|部门)?{_EDGE}"),
            "based_at",
            "organization",
        ),
        _Wording(parts.behind(rf"(?:参与了?|在做|做){of_project}"), "works_on", "project"),
        _Wording(parts.behind(rf"(?:负责|管理|领导|带领){of_project}"), "manages", "project"),
        _Wording(parts.behind(rf"(?:向|跟){whom}汇报"), "reports_to", "person"),
        _Wording(parts.behind(rf"(?:和|跟|与){whom}(?:一起)?(?:工作|合作|共事)"), "collaborates_with", "person"),
        _Wording(parts.behind(rf"住在{parts.place}(?:了)?{_EDGE}"), "located_in", "location"),
        _Wording(
            parts.behind(rf"(?:从 ?{parts.thing} ?)?(?:搬到|搬去|搬家到|定居)了?{parts.place}(?:了|生活|居住)?{_EDGE}"),
            "located_in",
            "location",
        ),
    ]


def _leaves(parts: _Parts) -> list[tuple[re.Pattern[str], Scope]]:
    """The wordings of a departure, each with what is left."""
    return [
        (parts.behind(rf"(?:离职|辞职|退休|离开了?(?:我们)?公司|被裁|被解雇|跳槽)(?:了)?{_EDGE}"), "company"),
        (re.compile(rf"不在(?:这里|这儿|我们公司|公司)(?:工作|上班|干)?了{_EDGE}"), "company"),
        (parts.behind(rf"(?:离开|退出|调离)了?(?:我们)?(?:的)?(?:团队|组|部门)了?{_EDGE}"), "team"),
        (parts.behind(rf"(?:离开|退出)了{parts.place}(?:公司|集团|项目|团队)?{_EDGE}"), "named"),
    ]


@cache
def _chinese() -> _Chinese:
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["chinese"]
    kinds: tuple[RoleKind, ...] = ("superior", "colleague", "kin")
    roles = {word: Role(kind, word) for kind in kinds for word in table["roles"][kind]}
    types: dict[str, EntityType] = dict.fromkeys(table["types"]["project"], "project")
    types |= dict.fromkeys(table["types"]["organization"], "organization")
    not_names = table["not_in_names"]
    character = rf"(?:(?![{not_names}])[\u4e00-\u9fff])"
    surnames = "".join(table["surnames"].split())
    follows = rf"(?=$|[^\u4e00-\u9fff]|{_either(table['follows'])})"
    surname = rf"(?:{_either(table['compound_surnames'])}|[{surnames}])"
    # A short name that is written by its sound is one behind a word for a person alone: 巴西 is a country.
    han_person = rf"(?:{surname}{character}{{1,2}}?|[{table['nicknames']}]{character}|[{OF_SOUNDS}]{{3,6}})"
    person = rf"(?:{han_person}{follows}|{_LATIN}) ?"
    thing = rf"(?:{_LATIN}|{character}{{2,8}}?)"
    type_word, role = _either(types), _either(roles)
    parts = _Parts(gap=rf"(?:{_either(table['gaps'])}| )*+", person=person, thing=thing)
    gap = parts.gap
    mine = r"我们?的?"
    speaker, pronoun = r"我们?", r"[他她]"
    unit = rf"(?:{mine}{role}|{speaker}|{pronoun}|{person})"
    return _Chinese(
        of_user=table["of_user"],
        roles=roles,
        hedges=re.compile(_either(table["hedges"])),
        opens=re.compile(rf"(?:{_either(table['opens'])}[\uff1a: ]?)++"),
        own_name=re.compile(
            rf"(?:我叫|我的名字(?:是|叫)|我是(?={person}{_EDGE})) ?(?P<name>{_LATIN}|{han_person}){_EDGE}"
        ),
        subject=re.compile(rf"{gap}(?:{unit})(?:(?:和|与|跟|、) ?{unit}){{0,3}}"),
        unit=re.compile(
            rf"{mine}(?P<role>{role})|(?P<speaker>{speaker})|(?P<pronoun>{pronoun})|(?P<name>{_LATIN}|{han_person}(?:{follows}))"
        ),
        over=re.compile(rf"{gap}(?P<over>{_either(table['over'])})?{gap}"),
        wordings=_wordings(parts),
        leaves=_leaves(parts),
        role_then_name=re.compile(
            rf"{gap}{mine}(?P<former>前)?(?:新|现任)?(?:的)?(?P<role>{role}){gap}(?:是|叫|名叫|换成了?|变成了?)?{gap} ?"
            rf"(?P<name>{_LATIN}|{han_person}|[{OF_SOUNDS}]{{2}}){follows}"
        ),
        name_then_role=re.compile(
            rf"^{gap}(?P<name>{_LATIN}|{han_person}(?={_either(table['gaps'])}|是|不|成|当| )) ?{gap}"
            rf"(?P<over>不再)?(?:是|成为了?|成了|当了?){gap}{mine}(?P<former>前)?(?:新|现任)?(?:的)?(?P<role>{role})了?{_EDGE}"
        ),
        succeeds=parts.behind(
            rf"(?:接替了?|接任了?|取代了?|代替了?) ?(?P<of>{_LATIN}|{han_person}{follows})"
            rf"(?:的?(?:工作|职位|位置|岗位))?(?: ?(?:成为|当|做|担任)了?{mine}(?:新)?(?P<role>{role}))?"
        ),
        together=re.compile(rf"{gap}(?:工作|合作|共事)"),
        takes_over=parts.behind(
            rf"(?:从 ?(?P<of>{_LATIN}|{han_person}{follows}) ?(?:手里|手中|那里|那儿)?)?"
            rf"接手了? ?(?P<object>{thing}) ?项目"
        ),
        exists=re.compile(
            rf"(?:(?P<name>{_LATIN}) ?|[「『“\"](?P<quoted>[\w ]{{2,20}})[」』”\"] ?)(?P<type>{type_word})"
        ),
        types=types,
    )


def _either(words: Sequence[str] | dict[str, Role] | dict[str, EntityType]) -> str:
    return f"(?:{'|'.join(re.escape(word) for word in sorted(words, key=lambda word: (-len(word), word)))})"
