"""A breaker opens on failures in a row, lets one call at a time find out whether it may close, and closes by itself."""

from __future__ import annotations

from reverie_indexer.breaker import Breaker


class Clock:
    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


def test_failures_in_a_row_open_it_and_a_success_between_them_does_not() -> None:
    breaker = Breaker(failures=3, pause_seconds=10, clock=Clock())
    for _ in range(5):
        breaker.fail()
        breaker.fail()
        breaker.succeed()
    assert (breaker.state, breaker.wait_seconds()) == ("closed", 0.0)
    for _ in range(3):
        breaker.fail()
    assert (breaker.state, breaker.wait_seconds(), breaker.opened) == ("open", 10.0, 1)


def test_one_time_out_is_enough() -> None:
    breaker = Breaker(clock=Clock())
    breaker.fail(timed_out=True)
    assert breaker.state == "open"


def test_after_the_pause_one_call_finds_out_and_each_failure_makes_the_pause_longer() -> None:
    clock = Clock()
    breaker = Breaker(pause_seconds=10, longest_pause_seconds=30, clock=clock)
    breaker.fail(timed_out=True)
    for pause in (10, 20, 30, 30):
        assert breaker.wait_seconds() == pause
        clock.now += pause
        assert breaker.state == "half_open"
        assert breaker.wait_seconds() == 0
        assert breaker.wait_seconds() > 0, "one at a time"
        breaker.fail()
    clock.now += 30
    assert breaker.wait_seconds() == 0
    breaker.succeed()
    assert (breaker.state, breaker.wait_seconds()) == ("closed", 0.0)


def test_a_probe_that_is_given_up_leaves_its_place_to_the_next() -> None:
    clock = Clock()
    breaker = Breaker(clock=clock)
    breaker.fail(timed_out=True)
    clock.now += 10
    assert breaker.wait_seconds() == 0
    breaker.give_up()
    assert breaker.wait_seconds() == 0


def test_calls_that_were_under_way_when_it_opened_make_no_pause_longer() -> None:
    clock = Clock()
    breaker = Breaker(pause_seconds=10, clock=clock)
    for _ in range(8):
        breaker.fail(timed_out=True)
    assert (breaker.wait_seconds(), breaker.opened) == (10.0, 1)
