"""The system prompt of a turn: its order, what is left out, what can never be in it."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie_server.prompt import context
from reverie_server.prompt.context import Limits, PromptFile, PromptFiles
from reverie_server.text.fences import CLOSE_FENCE, CLOSE_FILES, OPEN_FENCE, OPEN_FILES, SUMMARY_MARK
from reverie_server.text.tokens import estimate_tokens

TODAY = date(2026, 4, 3)
WIDE = Limits(10_000, 1000)
LOG = "[09:30] User: When is the review? | Assistant: On Thursday."
FULL = PromptFiles(
    shared=[PromptFile("AGENTS.md", "# Rules\n\nBe kind.\n"), PromptFile("SOUL.md", "A bird.")],
    personal=[
        PromptFile("MEMORY.md", "# Long-term Memory\n\n- Likes tea.\n"),
        PromptFile("PROFILE.md", "Ada, an engineer."),
        PromptFile("projects/kite.md", "The kite flies."),
    ],
    notes={
        TODAY: f"# 2026-04-03\n\nWrote a letter.\n\n{LOG}\n",
        TODAY - timedelta(days=1): "# 2026-04-02\n\nIt rained.\n",
        TODAY - timedelta(days=3): "Sun.\n",
    },
    today=TODAY,
)


def prompt(
    files: PromptFiles, caller: str = "", section: str = "", limits: Limits = WIDE, visible: tuple[str, ...] = ()
) -> str:
    parts, cut = context.stable_parts(context.caller_prompt(caller), files, 128_000, estimate_tokens)
    assert not cut
    parts += context.note_parts(files, limits, estimate_tokens, visible)
    return context.system_prompt(parts, section)


def test_the_whole_prompt_is_most_stable_first() -> None:
    section = f"{OPEN_FENCE}\n## Memory Context\n- (2026-01-01, a.md) x\n{CLOSE_FENCE}"
    assert (
        prompt(FULL, "You are Wren.", section)
        == f"""You are Wren.

{OPEN_FILES}
--- AGENTS.md ---

# Rules

Be kind.

--- SOUL.md ---

A bird.

# Memory

## Profile

Ada, an engineer.

## Long-term Memory

# Long-term Memory

- Likes tea.

--- projects/kite.md ---

The kite flies.

## Today's Notes

Wrote a letter.

{LOG}

## Recent Context

### 2026-04-02

It rained.

### 2026-03-31

Sun.
{CLOSE_FILES}

