"""The table of operations: facts and contradictions."""

from __future__ import annotations

from typing import Any

from tests.canary.calls import Answer, Call, demand
from tests.canary.draw import Draw, home_of_row
from tests.canary.operations import AGENT, Operation, may_write
from tests.canary.world import Acting, World

FACTS = f"{AGENT}/facts"
CONTRADICTIONS = f"{AGENT}/contradictions"
# No fact has this number: of a caller's own one a change would be a write that the world does not know of.
NOBODYS = "900000000"


def check_facts(world: World, acting: Acting, rows: list[dict[str, Any]]) -> None:
    """Every fact that an answer shows is of a home that the request sees."""
    homes = world.sight(acting) or []
    for row in rows:
        own = home_of_row(acting, row)
        known = world.derived.home_of("facts", row["id"].removeprefix("fact-"))
        is_own = known is None or (known in homes and (known.owner, known.scope) == (own.owner, own.scope))
        demand(is_own, f"an answer says that {row['id']} is {own}'s, and it is {known}'s")
        seen = any((home.owner, home.agent is None) == (own.owner, own.agent is None) for home in homes)
        demand(seen, f"an answer shows {row['id']}, which is {own}'s")


def list_facts(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    call = Call(f"GET {FACTS}", acting.key, "GET", d.url_of(acting.agent, "facts"), acting, said=True)
    call.params = {**fields, "limit": d.one_of(("1", "500", "500"))}
    call.params |= {"state": d.one_of(("current", "superseded", "retracted"))} if d.chance(0.2) else {}
    call.params |= {"q": d.query()} if d.chance(0.2) else {}
    call.check = lambda world, answer: check_facts(world, acting, answer.result["facts"]) if answer.ok else None
    return call


def get_fact(d: Draw) -> Call:
    """A fact out of a list of them, with those of its chain; or one of somebody else."""
    if d.chance(0.4):
        acting, fields = d.acting(reads=True)
        call = _one_fact(d, acting, fields, f"fact-{_foreign(d, acting)}")
        call.exact = lambda _, answer: demand(not answer.ok, "a fact is shown that the caller does not have")
        return call
    call = list_facts(d)
    acting = call.acting
    assert acting is not None

    def follow(answer: Answer) -> Call | None:
        facts = answer.result["facts"] if answer.ok else []
        fields = {name: value for name, value in call.params.items() if name in ("owner_key", "end_user_id")}
        return _one_fact(d, acting, fields, facts[0]["id"]) if facts else None

    call.follow = follow
    return call


def _one_fact(d: Draw, acting: Acting, fields: dict[str, str], fact_id: str) -> Call:
    url = d.url_of(acting.agent, "facts", fact_id)
    call = Call(f"GET {FACTS}/{{fact_id}}", acting.key, "GET", url, acting, params=fields, said=True, past=True)

    def check(world: World, answer: Answer) -> None:
        if answer.ok:
            check_facts(world, acting, [answer.result["fact"], *answer.result["chain"]])

    call.check = check
    return call


def list_contradictions(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    url = d.url_of(acting.agent, "contradictions")
    call = Call(f"GET {CONTRADICTIONS}", acting.key, "GET", url, acting, said=True)
    call.params = {**fields, "state": d.one_of(("open", "all", "ignored"))}

    def check(world: World, answer: Answer) -> None:
        if answer.ok:
            pairs = answer.result["contradictions"]
            check_facts(world, acting, [pair[end] for pair in pairs for end in ("fact_a", "fact_b")])

    call.check = check
    return call


def _foreign(d: Draw, acting: Acting) -> str:
    """The number of a fact that a request does not see: somebody else's, or nobody's."""
    sight = d.world.sight(acting) or ()
    others = [number for number, row in d.world.derived.of("facts").items() if row.home not in sight]
    return d.looted(others, 0.8, NOBODYS)


def _of_others(path: str, kind: str, what: str, body: dict[str, Any]) -> Operation:
    def operation(d: Draw) -> Call:
        acting, fields = d.acting()
        group, _, action = what.partition("/")
        prefix = "fact-" if group == "facts" else "con-"
        number = _foreign(d, acting) if group == "facts" else NOBODYS
        url = d.url_of(acting.agent, group, f"{prefix}{number}", action)
        call = Call(f"POST {path}/{{{kind}}}/{action}", acting.key, "POST", url, acting)
        call.body, call.may = {**fields, **body}, may_write(acting)
        call.exact = lambda _, answer: demand(not answer.ok, f"{action} of what the caller does not have")
        return call

    return operation


OPERATIONS_ON_FACTS: dict[str, tuple[int, Operation]] = {
    f"GET {FACTS}": (5, list_facts),
    f"GET {FACTS}/{{fact_id}}": (3, get_fact),
    f"POST {FACTS}/{{fact_id}}/feedback": (1, _of_others(FACTS, "fact_id", "facts/feedback", {"kind": "helpful"})),
    f"POST {FACTS}/{{fact_id}}/confirm": (1, _of_others(FACTS, "fact_id", "facts/confirm", {})),
    f"POST {FACTS}/{{fact_id}}/edit": (1, _of_others(FACTS, "fact_id", "facts/edit", {"text": "Prefers tea."})),
    f"POST {FACTS}/{{fact_id}}/forget": (1, _of_others(FACTS, "fact_id", "facts/forget", {})),
    f"GET {CONTRADICTIONS}": (2, list_contradictions),
    f"POST {CONTRADICTIONS}/{{contradiction_id}}/resolve": (
        1,
        _of_others(CONTRADICTIONS, "contradiction_id", "contradictions/resolve", {"keep": "a"}),
    ),
}
