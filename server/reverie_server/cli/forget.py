"""`reverie forget`: shows what would go, word for word, then takes out what is chosen."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from reverie_indexer.errors import ValidationFailed
from reverie_server.cli.frame import AgentName, DataDir, OwnerKey, load_settings, owner_of, run

if TYPE_CHECKING:
    from reverie_server.forgettable import Item
    from reverie_server.settings.server import Settings

_ALL = "all"


def forget(
    what: Annotated[str, typer.Argument(help="What it is about; with --text the very words.")],
    agent: AgentName,
    owner: OwnerKey = None,
    is_text: Annotated[bool, typer.Option("--text", help="Take these very words out, wherever they stand.")] = False,
    items: Annotated[
        list[str] | None, typer.Option("--item", help="The id of a text to take out, as listed before; repeat it.")
    ] = None,
    is_sure: Annotated[bool, typer.Option("--yes", help="With --text: do it without asking.")] = False,
    data_dir: DataDir = None,
) -> None:
    """List what memory holds of something, and take out of every store, with its history, what you choose."""
    if is_text and items:
        raise ValidationFailed("--item chooses of what a search lists; with --text everything goes that has the words")
    run(_forget(load_settings(data_dir=data_dir), what, agent, owner, items, is_text=is_text, is_sure=is_sure))


async def _forget(
    settings: Settings,
    what: str,
    agent: str,
    owner: str | None,
    items: Sequence[str] | None,
    *,
    is_text: bool,
    is_sure: bool,
) -> None:
    from reverie_indexer.file_rules import check_agent_id
    from reverie_server.access.keys import OPERATOR
    from reverie_server.app.wiring import open_runtime
    from reverie_server.forgetting.selection import Target

    async with open_runtime(settings) as runtime:
        grant, place = await runtime.gate.write(OPERATOR, check_agent_id(agent), owner_of(owner), None, action="forget")
        await runtime.models.wait()
        target = Target(text=what) if is_text else Target(query=what)
        if items is None and not (is_text and is_sure):
            preview = await runtime.forgetting.forget(grant, place, target, dry_run=True)
            items = _chosen(preview.items, is_text=is_text)
            if items is None:
                return
        final = target if is_text else Target(items=tuple(items or ()))
        receipt = await runtime.forgetting.forget(grant, place, final, dry_run=False)
    if not receipt.items:
        print("nothing found")
        return
    named = f", receipt {receipt.receipt_id}" if receipt.receipt_id else ""
    print(f"forgotten: {len({item.text for item in receipt.items})} in {len(receipt.items)} places{named}")
    for path in receipt.still_shared:
        print(f"a shared file still has it: {path}")


def _chosen(found: Sequence[Item], *, is_text: bool) -> list[str] | None:
    """The ids of what a person chooses of a list; None where nothing is to go, or nobody is there to be asked."""
    if not found:
        print("nothing found")
        return None
    by_text: dict[str, list[str]] = {}
    places: dict[str, list[str]] = {}
    for item in found:
        by_text.setdefault(item.text, []).append(item.id)
        places.setdefault(item.text, []).append(item.path)
    for number, text in enumerate(by_text, 1):
        print(f"{number}. {text}\n   in {', '.join(dict.fromkeys(places[text]))}")
        if not sys.stdin.isatty():
            print(f"   {' '.join(f'--item {each}' for each in by_text[text])}")
    if not sys.stdin.isatty():
        print("nothing was taken out: " + ("repeat it with --yes" if is_text else "repeat it with --item"))
        return None
    if is_text:
        return [] if typer.confirm("Take all of it out, for good?") else None
    answer = typer.prompt("Which of them, for good? Numbers, all, or nothing", default="", show_default=False).strip()
    return _ids_of(answer, list(by_text.values()))


def _ids_of(answer: str, ids: Sequence[Sequence[str]]) -> list[str] | None:
    """The ids that an answer such as `1 3` or `all` chooses; None for none. ValidationFailed for any other number."""
    if answer == _ALL:
        return [each for of_text in ids for each in of_text]
    numbers = answer.replace(",", " ").split()
    if not all(number.isdecimal() and 1 <= int(number) <= len(ids) for number in numbers):
        raise ValidationFailed(f"answer with numbers from 1 to {len(ids)}, or all")
    return [each for number in numbers for each in ids[int(number) - 1]] or None
