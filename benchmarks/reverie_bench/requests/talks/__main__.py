"""What of the talks a server forgets: `python -m reverie_bench.requests.talks --url URL [--held] [--long]`.

Those that only serve to learn from are left out, unless `--long` asks for talks of ten days. The server has to answer
without keys. Each talk has an agent of its own, which is deleted after it. Printed are what was forgotten of what was
meant, what went though it should have stayed, and the talks that went wrong, unless they are held back.
"""

from __future__ import annotations

import argparse
from collections import Counter
from datetime import UTC, datetime, timedelta

import httpx

from reverie_bench.requests.talks import FIRST_TALKS, LANGUAGES, Talk, talks

_OWNER = "user:1"
_BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)


def main() -> None:
    """Have the talks and print what became of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--held", action="store_true")
    parser.add_argument("--long", action="store_true")
    arguments = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    with httpx.Client(base_url=f"{arguments.url}/api/v1", timeout=120) as client:
        for talk in talks():
            is_wanted = talk.is_long if arguments.long else talk.number < FIRST_TALKS
            if talk.is_held != arguments.held or not is_wanted:
                continue
            kept = _kept(client, talk)
            left = [text for text in talk.meant if text in kept]
            gone = [text for text in talk.others if text not in kept]
            counts[talk.language, "meant"] += len(talk.meant)
            counts[talk.language, "forgotten"] += len(talk.meant) - len(left)
            counts[talk.language, "others"] += len(talk.others)
            counts[talk.language, "gone"] += len(gone)
            if (left or gone) and not arguments.held:
                print(f"{talk.name} {talk.about}: left {left}, gone {gone}")
    for language in LANGUAGES:
        of_language = {name: count for (each, name), count in counts.items() if each == language}
        print("{}: {forgotten} of {meant} forgotten; {gone} of {others} others gone".format(language, **of_language))


def _kept(client: httpx.Client, talk: Talk) -> str:
    """What is left of a talk at its end."""
    agent = f"/agents/talk-{talk.name}"
    client.put(agent, json={"settings": {"language": talk.language}}).raise_for_status()
    for number, message in enumerate(talk.messages):
        at = _BEGIN + timedelta(days=message.day, minutes=number)
        body = {"role": message.role, "content": message.text, "at": at.isoformat()}
        path = f"{agent}/sessions/day-{message.day}/messages"
        client.post(path, json={"owner_key": _OWNER, "messages": [body]}).raise_for_status()
    kept = []
    for day in sorted({message.day for message in talk.messages}):
        page = client.get(f"{agent}/sessions/day-{day}/messages", params={"owner_key": _OWNER, "limit": 200})
        kept += [message["content"] for message in page.raise_for_status().json()["messages"]]
    client.delete(agent).raise_for_status()
    return "\n".join(kept)


if __name__ == "__main__":
    main()
