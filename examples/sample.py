"""Fills a server with the sample memory: conversations of weeks beside the notes, and what people did since.

All of it goes over HTTP, as an agent's own program would send it. `make demo` shows it, and so do the screenshots.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from reverie_client import AgentMemory, Reverie

AGENT, PERSON = "wren", "user:rhona"
# What a server waits for in daily use, so that a person need not.
AT_ONCE = {
    "REVERIE_EXTRACTION_COOLDOWN_SECONDS": "0",
    "REVERIE_FACTS_DEBOUNCE_SECONDS": "0.5",
    "REVERIE_DREAMING_DEBOUNCE_SECONDS": "1",
}
CONVERSATIONS = Path(__file__).with_name("conversations.toml")
# Two notes of one day that cannot both be right: nothing says which came later.
BUDGETS = {
    "memory/2026-11-09.md": "# 2026-11-09\n\n- The kitchen budget is 4,300 euros.\n- Grout on Saturday.\n",
    "memory/2026-11-09-02.md": "# 2026-11-09\n\n- The kitchen budget is 4,600 euros.\n",
}
TODAY = "web:today"
QUESTIONS = (
    ("What time do we rehearse, and where?", "On Mondays, in the parish hall."),
    ("Where is the spare hardware token?", "At home, in your desk."),
    ("When does the depot call start?", "At 09:15."),
    ("What must Mali not eat at school?", "Cashew and pistachio."),
    ("Which size has the extractor filter?", "26.5 by 30.5 cm."),
)
PHONE_NUMBER = "0151 5550 1234"
_DEADLINE_SECONDS = 300.0


def fill(reverie: Reverie, today: datetime | None = None) -> None:
    """Add conversations, and what people do, to a server that has the notes.

    What follows from them in the background is done when it returns; TimeoutError where that takes minutes.
    """
    midnight = (today or datetime.now(UTC)).replace(hour=0, minute=0, second=0, microsecond=0)
    rhona = reverie.agent(AGENT, owner_key=PERSON)
    for path, content in BUDGETS.items():
        rhona.write(path, content)
    people = {PERSON: rhona}
    for conversation in tomllib.loads(CONVERSATIONS.read_text(encoding="utf-8"))["conversation"]:
        owner = conversation["owner"]
        memory = people.setdefault(owner, reverie.agent(AGENT, owner_key=owner))
        memory.add_messages(conversation["session"], list(_messages(conversation, midnight)))
        memory.complete_session(conversation["session"])
    for memory in people.values():
        _wait(memory)
    _live(rhona)


def _messages(conversation: dict[str, Any], midnight: datetime) -> Iterator[dict[str, Any]]:
    """The messages of a conversation, two minutes apart."""
    at = midnight - timedelta(days=conversation["days_ago"]) + timedelta(hours=conversation["at"])
    for number, line in enumerate(conversation["talk"].strip().splitlines()):
        speaker, _, content = line.partition(": ")
        role = "user" if speaker == "user" else "assistant"
        yield {"role": role, "content": content, "at": at + timedelta(minutes=2 * number)}


def _live(memory: AgentMemory) -> None:
    """What a person and their agent do with a memory: ask, rate, confirm, rewrite, forget, and sleep on it."""
    for question, answer in QUESTIONS:
        memory.context(question, session_id=TODAY, system_prompt="You are Wren. Be brief.")
        said = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
        memory.add_messages(TODAY, said)
    for number, fact in enumerate(memory.facts(state="current")):
        if number == 0:
            memory.confirm_fact(fact.id)
        elif number < 3:
            memory.rate_fact(fact.id, "helpful")
        else:
            break
    memory.append("projects/kitchen.md", "\n- Worktop oiled again, twice a year from now on.\n")
    found = memory.forget(query=f"phone number {PHONE_NUMBER}")
    chosen = [item.id for item in found.items if PHONE_NUMBER in item.text]
    memory.forget(query=f"phone number {PHONE_NUMBER}", items=chosen, dry_run=False)
    memory.run_emergence()
    memory.run_focused("the band and its rehearsals")
    _wait(memory)


def _wait(memory: AgentMemory) -> None:
    """Wait until nothing of the memory waits to be done."""
    until = time.monotonic() + _DEADLINE_SECONDS
    while time.monotonic() < until:
        if memory.summary().open_jobs == 0:
            return
        time.sleep(0.2)
    raise TimeoutError(f"the background work of {memory.owner_key} is not done after {_DEADLINE_SECONDS:.0f} s")
