"""Work that begins again when others were faster, and gives up when they always are."""

from __future__ import annotations

import pytest

from reverie_indexer.errors import Conflict
from reverie_indexer.retry import Superseded, until_stable


class Inner(Superseded):
    """Of an attempt inside another."""


async def test_the_first_attempt_that_nobody_supersedes_gives_the_result() -> None:
    attempts = iter([Superseded, Superseded, None])

    async def attempt() -> str:
        if (error := next(attempts)) is not None:
            raise error
        return "done"

    assert await until_stable(attempt, attempts=3, what="the note") == "done"


async def test_after_so_many_attempts_it_is_a_conflict_that_says_what_changed() -> None:
    async def attempt() -> None:
        raise Superseded

    with pytest.raises(Conflict, match="others changed the note 3 times"):
        await until_stable(attempt, attempts=3, what="the note")


async def test_any_other_error_ends_it_at_once() -> None:
    count = 0

    async def attempt() -> None:
        nonlocal count
        count += 1
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await until_stable(attempt, attempts=3, what="the note")
    assert count == 1


async def test_what_supersedes_the_outer_attempt_is_not_tried_again_by_the_inner_one() -> None:
    inner_count = 0

    async def inner() -> None:
        nonlocal inner_count
        inner_count += 1
        raise Superseded

    async def outer() -> None:
        await until_stable(inner, attempts=5, what="the diary", on=Inner)

    with pytest.raises(Conflict, match="the memory 2 times"):
        await until_stable(outer, attempts=2, what="the memory")
    assert inner_count == 2
