"""The table of operations: what an admin does with a tenant as a whole."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from tests.canary.calls import Answer, Call, demand
from tests.canary.draw import Draw
from tests.canary.operations import Operation
from tests.canary.world import OWNERS, Key, World

KEYS, PEOPLE = "/api/v1/keys", "/api/v1/owners"
ACTIONS = ("read", "write", "forget", "export", "keys", "settings")


def is_admin(key: Key) -> bool:
    return key.works and key.role == "admin" and key.owner is None and key.agents is None


def admin_call(d: Draw, method: str, path: str, label: str = "") -> Call:
    """A request of whatever key; only an admin's that is bound to nothing may make it."""
    key = d.key(wrong=0.15)
    if d.chance(0.5):
        key = next(each for each in d.keys if (each.tenant, each.label) == (d.tenant, "admin"))
    return Call(f"{method} {label or path}", key, method, path, may=lambda world: is_admin(key))


def ids_of(d: Draw, fits: Callable[[Key], bool]) -> set[str]:
    """The ids of the keys that the world knows."""
    sent = [key.authorization for key in d.keys if key.authorization and fits(key)]
    return {one.split("_")[1] for one in sent if one.startswith("Bearer rv_")}


def list_keys(d: Draw) -> Call:
    call = admin_call(d, "GET", KEYS)
    call.params = {"limit": d.one_of(("1", "500"))}
    others = ids_of(d, lambda key: key.tenant != call.key.tenant) - ids_of(d, lambda key: key.tenant == call.key.tenant)

    def check(world: World, answer: Answer) -> None:
        if answer.ok:
            shown = {key["id"] for key in answer.result["keys"]}
            demand(not shown & others, f"a list of keys has those of another tenant: {shown & others}")

    call.check = check
    return call


def create_key(d: Draw) -> Call:
    """One that nobody uses, and that is revoked again."""
    call = admin_call(d, "POST", KEYS)
    call.body, call.makes_key = {"role": "viewer", "name": d.one_of(("shop", "till"))}, True

    def revoked(answer: Answer) -> Call | None:
        if not answer.ok:
            return None
        label, url = f"DELETE {KEYS}/{{key_id}}", f"{KEYS}/{answer.result['id']}"
        return Call(label, call.key, "DELETE", url, may=lambda world: is_admin(call.key))

    call.follow = revoked
    return call


def revoke_key(d: Draw) -> Call:
    """One that there is not, or one of another tenant, which is not to be found."""
    foreign = sorted(ids_of(d, lambda key: key.works and key.tenant != d.tenant))
    key_id = d.one_of(foreign) if foreign and d.chance(0.5) else secrets.token_hex(8)
    call = admin_call(d, "DELETE", f"{KEYS}/{key_id}", f"{KEYS}/{{key_id}}")
    if call.key.tenant != d.tenant:
        call.url = f"{KEYS}/{secrets.token_hex(8)}"
    call.may = lambda world: False
    return call


def list_audit(d: Draw) -> Call:
    """No text of anybody's is in it; of whom it tells, an admin of the tenant may know."""
    call = admin_call(d, "GET", "/api/v1/audit")
    call.params = {"limit": d.one_of(("1", "500"))} | ({"action": d.one_of(ACTIONS)} if d.chance(0.5) else {})

    def check(world: World, answer: Answer) -> None:
        if answer.ok:
            ids = {entry["key_id"] for entry in answer.result["entries"]} & ids_of(d, lambda key: True)
            foreign = ids - ids_of(d, lambda key: key.tenant == call.key.tenant)
            demand(not foreign, f"an audit tells of the keys of another tenant: {foreign}")

    call.check = check
    return call


def delete_owner(d: Draw) -> Call:
    """Of somebody who has nothing, so that everybody else keeps what they have; dry for those who have."""
    owner = d.one_of(("user:nobody", *OWNERS))
    call = admin_call(d, "DELETE", f"{PEOPLE}/{owner}", f"{PEOPLE}/{{owner_key}}")
    call.params = {"dry_run": "false"} if owner == "user:nobody" else {}
    call.may = lambda world: is_admin(call.key) or is_own(call.key, owner)
    return call


def export_owner(d: Draw) -> Call:
    """All of one person, and nothing of another's or of a team's."""
    owner = d.one_of(OWNERS)
    call = admin_call(d, "GET", f"{PEOPLE}/{owner}/export", f"{PEOPLE}/{{owner_key}}/export")
    call.may = lambda world: is_admin(call.key) or is_own(call.key, owner)
    call.names = lambda world: of_conversations(world, call.key.tenant, owner).union(
        *(texts for (tenant, _, whose), texts in world.asked.items() if (tenant, whose) == (call.key.tenant, owner))
    )
    call.said = call.past = True
    call.homes = lambda world: [home for home in world.homes() if (home.tenant, home.owner) == (call.key.tenant, owner)]
    return call


def of_conversations(world: World, tenant: str, owner: str) -> set[str]:
    """The canaries of a person's conversations, in a team's memory too, and of their episodes, which outlast them."""
    talks = [key for key in world.talks.by_key if (key.tenant, key.owner) == (tenant, owner)]
    told = [
        row
        for row in world.derived.of("episodes").values()
        if row.talk is not None and (row.talk.tenant, row.talk.owner) == (tenant, owner)
    ]
    return world.talks.shown(talks, "said", "summary", "metadata").union(*(row.forms for row in told))


def is_own(key: Key, owner: str) -> bool:
    return key.works and key.owner == owner and key.agents is None


OPERATIONS_OF_ADMINS: dict[str, tuple[int, Operation]] = {
    f"GET {KEYS}": (2, list_keys),
    "GET /api/v1/audit": (2, list_audit),
    f"DELETE {PEOPLE}/{{owner_key}}": (2, delete_owner),
    f"GET {PEOPLE}/{{owner_key}}/export": (2, export_owner),
    f"POST {KEYS}": (1, create_key),
    f"DELETE {KEYS}/{{key_id}}": (1, revoke_key),
}
