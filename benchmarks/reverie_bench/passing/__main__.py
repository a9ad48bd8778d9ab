"""What a server knows of the lives: `python -m reverie_bench.passing --url URL [--life NAME] [--show]`.

The server has to answer without keys and to extract at once (`REVERIE_EXTRACTION_COOLDOWN_SECONDS=0`). Each life has an
agent of its own, which is deleted after it. `--show` prints what is missing, the facts, and PROFILE.md.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import httpx

from reverie_bench.passing import PassingLife, passing_lives
from reverie_bench.passing.count import found_in, holding, of_answer, of_knowledge

_OWNER = "user:1"
_APART, _WAIT_SECONDS, _MOST_SECONDS = timedelta(minutes=3), 0.3, 300.0


def main() -> None:
    """Live the lives and print what became of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--life", action="append")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    total: Counter[str] = Counter()
    with httpx.Client(base_url=f"{arguments.url}/api/v1", timeout=180) as client:
        for life in passing_lives():
            if arguments.life is None or life.name in arguments.life:
                counts = _lived(client, life, show=arguments.show)
                print(f"{life.name}: {_figures(counts)}", flush=True)
                total += counts
    print(f"all: {_figures(total)}")


def _figures(counts: Counter[str]) -> str:
    shares = ("facts", "over", "others", "profile", "injected", "superseded")
    of = ", ".join(f"{name} {counts[name]} of {counts[f'{name} of']}" for name in shares)
    return f"{of}; {counts['current facts']} facts, {counts['lines'] / counts['injected of']:.1f} lines a question"


def _lived(client: httpx.Client, life: PassingLife, *, show: bool) -> Counter[str]:
    agent = f"/agents/passing-{life.name.replace('_', '-')}"
    client.put(agent, json={"settings": {"language": life.language}}).raise_for_status()
    for number, session in enumerate(life.sessions):
        _say(client, f"{agent}/sessions/web:{number}", session.at, session.messages)
        _wait(client, agent)
    facts = holding(_facts(client, agent))
    found = client.get(f"{agent}/files/PROFILE.md", params={"owner_key": _OWNER})
    profile = found.json()["content"].lower() if found.status_code == httpx.codes.OK else ""
    counts = of_knowledge(life, facts, profile)
    for question in life.questions:
        body = {"owner_key": _OWNER, "message": question.ask}
        section = client.post(f"{agent}/memory/inject", json=body).raise_for_status().json()["section"]
        answer = of_answer(question, section)
        counts += answer
        if show and (not answer["injected"] or answer["superseded"]):
            print(
                f"  {question.ask}: {'' if answer['injected'] else 'not injected'} "
                f"{'superseded' if answer['superseded'] else ''}"
            )
    if show:
        known = found_in(life.facts, facts)
        print(f"  missing: {[value for value in life.facts if value not in known]}")
        print(f"  over: {found_in(life.over, facts)}\n  others: {found_in(life.others, facts)}")
        print(*(f"  {line}" for line in [*facts, *profile.splitlines()] if line), sep="\n")
    client.delete(agent).raise_for_status()
    return counts


def _say(client: httpx.Client, path: str, at: Any, messages: Sequence[tuple[str, str]]) -> None:
    body = []
    for number, (text, answer) in enumerate(messages):
        said_at = at + number * _APART
        body.append({"role": "user", "content": text, "at": said_at.isoformat()})
        body.append({"role": "assistant", "content": answer, "at": (said_at + _APART / 3).isoformat()})
    client.post(f"{path}/messages", json={"owner_key": _OWNER, "messages": body}).raise_for_status()
    client.post(f"{path}/complete", json={"owner_key": _OWNER, "trigger_source": "web"}).raise_for_status()


def _wait(client: httpx.Client, agent: str) -> None:
    """Wait until nothing is in work. TimeoutError where something stays so."""
    end = time.monotonic() + _MOST_SECONDS
    while busy := [name for name, stage in _stages(client, agent).items() if stage["pending"] or stage["running"]]:
        if time.monotonic() > end:
            raise TimeoutError(f"after {_MOST_SECONDS:.0f} seconds there is work for {', '.join(busy)}")
        time.sleep(_WAIT_SECONDS)


def _stages(client: httpx.Client, agent: str) -> dict[str, dict[str, Any]]:
    found = client.get(f"{agent}/pipeline", params={"owner_key": _OWNER}).raise_for_status()
    return {name: {"pending": 0, "running": 0, **stage} for name, stage in found.json()["stages"].items()}


def _facts(client: httpx.Client, agent: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    while True:
        parameters: dict[str, str | int] = {"owner_key": _OWNER, "limit": 200, **cursor}
        page = client.get(f"{agent}/facts", params=parameters).raise_for_status().json()
        found += page["facts"]
        if not page.get("next_cursor"):
            return found
        cursor = {"cursor": page["next_cursor"]}


if __name__ == "__main__":
    main()
