"""The part of the composition root that wires what requests pass before any route."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from reverie_server.access.wrong_keys import KeyGuard
from reverie_server.http.admission import Admission, AdmissionLimits
from reverie_server.http.bodies import MAX_BODY_BYTES, BodyMemory
from reverie_server.http.entrance import BodyRule, Entrance
from reverie_server.http.load_metrics import LoadMetrics
from reverie_server.http.routes.proxy import MAX_CHAT_BYTES, MAX_CHAT_VALUES, takes_chat
from reverie_server.http.routes.snapshots import takes_archive
from reverie_server.mcp.endpoint import takes_mcp
from reverie_server.pages.entrance import Pages

if TYPE_CHECKING:
    from fastapi import FastAPI

    from reverie_server.runtime import Runtime
    from reverie_server.settings.server import Settings

# Four a processor keep it busy while others of them wait for PostgreSQL; more only make each other wait.
_IN_FLIGHT_PER_PROCESSOR = 4
_MIN_IN_FLIGHT = 8
_PAGES = Pages()
# Whoever has no key yet sends one, and where to go from there.
_SIGN_IN_BYTES = 8 * 1024
_RULES = (
    BodyRule(_PAGES.are_open, _SIGN_IN_BYTES, None),
    # A page's form is no JSON.
    BodyRule(_PAGES.applies, MAX_BODY_BYTES, None),
    BodyRule(takes_archive, None),
    BodyRule(takes_chat, MAX_CHAT_BYTES, MAX_CHAT_VALUES),
    BodyRule(takes_mcp, MAX_BODY_BYTES, None),
)


def wire_entrance(app: FastAPI, runtime: Runtime) -> LoadMetrics:
    """Put the entrance before an application's routes, and give what counts what it refuses.

    What is added to the application later comes before the entrance.
    """
    settings = runtime.settings
    guard = KeyGuard(runtime.keys, runtime.browser_sessions)
    admission = Admission(admission_limits(settings))
    memory = BodyMemory(settings.max_body_memory_bytes, settings.max_body_memory_bytes_per_key)
    app.add_middleware(Entrance, guard=guard, admission=admission, memory=memory, pages=_PAGES, rules=_RULES)
    return LoadMetrics(runtime, guard, admission, memory)


def admission_limits(settings: Settings) -> AdmissionLimits:
    """How many requests are at work at once. More than there are database connections would wait for one of those."""
    processors = os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count()
    usual = max(1, min(settings.pool_size, max(_MIN_IN_FLIGHT, _IN_FLIGHT_PER_PROCESSOR * (processors or 1))))
    max_running = settings.max_in_flight or usual
    per_key = settings.max_in_flight_per_key or max(1, max_running - max(1, max_running // 8))
    return AdmissionLimits(
        running=max_running,
        running_per_key=min(max_running, per_key),
        waiting=settings.max_waiting,
        answer_seconds=settings.max_answer_seconds,
    )
