"""The replay of the prompt benchmark: what is replayed, and the figure worked out by hand."""

from __future__ import annotations

import pytest

from reverie_bench.data import Collection, Unit
from reverie_bench.prompt.replay import made_up, of_conversation, rendered, repeated
from reverie_indexer.errors import ValidationFailed


def test_the_repeated_share_is_that_of_the_common_beginning() -> None:
    found = repeated([b"aaaa", b"aabb", b"aabbcccc"])
    assert found.mean_share == (2 / 4 + 4 / 8) / 2
    assert found.share == (2 + 4) / (4 + 8)


def test_a_prompt_that_is_all_of_the_one_before_repeats_as_far_as_that_goes() -> None:
    assert repeated([b"abcdef", b"abc"]).share == 1.0
    assert repeated(["ä".encode(), "ö".encode()]).share == 0.5, "bytes are counted"


@pytest.mark.parametrize("prompts", [[], [b"one"]])
def test_one_prompt_repeats_none(prompts: list[bytes]) -> None:
    with pytest.raises(ValidationFailed):
        repeated(prompts)


def test_a_prompt_is_rendered_in_the_order_in_which_it_is_read() -> None:
    said = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
    assert rendered("Be kind.", said) == b"Be kind.\n\nuser: Hi.\n\nassistant: Hello."


def test_a_conversation_is_replayed_from_its_end_on_the_memory_of_the_days_before() -> None:
    days = ("2026-01-01", "2026-01-02", "2026-01-03")
    units = [Unit(f"memory/{day}.md", n, n, f"Ada: {day} {n}") for day in days for n in (1, 2)]
    collection = Collection({f"memory/{day}.md": f"# {day}" for day in days}, units, [])
    replay = of_conversation(collection, 2)
    assert list(replay.files) == ["memory/2026-01-01.md"]
    assert replay.exchanges == [("2026-01-02 1", "2026-01-02 2"), ("2026-01-03 1", "2026-01-03 2")]
    with pytest.raises(ValidationFailed):
        of_conversation(collection, 3)


def test_made_up_turns_are_decided_by_their_seed_and_ask_about_memory() -> None:
    replay = made_up(1, 30)
    assert replay == made_up(1, 30)
    assert replay != made_up(2, 30)
    assert len(set(replay.exchanges)) == 30
    memory = "\n".join(replay.files.values())
    assert all(user.partition("When was it that ")[2].removesuffix("?") in memory for user, _ in replay.exchanges)
