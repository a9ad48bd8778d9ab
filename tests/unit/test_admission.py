"""Requests at work are limited, keys take turns, and whoever cannot be served in time is told so."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from reverie_indexer.errors import Overloaded, ReverieError, TooManyRequests
from reverie_server.access.work_slot import current, without_slot
from reverie_server.http.admission import Admission, AdmissionLimits, Slot


def admission(running: int = 2, per_key: int = 2, waiting: int = 4, wait_seconds: float = 5.0) -> Admission:
    return Admission(AdmissionLimits(running, per_key, waiting, wait_seconds))


async def waiting(room: Admission, *keys: str) -> list[asyncio.Task[Slot]]:
    tasks = [asyncio.create_task(room.enter(key), name=key) for key in keys]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return tasks


async def refusal(task: asyncio.Task[Slot]) -> type[ReverieError]:
    with pytest.raises(ReverieError) as refused:
        await task
    return type(refused.value)


async def test_so_many_are_at_work_and_the_next_has_its_turn_when_one_leaves() -> None:
    room = admission()
    first, second = await room.enter("a"), await room.enter("b")
    (third,) = await waiting(room, "c")
    assert (room.running, room.waiting, third.done()) == (2, 1, False)
    first.leave()
    slot = await third
    assert (room.running, room.waiting) == (2, 0)
    second.leave()
    slot.leave()
    slot.leave()
    assert room.running == 0, "leaving twice is leaving once"


async def test_one_key_never_has_all_slots() -> None:
    room = admission(running=4, per_key=3)
    mine = [await room.enter("a") for _ in range(3)]
    (fourth,) = await waiting(room, "a")
    other = await asyncio.wait_for(room.enter("b"), 1)
    assert not fourth.done()
    mine[0].leave()
    (await fourth).leave()
    for slot in (*mine[1:], other):
        slot.leave()
    assert room.running == 0


async def test_keys_take_turns_however_many_of_one_wait() -> None:
    room = admission(running=1, per_key=1, waiting=10)
    slot = await room.enter("a")
    tasks = await waiting(room, "a", "a", "a", "a", "b", "c")
    order = []
    for _ in tasks:
        slot.leave()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        (done,) = [task for task in tasks if task.done()]
        tasks.remove(done)
        order.append(done.get_name())
        slot = done.result()
    assert order.index("b") <= 2
    assert order.index("c") <= 2
    slot.leave()


async def test_over_the_limit_of_the_room_a_request_is_refused_at_once() -> None:
    room = admission(running=1, per_key=1, waiting=2)
    slot = await room.enter("a")
    tasks = await waiting(room, "a", "a")
    with pytest.raises(Overloaded):
        await asyncio.wait_for(room.enter("a"), 0.2)
    assert room.refused == Counter(overloaded=1)
    slot.leave()
    for task in tasks:
        (await task).leave()


async def test_who_fills_the_room_makes_room_for_another_key() -> None:
    room = admission(running=1, per_key=1, waiting=3)
    slot = await room.enter("a")
    tasks = await waiting(room, "a", "a", "a")
    (other,) = await waiting(room, "b")
    assert await refusal(tasks[-1]) in (TooManyRequests, Overloaded)
    slot.leave()
    for task in (tasks[0], other, tasks[1]):
        (await asyncio.wait_for(task, 1)).leave()
    assert (room.running, room.waiting) == (0, 0)


async def test_who_has_waited_long_enough_is_refused() -> None:
    room = admission(running=1, per_key=1, wait_seconds=0.05)
    slot = await room.enter("a")
    (task,) = await waiting(room, "a")
    assert await refusal(task) is Overloaded
    assert room.waiting == 0
    slot.leave()


async def test_who_goes_away_while_waiting_takes_no_slot_along() -> None:
    room = admission(running=1, per_key=1)
    slot = await room.enter("a")
    gone, stays = await waiting(room, "a", "a")
    gone.cancel()
    slot.leave()
    second = await asyncio.wait_for(stays, 1)
    third, fourth = await waiting(room, "a", "a")
    second.leave()
    # Its turn has come and it does not know it yet.
    third.cancel()
    (await asyncio.wait_for(fourth, 1)).leave()
    assert (room.running, room.waiting) == (0, 0)


async def test_who_waits_for_a_model_needs_no_slot() -> None:
    room = admission(running=1, per_key=1)
    slot = await room.enter("a")
    current.set(slot)
    with without_slot(), without_slot():
        other = await asyncio.wait_for(room.enter("b"), 1)
        assert room.running == 1
    assert room.running == 2, "what was at work goes on"
    other.leave()
    slot.leave()
    with without_slot():
        assert room.running == 0
    assert room.running == 0, "what goes on after the request has no slot to give or take"


async def test_a_body_that_has_come_waits_for_its_turn_again() -> None:
    room = admission(running=1, per_key=1, wait_seconds=0.05)
    slot = await room.enter("a")
    slot.pause()
    other = await room.enter("b")
    with pytest.raises(TooManyRequests):
        await slot.resume_when_free()
    other.leave()
    slot.leave()
    assert (room.running, room.waiting) == (0, 0)
    again = await room.enter("a")
    again.pause()
    await again.resume_when_free()
    assert room.running == 1
    again.leave()
    assert room.running == 0


def test_the_patience_follows_what_requests_usually_take_and_not_the_first_ones() -> None:
    room = admission(wait_seconds=2.0)
    for _ in range(15):
        room.note_work(1.0)
    assert room.wait_seconds == 2.0, "a process that has just started is slow"
    for _ in range(32):
        room.note_work(0.1)
    room.note_work(2.0)
    assert room.wait_seconds == pytest.approx(1.8), "one slow request says nothing of the next"
    for _ in range(32):
        room.note_work(9.0)
    assert room.wait_seconds == pytest.approx(0.4), "somebody waits a fifth of the time all the same"


async def test_slots_add_up_whatever_happens() -> None:
    room = admission(running=3, per_key=2, waiting=20, wait_seconds=0.02)
    most = 0

    async def work(number: int) -> str:
        nonlocal most
        try:
            slot = await room.enter("abc"[number % 3])
        except ReverieError as error:
            return error.code
        most = max(most, room.running)
        await asyncio.sleep(0.001 * (number % 7))
        if number % 5 == 0:
            slot.pause()
            await asyncio.sleep(0)
            try:
                await slot.resume_when_free()
            except ReverieError as error:
                return error.code
        slot.leave()
        return "done"

    tasks = [asyncio.create_task(work(number)) for number in range(300)]
    for task in tasks[::11]:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert most <= 3
    assert "done" in results
    assert (room.running, room.waiting) == (0, 0)
