"""The table of operations: the control routes, by which nights are run and looked into."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from tests.canary.calls import Answer, Call, demand
from tests.canary.draw import WORDS, Draw
from tests.canary.operations import Operation
from tests.canary.operations_derived import check_ids
from tests.canary.operations_turns import found_as_meant
from tests.canary.words import canaries_in
from tests.canary.world import Acting, Home, World

CONTROL = "/api/v1/memory/{a}"


def control_call(d: Draw, method: str, acting: Acting, label: str, *rest: str) -> Call:
    """A request on an agent's nights, by either path that these routes have; it shows the caller's own alone."""
    url = d.url_of(acting.agent, *(rest or label.split("/"))).replace("/api/v1/agents/", "/api/v1/memory/", 1)
    if d.chance(0.2):
        url = url.removeprefix("/api/v1")
    call = Call(f"{method} {CONTROL}/{label}", acting.key, method, url, acting, said=True)
    call.homes = lambda world: own_home(acting, world)
    return call


def own_home(acting: Acting, world: World) -> Sequence[Home]:
    """Where the caller's own nights are."""
    home = world.own_home(acting)
    return [] if home is None else [home]


def as_run(call: Call, acting: Acting, fields: dict[str, Any]) -> Call:
    """What every run by hand has in common: it writes the memory of an agent that there is."""
    call.may = lambda world: world.place(acting, None) is not None and world.sight(acting) is not None
    call.body, call.derives = fields or None, True
    return call


def run_emergence(d: Draw) -> Call:
    acting, fields = d.acting()
    return as_run(control_call(d, "POST", acting, "emergence"), acting, fields)


def run_focused(d: Draw) -> Call:
    """About a word of everybody's, a canary of whomever, or one of the caller's own memory."""
    acting, fields = d.acting()
    topic = d.one_of((d.one_of(WORDS), d.known_canary(), d.canary_of(d.world.place(acting, None))))
    call = control_call(d, "POST", acting, "dreaming/focused")
    call.asked = topic
    return as_run(call, acting, {"topic": topic, **fields})


def summarize(d: Draw) -> Call:
    acting, fields = d.acting()
    session_id = d.session_id(acting)
    call = control_call(d, "POST", acting, "summarize/{conversation_id}", "summarize", session_id)
    call.homes, call.echo = lambda world: [], frozenset(canaries_in(session_id))
    call = as_run(call, acting, fields)

    def exact(world: World, answer: Answer) -> None:
        found_as_meant(acting, session_id, answer, world)

    call.exact = exact
    return call


