"""What of the talks a server keeps: `python -m reverie_bench.requests.keeping --url URL [--held]`.

The server has to answer without keys. Each talk has an agent of its own, which is deleted after it. Its conversations
are extracted one after the other; printed are what MEMORY.md then has of what was asked to be kept, what it has of
sentences that only sound like it, and the talks that went wrong, unless they are held back.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from datetime import UTC, datetime, timedelta

import httpx

from reverie_bench.requests.talks import LANGUAGES, Talk, keeping

_OWNER = "user:1"
_BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)
_WORD = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]|[^\\W\u3400-\u4dbf\u4e00-\u9fff]+")
# A line has a statement that has so many of its words: it may be without a beginning, or say "her" for "my sister".
_SHARE = 0.75


def main() -> None:
    """Have the talks and print what became of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--held", action="store_true")
    arguments = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    with httpx.Client(base_url=f"{arguments.url}/api/v1", timeout=120) as client:
        for talk in keeping():
            if talk.is_held != arguments.held:
                continue
            lines = _memory(client, talk)
            lost = [text for text in talk.meant if not _is_in(text, lines)]
            idle = [said.text for said in talk.said if "none" in said.marks and not said.asks]
            wrong = [text for text in idle if _is_in(text, lines)]
            counts[talk.language, "meant"] += len(talk.meant)
            counts[talk.language, "kept"] += len(talk.meant) - len(lost)
            counts[talk.language, "idle"] += len(idle)
            counts[talk.language, "wrong"] += len(wrong)
            counts[talk.language, "lines"] += len(lines)
            if (lost or wrong) and not arguments.held:
                print(f"{talk.name} {talk.about}: lost {lost}, wrong {wrong}, lines {lines}")
    for language in LANGUAGES:
        of_language = {name: count for (each, name), count in counts.items() if each == language}
        print(
            "{}: {kept} of {meant} kept; {wrong} of {idle} idle ones kept; {lines} lines".format(
                language, **of_language
            )
        )


def _memory(client: httpx.Client, talk: Talk) -> list[str]:
    """The lines of MEMORY.md at the end of a talk."""
    agent = f"/agents/keep-{talk.name}"
    client.put(agent, json={"settings": {"language": talk.language}}).raise_for_status()
    for day in sorted({message.day for message in talk.messages}):
        body = [
            {"role": each.role, "content": each.text, "at": (_BEGIN + timedelta(days=day, minutes=number)).isoformat()}
            for number, each in enumerate(talk.messages)
            if each.day == day
        ]
        path = f"{agent}/sessions/day-{day}/messages"
        client.post(path, json={"owner_key": _OWNER, "messages": body}).raise_for_status()
        path = f"/memory/keep-{talk.name}/summarize/day-{day}"
        client.post(path, json={"owner_key": _OWNER}).raise_for_status()
    found = client.get(f"{agent}/files/MEMORY.md", params={"owner_key": _OWNER})
    client.delete(agent).raise_for_status()
    text = found.json()["content"] if found.status_code == httpx.codes.OK else ""
    return [line for line in text.splitlines() if line.startswith("- ")]


def _is_in(text: str, lines: list[str]) -> bool:
    words = set(_WORD.findall(text.casefold()))
    return any(len(words & set(_WORD.findall(line.casefold()))) >= _SHARE * len(words) for line in lines)


if __name__ == "__main__":
    main()
