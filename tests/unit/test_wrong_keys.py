"""Wrong keys of an address are slowed down more and more; addresses are forgotten, and so is the past of each."""

from __future__ import annotations

from reverie_server.access.wrong_keys import FREE_ATTEMPTS, Attempts, address_of


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_after_some_wrong_keys_each_further_one_takes_twice_as_long() -> None:
    clock = Clock()
    attempts = Attempts(clock)
    for _ in range(FREE_ATTEMPTS - 1):
        attempts.fail("192.0.2.1")
        assert attempts.wait_seconds("192.0.2.1") == 0
    waits = []
    for _ in range(9):
        attempts.fail("192.0.2.1")
        waits.append(attempts.wait_seconds("192.0.2.1"))
        clock.now += waits[-1]
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert attempts.wait_seconds("192.0.2.2") == 0
    clock.now += 601
    attempts.fail("192.0.2.1")
    assert attempts.wait_seconds("192.0.2.1") == 0


def test_no_number_of_addresses_fills_the_memory() -> None:
    attempts = Attempts(Clock())
    for number in range(10_000):
        attempts.fail(f"address {number}")
    assert len(attempts._failures) == 4096


def test_an_address_is_what_one_client_has() -> None:
    assert address_of("192.0.2.1") == address_of("::ffff:192.0.2.1") == "192.0.2.1"
    assert address_of("2001:db8::1") == address_of("2001:db8::ffff") == "2001:db8::/64"
    assert address_of("fe80::1%eth0") == "fe80::/64"
    assert address_of(None) == address_of("a.socket") == "unknown"
