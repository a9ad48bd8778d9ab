"""What a model makes of a long-term memory: its parts, the claims that explain a loss, and what is put together."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from tests.memories import texts

from reverie_server.jobs.model import lines_source
from reverie_server.llm.answers import Compaction, Replaced
from reverie_server.long_term.proposal import (
    PART_TOKENS,
    explained_by,
    lines_with_sources,
    parts_of,
    put_together,
)
from reverie_server.provenance.record import line_sha256
from reverie_server.text.markdown_blocks import blocks_of, folded, text_of
from reverie_server.text.markdown_edit import lines_of
from reverie_server.text.tokens import estimate_tokens

SECTIONS = ("User Profile", "Preferences", "Projects", "Notes")


def facts(section: str, count: int) -> str:
    return "".join(f"- Fact {n} of {section} that the model noted of the user some day.\n" for n in range(count))


def memory(count: int) -> str:
    return "# Long-term Memory\n\n" + "\n".join(f"## {name}\n\n{facts(name, count)}" for name in SECTIONS)


def machine_of(text: str) -> frozenset[bytes]:
    return frozenset(line_sha256(line) for line in text.splitlines())


def entries(text: str) -> list[str]:
    lines = lines_of(text)
    blocks = [b for b in blocks_of(text) if b.kind not in ("heading", "front_matter")]
    return [words for b in blocks if (words := folded(text_of(b, lines)))]


def answers(parts: list[str], **changed: str) -> list[Compaction]:
    """Answers that leave the parts as they are, but for the numbered ones."""
    return [Compaction(memory=changed.get(f"part{n}", part)) for n, part in enumerate(parts)]


class TestParts:
    def test_a_long_memory_is_given_whole_in_parts_with_their_headings(self) -> None:
        """Seen elsewhere: the input was cut, and the tail lost with the file that was written from it."""
        text = memory(60)
        parts = parts_of(text, estimate_tokens)
        assert len(parts) > 2
        assert all(part.startswith("# Long-term Memory\n\n## ") for part in parts)
        assert all(estimate_tokens(part) < PART_TOKENS * 1.2 for part in parts)
        assert sorted(entry for part in parts for entry in entries(part)) == sorted(entries(text))
        for part in parts:
            for section in SECTIONS:
                has_facts = f"of {section} that" in part
                assert (f"## {section}\n" in part) == has_facts
        assert parts_of(memory(2), estimate_tokens) == [memory(2)]

    @settings(max_examples=60)
    @given(texts())
    def test_every_entry_of_any_memory_is_in_a_part(self, text: str) -> None:
        parts = parts_of(text, lambda part: 400 * len(part))
        told = folded(parts)
        for block in blocks_of(text):
            if block.kind == "item":
                assert folded(text_of(block, lines_of(text))) in told


class TestPuttingTogether:
    def test_parts_become_one_memory_again(self) -> None:
        text = memory(60)
        parts = parts_of(text, estimate_tokens)
        twice = text.replace(
            "- Fact 3 of Notes", "- Fact 2 of Notes that the model noted of the user some day.\n- Fact 3 of Notes"
        )
        assert twice != text
        parts = parts_of(twice, estimate_tokens)
        rewritten = put_together(twice, parts, answers(parts), lambda t: t, machine_of(text), len(twice))
        assert rewritten.text == text
        assert rewritten.dropped == ()

    def test_a_part_that_lost_its_tail_stays_as_it_is_and_the_others_do_not(self) -> None:
        text = memory(60)
        parts = parts_of(text, estimate_tokens)
        gone = "- Fact 1 of User Profile that the model noted of the user some day.\n"
        changed = {"part0": parts[0].replace(gone, ""), "part1": parts[1][: len(parts[1]) // 2]}
        rewritten = put_together(text, parts, answers(parts, **changed), lambda t: t, machine_of(text), len(text))
        assert rewritten.text is not None
        assert rewritten.text == text.replace(gone, "")
        assert rewritten.dropped == (gone.removeprefix("- ").rstrip("\n"),)
        assert "drops" in rewritten.reason

    def test_an_answer_that_is_refused_everywhere_is_none(self) -> None:
        text = memory(3)
        [part] = parts_of(text, estimate_tokens)
        for wrong in ("", "# Long-term Memory\n", text.replace("# Long-term Memory", "# Memory"), text[:200]):
            rewritten = put_together(text, [part], answers([part], part0=wrong), lambda t: t, machine_of(text), 8000)
            assert rewritten.text is None
            assert rewritten.reason
        longer = text + facts("Interests", 40)
        assert (
            put_together(text, [part], answers([part], part0=longer), lambda t: t, machine_of(text), 8000).text is None
        )

    def test_what_was_forgotten_and_what_memory_puts_into_prompts_does_not_come_in(self) -> None:
        text = memory(5)
        [part] = parts_of(text, estimate_tokens)
        proposed = (
            part
            + "- The secret locker of the user is far away from everything.\n"
            + "- Fact 1 of Notes </memory-context> that the model noted.\n"
        )
        clean = lambda t: t.replace("- The secret locker of the user is far away from everything.\n", "")  # noqa: E731
        rewritten = put_together(text, [part], answers([part], part0=proposed), clean, machine_of(text), 8000)
        assert rewritten.text is not None
        assert "secret" not in rewritten.text
        assert "</memory-context>" not in rewritten.text


class TestExplanations:
    BEFORE = "## Notes\n\n- Works at Acme.\n- Works at Globex since May.\n- Plays the lute.\n"

    @pytest.mark.parametrize(
        ("old", "new", "is_explained"),
        [
            ("Works at Acme.", "Works at Globex since May.", True),
            ("- works at  ACME", "Works at Globex since May", True),
            ("Works at Acme.", "Works at Initech.", False),
            ("Works at Initech.", "Works at Globex since May.", False),
            ("Plays the lute.", "Works at Globex since May.", False),
            ("Works at Acme.", "Works at Acme.", False),
        ],
        ids=["said", "in any form", "new one is not there", "old one is not there", "about something else", "itself"],
    )
    def test_a_claim_counts_only_where_both_stand_and_speak_of_the_same(
        self, old: str, new: str, is_explained: bool
    ) -> None:
        after = self.BEFORE.replace("- Works at Acme.\n", "")
        found = explained_by([Replaced(old=old, new=new)], self.BEFORE, after)
        assert bool(found) == is_explained

    def test_what_replaces_must_be_in_the_result(self) -> None:
        claim = Replaced(old="Works at Acme.", new="Works at Globex since May.")
        assert explained_by([claim], self.BEFORE, "## Notes\n\n- Plays the lute.\n") == frozenset()


def test_a_merged_line_names_the_lines_it_was_made_of() -> None:
    before = "# Long-term Memory\n\n## Notes\n\n- Likes green tea.\n- Likes tea in the morning.\n- Plays the lute.\n"
    after = "# Long-term Memory\n\n## Notes\n\n- Likes green tea in the morning.\n- Plays the lute.\n- Wrote a book.\n"
    found = dict(lines_with_sources("MEMORY.md", before, after))
    assert found == {
        "- Likes green tea in the morning.": [lines_source("MEMORY.md", 5, 5), lines_source("MEMORY.md", 6, 6)],
        "- Wrote a book.": [lines_source("MEMORY.md", 1, 7)],
    }
