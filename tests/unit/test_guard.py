"""The guard over files that a model proposes to replace whole."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.memories import texts

from reverie_server.long_term.guard import FREE_CHARS, GuardRules, check
from reverie_server.provenance.record import added_lines, entry_lines, line_sha256
from reverie_server.text.markdown_blocks import blocks_of, folded, text_of
from reverie_server.text.markdown_edit import lines_of
from reverie_server.text.redact import essence

SETTINGS = settings(max_examples=150)
RULES = GuardRules()
MACHINE = [f"- The project number {n} is written in a language of its own.\n" for n in range(8)]
MEMORY = "# Long-term Memory\n\n## Preferences\n\n- Prefers tea to coffee.\n\n## Projects\n\n" + "".join(MACHINE)


def is_machine(line: str) -> bool:
    return "project number" in line


def nobody(line: str) -> bool:
    return False


def everybody(line: str) -> bool:
    return True


def entries(text: str) -> set[str]:
    lines = lines_of(text)
    found = {folded(text_of(b, lines)) for b in blocks_of(text) if b.kind not in ("heading", "front_matter")}
    return found - {""}


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("after", "reason"),
        [
            ("# Long-term Memory\n\n- Tea.\n", "under 50 characters"),
            (MEMORY.replace("# Long-term Memory", "# Memory of the user"), "lacks the header"),
            (MEMORY.replace("# Long-term Memory", "```\n# Long-term Memory\n```"), "lacks the header"),
            (MEMORY.replace("".join(MACHINE[:3]), ""), "drops 3 of 9 entries"),
            (MEMORY + "- Something new.\n" * 700, "characters; 8000 is the most"),
            (MEMORY + "- Something new.\n" * 30, "the result grows from"),
            (MEMORY[: len(MEMORY) // 2], "drops"),
        ],
        ids=["short", "header", "header in a fence", "loss", "cap", "growth", "tail"],
    )
    def test_a_proposal_that_is_not_to_be_trusted(self, after: str, reason: str) -> None:
        guarded = check(MEMORY, after, RULES, is_machine)
        assert guarded.text is None
        assert reason in guarded.reason
        assert guarded.dropped == ()

    def test_a_small_memory_may_grow_at_once_and_a_large_one_by_half(self) -> None:
        small = "# Long-term Memory\n"
        grown = small + "\n" + "- Fact of the user.\n" * 45
        assert len(grown) < FREE_CHARS
        assert check(small, grown, RULES, is_machine).text == grown
        assert check(small, grown * 2, RULES, is_machine).text is None
        assert check(small, grown * 2, GuardRules(max_growth=None), is_machine).text is not None

    def test_a_memory_over_the_cap_may_shrink_but_not_grow(self) -> None:
        large = MEMORY + "- Something that a person wrote down and that is quite long.\n" * 200
        shorter = large.replace(MACHINE[0], "")
        assert check(large, shorter, RULES, is_machine).text is not None
        assert check(shorter, large, RULES, is_machine).text is None


class TestWhatLeaves:
    def test_machine_made_entries_leave_and_are_told(self) -> None:
        after = MEMORY.replace(MACHINE[2], "").replace(MACHINE[5], "- Everything about five was moved.\n")
        guarded = check(MEMORY, after, RULES, is_machine)
        assert guarded.text == after
        assert [f"- {entry}\n" for entry in guarded.dropped] == [MACHINE[2], MACHINE[5]]

    def test_what_a_contradiction_explains_is_no_loss_but_leaves_all_the_same(self) -> None:
        after = MEMORY.replace("".join(MACHINE[:4]), "")
        explained = frozenset(essence(line) for line in MACHINE[:2])
        guarded = check(MEMORY, after, GuardRules(explained=explained), is_machine)
        assert guarded.text == after
        assert len(guarded.dropped) == 4
        assert check(MEMORY, after, RULES, is_machine).text is None

    def test_an_entry_that_stands_inside_of_another_has_not_left(self) -> None:
        after = MEMORY.replace(MACHINE[0], "").replace(
            MACHINE[1], MACHINE[1].rstrip() + " And: " + MACHINE[0].removeprefix("- ")
        )
        guarded = check(MEMORY, after, RULES, is_machine)
        assert guarded.dropped == ()


class TestWhatAPersonWrote:
    def test_goes_back_below_its_heading(self) -> None:
        after = MEMORY.replace("- Prefers tea to coffee.\n", "")
        assert check(MEMORY, after, RULES, is_machine).text == MEMORY
        without_heading = after.replace("## Preferences\n\n", "")
        guarded = check(MEMORY, without_heading, RULES, is_machine).text
        assert guarded is not None
        assert guarded.endswith("\n\n## Preferences\n\n- Prefers tea to coffee.\n")

    def test_takes_the_place_of_other_words_for_it(self) -> None:
        for other in (
            "- The user prefers tea to coffee now.",
            "- prefers TEA to  coffee",
            "* Prefers tea over coffee.",
        ):
            after = MEMORY.replace("- Prefers tea to coffee.", other)
            assert check(MEMORY, after, RULES, is_machine).text == MEMORY

    def test_stays_once_where_it_stands_twice(self) -> None:
        twice = MEMORY.replace("- Prefers tea to coffee.", "- Prefers tea to coffee in the morning.") + (
            "\n## Notes\n\n- prefers tea to coffee in the Morning.\n"
        )
        after = twice.replace("\n## Notes\n\n- prefers tea to coffee in the Morning.\n", "")
        assert check(twice, after, RULES, is_machine).text == after

    def test_of_several_lines_keeps_all_of_them(self) -> None:
        entry = "- Trip to Oslo:\n  - book the hotel\n  - see the fjord\n"
        before = MEMORY + "\n## Notes\n\n" + entry + "\nA paragraph of hers.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
        after = before.replace("  - see the fjord\n", "").replace("A paragraph of hers.\n\n", "")
        guarded = check(before, after, RULES, is_machine).text
        assert guarded is not None
        assert entry in guarded
        assert entries(guarded) == entries(before)

    def test_stands_below_its_own_subheading_again(self) -> None:
        before = MEMORY + "\n### Apollo\n\n- Due in May.\n\n### Zeus\n\n- Due in June.\n"
        gone = before.replace("\n### Apollo\n\n- Due in May.\n", "")
        assert check(before, gone, RULES, is_machine).text == gone + "\n### Apollo\n\n- Due in May.\n"
        moved = before.replace("- Due in May.\n\n", "")
        assert check(before, moved, RULES, is_machine).text == before

    def test_front_matter_and_line_endings_stay(self) -> None:
        before = f"---\nowner: ada\n---\n\n{MEMORY}".replace("\n", "\r\n")
        guarded = check(before, MEMORY, RULES, is_machine).text
        assert guarded == before

    def test_an_entry_that_is_half_a_persons_is_a_persons(self) -> None:
        before = MEMORY + MACHINE[0].replace("0", "9") + "  but she says it is done\n"
        guarded = check(before, MEMORY, RULES, is_machine)
        assert guarded.text is not None
        assert "but she says it is done" in guarded.text
        assert guarded.dropped == ()


@st.composite
def proposals(draw: st.DrawFn) -> tuple[str, str, Callable[[str], bool]]:
    """A memory, what a model makes of it (loses, doubles, moves, rewords, invents), and which lines are whose."""
    before = draw(texts())
    lines = [line for line in before.splitlines() for _ in range(draw(st.sampled_from([0, 1, 1, 1, 1, 2])))]
    if draw(st.booleans()):
        lines = draw(st.permutations(lines))
    lines = [draw(st.sampled_from([line, line, line, line.upper(), f"- {line} indeed"])) for line in lines]
    after = (
        "# Long-term Memory\n\n" + "\n".join(lines) + "\n" + draw(st.sampled_from(["", "- New fact.\n" * 8, "```\n"]))
    )
    every = draw(st.integers(1, 4))
    return before, after, lambda line: int.from_bytes(line_sha256(line)[:2], "big") % every == 0


class TestAnyProposal:
    @SETTINGS
    @given(proposals(), st.sampled_from([0.25, 1.0]))
    def test_what_a_person_wrote_survives_and_the_caps_hold(
        self, proposed: tuple[str, str, Callable[[str], bool]], max_loss: float
    ) -> None:
        before, after, machine = proposed
        rules = GuardRules(max_loss=max_loss)
        guarded = check(before, after, rules, machine)
        if guarded.text is None:
            assert guarded.reason
            return
        text = guarded.text
        assert len(text) <= max(rules.max_chars, len(before))
        assert len(text) <= max(FREE_CHARS, 1.5 * len(before))
        lines = lines_of(before)
        kept = {folded([line]) for line in lines_of(text)} | entries(text)
        for block in blocks_of(before):
            own = text_of(block, lines)
            if block.kind in ("heading", "front_matter") or all(machine(line) for line in own if essence(line)):
                continue
            assert folded(own) in kept
        assert check(before, text, rules, machine).text == text
        assert not any(essence(line) in {essence(kept) for kept in entry_lines(text)} for line in guarded.dropped)

    @SETTINGS
    @given(texts())
    def test_a_memory_as_it_is_stays_as_it_is(self, before: str) -> None:
        before = f"# Long-term Memory\n\nWhat is remembered of the user, in her own words.\n\n{before}"
        guarded = check(before, before, RULES, nobody)
        if guarded.text is not None:
            assert guarded.dropped == ()
            assert entries(guarded.text) == entries(before)
            assert check(before, before, RULES, everybody).text == guarded.text


def test_lines_are_known_by_what_they_say() -> None:
    assert line_sha256("- Prefers tea.") == line_sha256("  * prefers  TEA")
    assert line_sha256("- Prefers tea.") != line_sha256("- Prefers green tea.")
    assert entry_lines("# Title\n\n---\n- a fact\ntext\n## Two\n") == ["- a fact", "text"]
    assert added_lines("- Prefers tea.\n", "# M\n\n* prefers tea\n- New.\n") == ["- New."]