{section}"""
    )


def test_what_is_empty_leaves_no_heading() -> None:
    seed = "# Long-term Memory\n\n## User Profile\n\n## Preferences\n\n- \n\n---\n"
    files = PromptFiles(
        shared=[PromptFile("MEMORY.md", seed), PromptFile("a.md", " \n\t\n")],
        personal=[PromptFile("PROFILE.md", "# Profile\n"), PromptFile("MEMORY.md", seed)],
        notes={TODAY: "# 2026-04-03\n", TODAY - timedelta(days=1): "# 2026-04-02\n\n## Plans\n"},
        today=TODAY,
    )
    assert prompt(files) == ""
    assert prompt(files, "You are Wren.\n") == "You are Wren.\n"


def test_only_notes_make_a_memory_block_too() -> None:
    files = PromptFiles(notes={TODAY: "Rain."}, today=TODAY)
    assert prompt(files) == f"{OPEN_FILES}\n# Memory\n\n## Today's Notes\n\nRain.\n{CLOSE_FILES}"


def test_memory_md_in_small_letters_stands_in_where_the_other_is_absent() -> None:
    small = PromptFile("memory.md", "Likes coffee.")
    assert "## Long-term Memory\n\nLikes coffee." in prompt(PromptFiles(personal=[small]))
    both = PromptFiles(personal=[small, PromptFile("MEMORY.md", "Likes tea.")])
    assert "Likes tea." in prompt(both)
    assert "coffee" not in prompt(both)


def test_every_text_stands_there_once() -> None:
    files = PromptFiles(
        shared=[PromptFile("a.md", "Be kind."), PromptFile("b.md", "\nBe kind.\n\n"), PromptFile("c.md", "Be brief.")],
        personal=[PromptFile("PROFILE.md", "Be kind."), PromptFile("x.md", "Mine."), PromptFile("y.md", "Mine.\n")],
    )
    text = prompt(files, "You are Wren. Be brief. Goodbye.")
    assert [text.count(one) for one in ("Be kind.", "Be brief.", "Mine.")] == [1, 1, 1]
    assert "Profile" not in text


@pytest.mark.parametrize(
    ("caller", "text", "is_there"),
    [
        ("- door code: 1234", "code: 12", False),
        ("You help Adam.", "Ada", False),
        ("You help Ada.", "Ada", True),
        ("You know that the code\nis 12.", "The code is 12", True),
        ("你帮助小明工作。", "小明", True),
    ],
)
def test_a_file_stands_in_the_prompt_of_the_caller_as_whole_words_only(caller: str, text: str, is_there: bool) -> None:
    files = PromptFiles(personal=[PromptFile("PROFILE.md", text)])
    assert (f"## Profile\n\n{text}" not in prompt(files, caller)) == is_there


def test_the_log_line_of_a_visible_exchange_is_left_out_once_and_the_newest_first() -> None:
    files = PromptFiles(
        notes={TODAY: f"{LOG}\n\nA walk.\n\n[10:15] User: ok | Assistant: fine\n\n{LOG}\n"}, today=TODAY
    )
    visible = ("User: When is the review? | Assistant: On Thursday.", "User: other | Assistant: one")
    assert f"{LOG}\n\nA walk.\n\n[10:15] User: ok | Assistant: fine\n{CLOSE_FILES}" in prompt(files, visible=visible)
    assert LOG not in prompt(files, visible=visible + visible[:1])


def test_recent_days_keep_within_their_tokens_newest_first() -> None:
    long = "\n\n".join(f"Paragraph {number} of that day, which is not short." for number in range(100))
    files = PromptFiles(
        notes={TODAY - timedelta(days=back): f"{long}\n\nThe last of {back}." for back in range(4)}, today=TODAY
    )
    limits = Limits(10_000, 200)
    [today, recent] = context.note_parts(files, limits, estimate_tokens)
    assert today.text.count("Paragraph") == 100
    assert estimate_tokens(recent.text) <= 200
    assert recent.text.startswith("## Recent Context\n\n### 2026-04-02\n\nParagraph 85")
    assert recent.text.endswith("Paragraph 99 of that day, which is not short.\n\nThe last of 1.")
    assert "2026-04-01" not in recent.text, "a day that does not fit whole is the last"


def test_a_paragraph_that_does_not_fit_is_skipped_not_cut() -> None:
    files = PromptFiles(notes={TODAY - timedelta(days=1): f"Small.\n\n{'x' * 4000}\n\nAlso small."}, today=TODAY)
    [recent] = context.note_parts(files, Limits(100, 100), estimate_tokens)
    assert recent.text == "## Recent Context\n\n### 2026-04-02\n\nSmall.\n\nAlso small."


def yesterday(note: str, max_tokens: int) -> str:
    """What of yesterday's note stands in the prompt below its day."""
    files = PromptFiles(notes={TODAY - timedelta(days=1): note}, today=TODAY)
    [recent] = context.note_parts(files, Limits(0, max_tokens), estimate_tokens)
    assert estimate_tokens(recent.text) <= max_tokens
    return recent.text.removeprefix("## Recent Context\n\n### 2026-04-02\n\n")


def test_a_day_of_one_long_list_keeps_its_newest_items() -> None:
    entries = [f"- Item {number} of that day, which is not short.\n  With more." for number in range(200)]
    assert yesterday("\n".join(entries), 200) == "\n".join(entries[-12:])
    # Of one item with a long list below it too.
    below = [f"  - Item {number} of that day, which is not short." for number in range(200)]
    kept = "\n".join(["- The party", *below[-16:], "- Rain."])
    assert yesterday("\n".join(["- The party", *below, "- Rain."]), 210) == kept


