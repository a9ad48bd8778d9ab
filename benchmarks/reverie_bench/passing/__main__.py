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

_OWNER = "user:1"
_APART, _WAIT_SECONDS = timedelta(minutes=3), 0.3
# Facts that say that something is over.
_ENDS = ("no_longer_", "quit", "left", "ended", "broke up")
_MOST_CHARS = 60
_LINE = "- ("


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
        while any(stage["pending"] or stage["running"] for stage in _stages(client, agent)):
            time.sleep(_WAIT_SECONDS)
    facts = [_text_of(fact) for fact in _facts(client, agent) if _holds(fact)]
    found = client.get(f"{agent}/files/PROFILE.md", params={"owner_key": _OWNER})
    profile = found.json()["content"].lower() if found.status_code == httpx.codes.OK else ""
    counts: Counter[str] = Counter({"current facts": len(facts)})
    for name, values in (("facts", life.facts), ("over", life.over), ("others", life.others)):
        has = [value for value in values if any(value in fact for fact in facts)]
        counts += Counter({name: len(has), f"{name} of": len(values)})
        if show:
            print(f"  {name}: {[value for value in values if (value in has) != (name == 'facts')]}")
    counts += Counter({"profile": sum(value in profile for value in life.profile), "profile of": len(life.profile)})
    counts += _asked(client, agent, life, show=show)
    if show:
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


def _stages(client: httpx.Client, agent: str) -> Sequence[dict[str, Any]]:
    found = client.get(f"{agent}/pipeline", params={"owner_key": _OWNER}).raise_for_status()
    return [{"pending": 0, "running": 0, **stage} for stage in found.json()["stages"].values()]


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


def _holds(fact: dict[str, Any]) -> bool:
    is_short = len(fact["object"]) < _MOST_CHARS
    return fact["state"] == "current" and is_short and not fact["predicate"].startswith(_ENDS)


def _text_of(fact: dict[str, Any]) -> str:
    return f"{fact['subject']} {fact['predicate']} {fact['object']}".lower()


def _asked(client: httpx.Client, agent: str, life: PassingLife, *, show: bool) -> Counter[str]:
    """How often an answer is injected, and a superseded one in a line that is not marked and has no current one."""
    counts: Counter[str] = Counter()
    for question in life.questions:
        body = {"owner_key": _OWNER, "message": question.ask}
        section = client.post(f"{agent}/memory/inject", json=body).raise_for_status().json()["section"].lower()
        lines = [line for line in section.splitlines() if line.startswith(_LINE)]
        is_injected = any(value in section for value in question.current)
        is_old = any(
            any(value in line for value in question.superseded)
            and "(until" not in line
            and not any(value in line for value in question.current)
            for line in lines
        )
        counts += Counter({"injected": is_injected, "injected of": 1, "lines": len(lines)})
        if question.superseded:
            counts += Counter({"superseded": is_old, "superseded of": 1})
        if show and (not is_injected or is_old):
            print(f"  {question.ask}: {'' if is_injected else 'not injected'} {'superseded' if is_old else ''}")
    return counts


if __name__ == "__main__":
    main()
