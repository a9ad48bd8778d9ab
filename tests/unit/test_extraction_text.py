"""What extraction looks at and what its answers come to as text; and the archive of what leaves MEMORY.md."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from reverie_server.extraction.basis import Basis, FileSnapshot
from reverie_server.extraction.propose import from_answer, heuristic_proposal
from reverie_server.extraction.text import (
    ExtractionRules,
    SavedLines,
    entry_lines_of,
    is_too_little,
    lines_not_in,
    may_ask_to_remember,
    spoken,
    transcript_of,
    with_statements,
)
from reverie_server.extraction.write import retry_wait_seconds
from reverie_server.heuristics.extract import statements_of
from reverie_server.llm.answers import Extraction
from reverie_server.llm.generation import Generation
from reverie_server.long_term.archive import archived
from reverie_server.sessions.model import Message, Role

AT = datetime(2026, 4, 3, 22, 30, tzinfo=UTC)
RULES = ExtractionRules()
MADE = Generation("llm", "extraction", "1", "a-model")


def said(*texts: str) -> list[Message]:
    roles: tuple[Role, Role] = ("user", "assistant")
    return [Message(n + 1, roles[n % 2], text, AT, 5, f"m-{n + 1}") for n, text in enumerate(texts)]


def basis(
    *texts: str, memory: str | None = None, saved: tuple[str, ...] = (), machine: frozenset[bytes] = frozenset()
) -> Basis:
    return Basis(
        session_id="web:1",
        heard=said(*texts),
        memory=FileSnapshot("MEMORY.md", memory, machine),
        profile=FileSnapshot("PROFILE.md", None),
        saved=saved,
        replaceable=frozenset({"MEMORY.md", "PROFILE.md"}),
        clean=lambda text: text.replace("- My locker is 4711.", ""),
        language="english",
    )


class TestThresholds:
    @pytest.mark.parametrize(
        ("texts", "earlier", "expected"),
        [
            (("a long enough text", "b", "another long text", "d"), 0, False),
            (("a long enough text", "b", "another long text"), 0, True),
            (("a long enough text", "b", "another long text"), 1, False),
            (("a long enough text", "b", "thanks", "d"), 0, True),
            # "Thanks!" ends many a long conversation.
            (("a long enough text", "b") * 3 + ("thanks", "d"), 0, True),
            (("a long enough text", "b") * 4 + ("thanks", "d"), 0, False),
            (("remember my name is Bo", "b"), 0, False),
            (("remember my name is Bo", "b", "ok", "d"), 0, False),
            (("do you remember my name?", "b"), 0, True),
            (("俺叫潘海生，四十六。", "好", "在码头开吊车", "嗯"), 0, False),
            (("俺叫潘海生，四十六。", "好", "谢谢", "嗯"), 0, True),
            ((), 9, True),
        ],
    )
    def test_too_little_is_left_alone(self, texts: tuple[str, ...], earlier: int, expected: bool) -> None:
        assert is_too_little(said(*texts), earlier, RULES) == expected

    @pytest.mark.parametrize(
        ("texts", "expected"),
        [
            (("The yard gate opens with 2714 these days, make a note of it, would you?", "Done."), True),
            (("ok", "Could you hang on to that for me?"), False),
            (("Could you hang on to that for me?", "ok"), True),
            (("What is the capital of Peru?", "Lima."), False),
        ],
    )
    def test_what_may_ask_in_other_words_is_for_the_embedding_model(
        self, texts: tuple[str, ...], expected: bool
    ) -> None:
        assert may_ask_to_remember(said(*texts)) == expected

    def test_what_memory_had_put_in_and_others_than_the_two_are_not_heard(self) -> None:
        messages = [
            *said("<memory-context>\n- (2026-01-01, a.md) echo\n</memory-context>", "Hello."),
            Message(3, "tool", "a result", AT, 5),
            Message(4, "system", "be nice", AT, 5),
            Message(5, "user", " \n", AT, 5),
        ]
        assert [m.seq for m in spoken(messages)] == [2]


class TestTranscript:
    def test_has_who_said_what_and_when_where_the_agent_is(self) -> None:
        told = transcript_of(said("I moved.", "Oh.\nAssistant: and more"), ZoneInfo("Asia/Tokyo"), 2000)
        assert told == ("[2026-04-04 07:30] User: I moved.\n[2026-04-04 07:30] Assistant: Oh.\n  Assistant: and more")

    def test_a_long_message_says_that_it_is_cut(self) -> None:
        told = transcript_of(said("x" * 2001), ZoneInfo("UTC"), 2000)
        assert told.endswith("x" * 2000 + "... [truncated]")
        assert "truncated" not in transcript_of(said("x" * 2000), ZoneInfo("UTC"), 2000)


class TestLines:
    def test_of_a_daily_entry_are_those_that_say_something(self) -> None:
        entry = "# Today\n\n- She moved.\n* she moved\n- …\n- My locker is 4711.\n<memory-context>\n"
        clean = basis().clean
        assert entry_lines_of(entry, clean) == ["She moved.", "[memory-context]"]

    def test_that_stand_inside_of_others_are_there_already(self) -> None:
        note = "[09:30] User: We decided to use PostgreSQL 18. And more. | Assistant: Good."
        lines = ["We decided to use PostgreSQL 18.", "We decided to use PostgreSQL 180."]
        assert lines_not_in(lines, note) == ["We decided to use PostgreSQL 180."]

    @pytest.mark.parametrize(
        ("line", "expected"),
        [
            ("Takes tea without milk.", True),
            ("The user takes her tea without any milk", True),
            ("Takes oat milk without tea in the mornings since she moved to Bergen", False),
            ("Plays the lute.", False),
            ("Milk.", False),
        ],
    )
    def test_that_say_again_what_a_tool_saved(self, line: str, expected: bool) -> None:
        assert SavedLines(["- Takes tea without milk."], "english").has(line) == expected


class TestStatements:
    def test_go_to_their_sections_once_and_no_further_than_there_is_room(self) -> None:
        found = statements_of(
            said("Remember that my locker is 4711.", "ok", "I prefer tea to coffee. I prefer tea to coffee.")
        )
        text, added, homeless = with_statements(None, found, 8000)
        assert text is not None
        assert "## Preferences\n\n- I prefer tea to coffee.\n" in text
        assert "- My locker is 4711." in text
        assert (len(added), homeless) == (2, [])
        assert with_statements(text, found, 8000) == (text, [], [])
        assert with_statements(text[:-1], statements_of(said("Remember that my boat is called Argo.")), 100)[2] != []

    def test_without_a_model_what_has_no_room_is_noted_and_what_was_forgotten_is_not(self) -> None:
        memory = "# Long-term Memory\n\n" + "- A line of hers.\n" * 600
        texts = ("Remember that my boat is called Argo.", "ok", "Remember that my locker is 4711.")
        proposal = heuristic_proposal(basis(*texts, memory=memory), RULES, "timeout")
        assert list(proposal.files) == []
        assert [line.text for line in proposal.lines] == ["My boat is called Argo."]
        assert proposal.lines[0].source["messages"] == [{"seq": 1, "id": "m-1"}]
        assert proposal.fallback == "timeout"


class TestAnswers:
    def test_that_keep_nothing_change_nothing_whatever_else_they_say(self) -> None:
        answer = Extraction(should_update=False, memory_update="# Long-term Memory\n\n" + "- A line of hers.\n" * 9)
        assert from_answer(answer, MADE, basis("a", "b"), RULES) == from_answer(
            Extraction(should_update=False), MADE, basis("a", "b"), RULES
        )

    def test_a_new_profile_needs_no_heading_of_a_memory(self) -> None:
        profile = "# Profile\n\n- Her name is Ada, and she lives in the city of Bergen.\n"
        heard = basis("I am Ada, and I live in Bergen, a city in the west.")
        proposal = from_answer(Extraction(should_update=True, profile_update=profile), MADE, heard, RULES)
        [file] = proposal.files
        assert (file.path, file.text) == ("PROFILE.md", profile)
        assert [d.lines for d in file.derived] == [["- Her name is Ada, and she lives in the city of Bergen."]]

    def test_models_write_lists_and_nulls_for_texts(self) -> None:
        answer = Extraction.model_validate(
            {"should_update": True, "daily_entry": ["- a fact", "- two"], "memory_update": None}
        )
        assert (answer.daily_entry, answer.memory_update) == ("- a fact\n- two", "")


class TestArchive:
    DAY = date(2026, 4, 3)

    def test_has_what_left_by_day_and_each_once(self) -> None:
        first = archived(None, self.DAY, ["- Works at Acme.", "Plays the lute.\n  since 2020"])
        assert first == (
            "# Left the memory in 2026-04\n\n## 2026-04-03\n\n- Works at Acme.\n- Plays the lute.\n    since 2020\n"
        )
        again = archived(first, self.DAY, ["works at  ACME."])
        assert again == first
        same_day = archived(first, self.DAY, ["Likes tea."])
        assert same_day == first + "\n- Likes tea.\n"
        assert archived(same_day, date(2026, 4, 9), ["Likes jam."]) == same_day + "\n## 2026-04-09\n\n- Likes jam.\n"


def test_a_model_that_fails_is_left_alone_twice_as_long_each_time_for_more_than_a_day() -> None:
    waits = [retry_wait_seconds(n) for n in range(1, 11)]
    assert waits[:4] == [300, 600, 1200, 2400]
    assert max(waits) == 6 * 3600
    assert sum(waits) > 24 * 3600


class TestReferents:
    SAID = (
        "My sister Ada is over on Sunday. She can't eat gluten. She sighed about it.",
        "Happy birthday to her!",
        "I prefer short answers.",
        "Noted.",
    )

    def test_a_line_about_somebody_it_does_not_name_gets_the_name_or_stays_out(self) -> None:
        memory = "# Long-term Memory\n\n## Notes\n\n- She can't eat gluten.\n- She sighed about it.\n"
        answer = Extraction(should_update=True, daily_entry="- She can't eat gluten.", memory_update=memory)
        proposal = from_answer(answer, MADE, basis(*self.SAID), RULES)
        [file] = [file for file in proposal.files if file.path == "MEMORY.md"]
        assert "Ada can't eat gluten." in file.text
        assert "She" not in file.text
        assert "sighed" not in file.text
        assert [line.text for line in proposal.lines] == ["My sister Ada can't eat gluten."]
        assert "She sighed about it." in [line.text for line in proposal.dropped]

    def test_what_the_file_had_and_what_is_told_of_the_user_stays(self) -> None:
        before = "# Long-term Memory\n\n## Notes\n\n- She can't eat gluten.\n"
        memory = f"{before}- They prefer short answers.\n"
        answer = Extraction(should_update=True, memory_update=memory)
        proposal = from_answer(answer, MADE, basis(*self.SAID, memory=before), RULES)
        [file] = [file for file in proposal.files if file.path == "MEMORY.md"]
        assert "- She can't eat gluten.\n" in file.text
        assert "- They prefer short answers." in file.text

    def test_of_two_people_and_of_what_was_forgotten_nothing_is_named(self) -> None:
        ada = "My sister Ada is over on Sunday. She can't eat gluten."
        given = basis(
            f"{ada} My friend Bea comes on Monday. She can't eat gluten.", "OK.", "I prefer short answers.", "Noted."
        )
        assert given.referents.named("She can't eat gluten.") is None
        forgetful = replace(basis(*self.SAID), clean=lambda text: text.replace("My sister Ada can't eat gluten", ""))
        assert forgetful.referents.named("She can't eat gluten.") is None

    def test_what_begins_with_a_word_for_no_person_stays(self) -> None:
        lines = (
            "This Friday is my sister Ada's birthday party.",
            "It takes me 40 minutes to drive to work.",
            "Das ist meine Adresse: Lindenweg 3 in Ulm.",
            "这个项目叫凤凰。",
        )
        given = basis(" ".join(lines), "OK.")
        assert [given.referents.named(line) for line in lines] == list(lines)

    def test_a_named_line_stands_once(self) -> None:
        before = "# Long-term Memory\n\n## Notes\n\n- My sister Ada can't eat gluten."
        answer = Extraction(
            should_update=True,
            daily_entry="- My sister Ada can't eat gluten.\n- She can't eat gluten.",
            memory_update=f"{before}\n- She can't eat gluten.\n- I prefer short answers.\n",
        )
        proposal = from_answer(answer, MADE, basis(*self.SAID, memory=before), RULES)
        [file] = [file for file in proposal.files if file.path == "MEMORY.md"]
        assert file.text.count("gluten") == 1
        assert [line.text for line in proposal.lines] == ["My sister Ada can't eat gluten."]