def dreaming_status(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    call = control_call(d, "GET", acting, "dreaming/status")
    call.params = fields
    return call


def dreaming_candidates(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    call = control_call(d, "GET", acting, "dreaming/candidates")
    call.params = fields

    def check(world: World, answer: Answer) -> None:
        if answer.ok:
            _, files = world.living(own_home(acting, world))
            paths = {candidate["source"].rpartition(":")[0] for candidate in answer.result}
            known = {path for _, path in files}
            demand(paths <= known, f"candidates are of files that are not there: {paths - known}")

    call.check = check
    return call


def list_reports(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    first = d.looted(d.loot.cursors, 0.1, "")
    limit = d.one_of(("2", "500", "500"))
    shown: list[str] = []

    def page(cursor: str, pages: int) -> Call:
        def check(world: World, answer: Answer) -> None:
            if answer.ok:
                check_ids(world, "reports", answer.result["reports"], own_home(acting, world))

        def exact(world: World, answer: Answer) -> None:
            if not answer.ok:
                return
            shown.extend(report["id"] for report in answer.result["reports"])
            if answer.result["next_cursor"] is None and not first:
                known = world.derived.of("reports", own_home(acting, world)).keys()
                demand(sorted(shown) == sorted(known), f"{len(shown)} reports are listed of {len(known)}")

        def follow(answer: Answer) -> Call | None:
            has_more = answer.ok and answer.result["next_cursor"] and pages < 4
            return page(answer.result["next_cursor"], pages + 1) if has_more else None

        call = control_call(d, "GET", acting, "dream/reports")
        call.params = {**fields, "limit": limit, **({"cursor": cursor} if cursor else {})}
        call.check, call.exact, call.follow = check, exact, follow
        return call

    return page(first, 1)


def archive(d: Draw) -> Call:
    """Nothing is older than 30 days in a run: the months are empty for everybody."""
    acting, fields = d.acting(reads=True)
    call = control_call(d, "GET", acting, "dream/archive")
    call.params = fields

    def exact(world: World, answer: Answer) -> None:
        demand(not answer.ok or answer.result == {"months": []}, "the archive has reports of today")

    call.exact = exact
    return call


def archive_month(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    month = d.one_of((f"{datetime.now(UTC):%Y-%m}", "2026-04", "2026-13"))
    call = control_call(d, "GET", acting, "dream/archive/{month}", "dream", "archive", month)
    call.params = fields

    def exact(world: World, answer: Answer) -> None:
        demand(not answer.ok, "the archive has reports of today")

    call.exact = exact
    return call


def get_report(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    report_id = d.row_id("reports", acting)
    call = control_call(d, "GET", acting, "dream/reports/{report_id}", "dream", "reports", report_id)
    call.params = fields

    def exact(world: World, answer: Answer) -> None:
        if world.sight(acting) is not None and answer.status in (200, 404):
            is_there = world.derived.home_of("reports", report_id) in own_home(acting, world)
            demand(answer.ok == is_there, f"the report {report_id}: found {answer.ok}, there {is_there}")

    call.exact = exact
    return call


def morning_card(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    call = control_call(d, "GET", acting, "dream/morning-card")
    call.params = fields

    def check(world: World, answer: Answer) -> None:
        if answer.ok and answer.result:
            reports = [{"id": entry["key"].partition(":")[0]} for entry in answer.result]
            check_ids(world, "reports", reports, own_home(acting, world))

    call.check = check
    return call


def see_morning_card(d: Draw) -> Call:
    acting, fields = d.acting()
    call = as_run(control_call(d, "POST", acting, "dream/morning-card/seen"), acting, fields)
    call.derives = False
    return call


def confirm_entry(d: Draw) -> Call:
    """An entry of a report of whomever."""
    acting, fields = d.acting()
    return as_run(entry_call(d, acting, "confirm", d.row_id("reports", acting)), acting, fields)


def edit_entry(d: Draw) -> Call:
    """An entry that nobody has: what an edit leaves is a line of a file, which routes of files try."""
    acting, fields = d.acting()
    return as_run(entry_call(d, acting, "edit", "0" * 16), acting, {"content": "Tea.", **fields})


def forget_entry(d: Draw) -> Call:
    """An entry that nobody has: to forget a text is tried by `memory/forget`."""
    acting, fields = d.acting()
    return as_run(entry_call(d, acting, "forget", "0" * 16), acting, fields)


def entry_call(d: Draw, acting: Acting, action: str, report_id: str) -> Call:
    rest = ("dream", "reports", report_id, "entries", f"{report_id}:1", action)
    call = control_call(d, "POST", acting, f"dream/reports/{{report_id}}/entries/{{key}}/{action}", *rest)
    call.derives = False
    return call


OPERATIONS_OF_CONTROL: dict[str, tuple[int, Operation]] = {
    f"POST {CONTROL}/emergence": (4, run_emergence),
    f"POST {CONTROL}/dreaming/focused": (5, run_focused),
    f"POST {CONTROL}/summarize/{{conversation_id}}": (4, summarize),
    f"GET {CONTROL}/dreaming/status": (4, dreaming_status),
    f"GET {CONTROL}/dreaming/candidates": (4, dreaming_candidates),
    f"GET {CONTROL}/dream/reports": (5, list_reports),
    f"GET {CONTROL}/dream/reports/{{report_id}}": (5, get_report),
    f"GET {CONTROL}/dream/archive": (2, archive),
    f"GET {CONTROL}/dream/archive/{{month}}": (2, archive_month),
    f"GET {CONTROL}/dream/morning-card": (4, morning_card),
    f"POST {CONTROL}/dream/morning-card/seen": (2, see_morning_card),
    f"POST {CONTROL}/dream/reports/{{report_id}}/entries/{{key}}/confirm": (2, confirm_entry),
    f"POST {CONTROL}/dream/reports/{{report_id}}/entries/{{key}}/edit": (1, edit_entry),
    f"POST {CONTROL}/dream/reports/{{report_id}}/entries/{{key}}/forget": (1, forget_entry),
}