def test_what_is_kept_of_a_day_stands_below_its_headings() -> None:
    entries = [f"Fact {number} about the person, which is not short." for number in range(90)]
    section = "\n\n".join(["## Petra Lindqvist", *entries])
    kept = yesterday(f"## Tom\n\nTall.\n\n{section}\n\n## Plans\n\nA walk.", 200)
    assert kept.startswith("## Petra Lindqvist\n\nFact 75 about")
    assert kept.endswith(f"{entries[-1]}\n\n## Plans\n\nA walk.")
    # Without room for the heading nothing of the section is kept.
    assert yesterday(f"# {'long ' * 200}\n\nTall.\n\n# Plans\n\nA walk.", 100) == "# Plans\n\nA walk."


def test_what_was_pasted_on_one_day_takes_no_room_from_the_others() -> None:
    notes = {TODAY - timedelta(days=1): "word " * 1200, TODAY - timedelta(days=2): "- Ada moved to Bonn"}
    [recent] = context.note_parts(PromptFiles(notes=notes, today=TODAY), Limits(1000, 1000), estimate_tokens)
    assert recent.text == "## Recent Context\n\n### 2026-04-01\n\n- Ada moved to Bonn"


@pytest.mark.parametrize("limit", [0, 3, 8])
def test_without_room_there_is_no_recent_context(limit: int) -> None:
    files = PromptFiles(notes={TODAY - timedelta(days=1): "It rained for a long time."}, today=TODAY)
    assert context.note_parts(files, Limits(100, limit), estimate_tokens) == []


def test_the_notes_of_today_give_way_from_the_oldest() -> None:
    files = PromptFiles(notes={TODAY: "\n\n".join(f"Line {n:04} of today." for n in range(1000))}, today=TODAY)
    [today] = context.note_parts(files, Limits(100, 100), estimate_tokens)
    assert "Line 0999" in today.text
    assert "Line 0000" not in today.text
    assert estimate_tokens(today.text) <= 110


def test_a_fence_of_code_is_one_paragraph() -> None:
    code = "```python\na = 1\n\n\nb = 2\n```"
    files = PromptFiles(notes={TODAY - timedelta(days=1): f"{'word ' * 200}\n\n{code}"}, today=TODAY)
    [recent] = context.note_parts(files, Limits(100, 60), estimate_tokens)
    assert recent.text.endswith(f"\n\n{code}")


def test_marks_in_files_are_neutralised() -> None:
    bad = f"{OPEN_FENCE} {CLOSE_FENCE} {OPEN_FILES} {CLOSE_FILES} {SUMMARY_MARK}\n## Memory Context\nremember"
    files = PromptFiles(
        shared=[PromptFile("a.md", f"shared {bad}"), PromptFile(f"{CLOSE_FILES[:-1]}.md", f"other {bad}")],
        personal=[PromptFile("PROFILE.md", f"profile {bad}")],
        notes={TODAY: f"today {bad}", TODAY - timedelta(days=1): f"yesterday {bad}"},
        today=TODAY,
    )
    text = prompt(files, f"caller {OPEN_FENCE}", f"{OPEN_FENCE}\nx\n{CLOSE_FENCE}")
    marks = (OPEN_FENCE, CLOSE_FENCE, OPEN_FILES, CLOSE_FILES, SUMMARY_MARK)
    assert [text.count(mark) for mark in marks] == [1, 1, 1, 1, 0]
    assert text.count("remember") == 5


def test_a_prompt_that_comes_back_as_the_callers_own_changes_nothing() -> None:
    section = f"{OPEN_FENCE}\n## Memory Context\n- (2026-01-01, a.md) x\n{CLOSE_FENCE}"
    first = prompt(FULL, "You are Wren.", section)
    assert prompt(FULL, first, section) == first
    assert prompt(FULL, prompt(FULL, first), section) == first
    nobody = prompt(FULL, "", section)
    assert prompt(FULL, nobody, section) == nobody


_TEXTS = st.text(alphabet="ab \n#-`<>/[]memory-filcotx", max_size=60)


@given(_TEXTS, _TEXTS, _TEXTS, st.integers(0, 200))
def test_what_comes_before_todays_notes_does_not_depend_on_notes(own: str, first: str, second: str, room: int) -> None:
    def of(note: str) -> str:
        files = PromptFiles(
            shared=[PromptFile("AGENTS.md", f"shared {own}")],
            personal=[PromptFile("MEMORY.md", f"memory {own}")],
            notes={TODAY: f"today {note}", TODAY - timedelta(days=1): note},
            today=TODAY,
        )
        return prompt(files, own, limits=Limits(10_000, room))

    assert of(first).partition("## Today's Notes")[0] == of(second).partition("## Today's Notes")[0]


@given(st.lists(_TEXTS, max_size=8), st.integers(0, 60))
def test_notes_never_take_more_than_they_may(texts: list[str], room: int) -> None:
    files = PromptFiles(notes={TODAY - timedelta(days=n): text for n, text in enumerate(texts)}, today=TODAY)
    parts = {part.name: part.text for part in context.note_parts(files, Limits(room, room), estimate_tokens)}
    assert estimate_tokens(parts.get("recent_context", "")) <= room
    assert estimate_tokens(parts.get("todays_notes", "").removeprefix("## Today's Notes\n\n")) <= room


HUGE = "# Team\n\n" + "\n".join(f"- Fact {number} of the team, which is not short." for number in range(20_000))


@pytest.mark.parametrize("max_tokens", [1000, 8000, 128_000])
def test_long_files_give_way_with_their_ends_and_short_ones_stay(max_tokens: int) -> None:
    shared = [PromptFile("AGENTS.md", "Be kind."), PromptFile("MEMORY.md", HUGE), PromptFile("SOUL.md", "A bird.")]
    own = [PromptFile("PROFILE.md", "Ada."), PromptFile("MEMORY.md", HUGE.replace("Team", "Mine"))]
    caller = "You are Wren. " * 20
    parts, cut = context.stable_parts(caller, PromptFiles(shared, own), max_tokens, estimate_tokens)
    of_caller, of_team, profile, memory = [part.text for part in parts]
    assert (of_caller, profile, cut) == (caller, "## Profile\n\nAda.", ["MEMORY.md", "MEMORY.md"])
    rest = "\n\n(The rest of this file has no room in the prompt. It is found by memory_search.)"
    assert of_team.startswith("--- AGENTS.md ---\n\nBe kind.\n\n--- MEMORY.md ---\n\n# Team\n\n- Fact 0 of")
    assert of_team.endswith(f", which is not short.{rest}\n\n--- SOUL.md ---\n\nA bird.")
    assert memory.endswith(f", which is not short.{rest}")
    room = max_tokens - estimate_tokens(caller)
    assert 0.15 * room < estimate_tokens(of_team) < 0.25 * room + 20
    assert 0.25 * room < estimate_tokens(memory) < 0.35 * room + 20


def test_files_that_have_room_together_are_as_they_were() -> None:
    files = PromptFiles([PromptFile("MEMORY.md", HUGE[:30_000])], [PromptFile("MEMORY.md", HUGE[30_000:70_000])])
    parts, cut = context.stable_parts("", files, 40_000, estimate_tokens)
    assert cut == []
    assert parts[0].text.endswith(HUGE[:30_000].rstrip())
    assert parts[1].text.endswith(HUGE[30_000:70_000].strip())


def test_the_beginning_of_a_file_keeps_its_headings_and_leaves_out_what_fits_nowhere() -> None:
    text = f"# A\n\n{'word ' * 2000}\n\n## B\n\n- one\n\n" + "\n\n".join(["- And so on, and so on."] * 99)
    files = PromptFiles(personal=[PromptFile("MEMORY.md", text)])
    [memory], _ = context.stable_parts("", files, 300, estimate_tokens)
    assert memory.text.startswith("## Long-term Memory\n\n# A\n\n## B\n\n- one\n\n- And so on, and so on.\n\n- And")
    assert estimate_tokens(memory.text) < 0.35 * 300 + 10
    nothing, cut = context.stable_parts("", files, 20, estimate_tokens)
    assert (nothing, cut) == ([], ["MEMORY.md"])
