"""What several conversations come to: without a model, by one that invents, and merged into a file."""

from __future__ import annotations

from datetime import date

import pytest

from reverie_server.nights.dreaming.text import (
    MAX_FILE_CHARS,
    Line,
    Summary,
    as_data,
    heuristic_lines,
    merged,
    proposed,
    within_tokens,
)
from reverie_server.text.tokens import estimate_tokens

DAY = date(2026, 4, 3)


def episode(number: int, text: str, session: str | None = None) -> Summary:
    return Summary(number, session or f"web:{number}", date(2026, 4, number), text)


def told(lines: list[Line] | None) -> list[tuple[str, str]]:
    return [(line.kind, line.written) for line in lines or ()]


def test_without_a_model_what_recurs_or_was_stressed_is_kept() -> None:
    episodes = [
        episode(1, "- User: I have a dog named Rex, a beagle.\n- Assistant: I prefer cats, and I always have."),
        episode(2, "- User: The sky was grey over there.\n- User: I have a dog named Rex, a beagle!"),
        episode(3, "- User: Please remember that I am allergic to peanuts.\n- User: What is my dog called?"),
        # Of the assistant nothing: "I decided", "I signed up" would become the owner's.
        episode(4, "- Assistant: I decided to sign up for the pottery class on Monday."),
    ]
    assert told(heuristic_lines(episodes, "english")) == [
        ("fact", "I have a dog named Rex, a beagle! (2026-04-01, 2026-04-02)"),
        ("preference", "I am allergic to peanuts. (2026-04-03)"),
    ]


def test_twice_in_one_conversation_is_not_several_conversations() -> None:
    dog = "- User: I have a dog named Rex, a beagle."
    assert heuristic_lines([episode(1, dog, "web:1"), episode(2, dog, "web:1")], "english") == []


def test_of_two_that_contradict_each_other_the_later_is_kept() -> None:
    said = "- User: Please remember that my favourite restaurant is {}."
    episodes = [episode(1, said.format("Luigi")), episode(2, said.format("Sushi Bar"))]
    [line] = heuristic_lines(episodes, "english")
    assert line.statement.text == "My favourite restaurant is Sushi Bar."


def test_a_models_line_that_follows_from_nothing_it_names_is_thrown_away() -> None:
    episodes = [
        episode(1, "- User: I prefer window seats on trains.\n- User: The meeting was in Ghent."),
        episode(2, "- User: I prefer window seats on trains, as always."),
        episode(3, "- User: I bought a lamp."),
    ]
    given = [
        # Said by whom it was is no part of it, and what the assistant said of itself is nobody's.
        ("preference", "- User: Prefers window seats on trains.", [1, 2]),
        ("preference", "Assistant: I prefer window seats on trains, as always.", [1, 2]),
        ("preference", "Prefers window seats on trains!", [2]),
        ("preference", "Prefers aisle seats in planes.", [1, 2]),
        ("fact", "Prefers window seats on trains to Vienna.", [1, 2]),
        ("fact", "Bought a lamp.", [3]),
        ("fact", "Bought a lamp.", []),
        ("fact", "Bought a lamp.", [7]),
        ("fact", "The meeting was in Ghent.", [2, 3]),
    ]
    assert told(proposed(given, episodes, "english")) == [  # type: ignore[arg-type]
        ("preference", "Prefers window seats on trains. (2026-04-01, 2026-04-02)")
    ]


def test_a_second_run_on_the_same_day_adds_to_the_file_and_loses_nothing() -> None:
    """It replaced it and lost facts *(seen elsewhere)*."""
    first = heuristic_lines([episode(1, "- User: I prefer tea to coffee.")], "english")
    text, added = merged(None, DAY, first, "english")
    assert text == "# Consolidated 2026-04-03\n\n## Preferences\n\n- I prefer tea to coffee. (2026-04-01)\n"
    assert added == first
    again = heuristic_lines(
        [
            episode(2, "- User: I prefer tea to coffee!"),
            episode(3, "- User: I always take the night train to Basel.\n- User: We decided to build it of brick."),
        ],
        "english",
    )
    text, added = merged(text + "\nMy own remark.\n", DAY, again, "english")
    assert [line.statement.text for line in added] == [
        "We decided to build it of brick.",
        "I always take the night train to Basel.",
    ]
    assert text.splitlines() == [
        "# Consolidated 2026-04-03",
        "",
        "## Preferences",
        "",
        "- I prefer tea to coffee. (2026-04-01)",
        "",
        "My own remark.",
        "",
        "- I always take the night train to Basel. (2026-04-03)",
        "",
        "## Decisions",
        "",
        "- We decided to build it of brick. (2026-04-03)",
    ]
    assert merged(text, DAY, again, "english") == (text, [])


def test_lines_fit_the_tokens_there_are_whole_or_not_at_all() -> None:
    lines = heuristic_lines(
        [
            episode(
                1,
                "- User: I prefer green tea to black coffee.\n- User: I prefer a long walk to a short swim.",
            )
        ],
        "english",
    )
    assert len(lines) == 2
    sizes = [estimate_tokens(f"- {line.written}\n") for line in lines]
    assert within_tokens(lines, sum(sizes), estimate_tokens) == lines
    assert within_tokens(lines, sum(sizes) - 1, estimate_tokens) == lines[:1]
    assert within_tokens(lines, 3, estimate_tokens) == []


def test_a_model_is_given_each_episode_with_its_number_day_and_conversation() -> None:
    assert as_data([episode(1, "- User: Hello."), episode(2, "They spoke of tea.", "tg:9")]) == (
        "[1] 2026-04-01 web:1\n- User: Hello.\n\n[2] 2026-04-02 tg:9\nThey spoke of tea."
    )


def test_a_days_file_that_is_full_takes_no_further_line_and_stays_under_the_limit_of_a_file() -> None:
    words = (
        "amber mast",
        "birch nest",
        "cedar oar",
        "dune pier",
        "ember quay",
        "fjord rope",
        "grove sail",
        "heath urn",
    )
    texts = [f"- User: We decided to build the {word} of {word.split()[0]}stone." for word in words]
    lines = heuristic_lines([episode(1, "\n".join(texts))], "english")
    assert len(lines) == 8
    full = "# Consolidated 2026-04-03\n\n## Facts\n\n" + "".join(
        f"- Line {n} of what was consolidated.\n" for n in range(1 + MAX_FILE_CHARS // 36)
    )
    assert merged(full, DAY, lines, "english") == (full, [])
    nearly, added = merged(full[: MAX_FILE_CHARS - 200] + "\n", DAY, lines, "english")
    assert 0 < len(added) < len(lines)
    assert len(nearly) <= MAX_FILE_CHARS


def test_of_a_day_the_later_line_takes_the_place_of_what_it_contradicts() -> None:
    rome, paris = (heuristic_lines([episode(n, f"- User: Please remember that I live in {city}.")], "english")
                   for n, city in ((2, "Rome"), (3, "Paris")))  # fmt: skip
    text, _ = merged(None, DAY, [*rome, *heuristic_lines([episode(2, "- User: I prefer tea.")], "english")], "english")
    own = text + "\nI live in Oslo, says my own remark.\n"
    text, added = merged(own, DAY, paris, "english")
    assert "Rome" not in text
    assert "- I live in Paris. (2026-04-03)" in text
    assert "- I prefer tea. (2026-04-02)" in text
    assert "I live in Oslo, says my own remark." in text
    assert added == paris
    # What was said before does not come back behind what took its place.
    assert merged(text, DAY, rome, "english") == (text, [])


OF_OTHERS = (
    "my sister prefers window seats lol",
    "Mein Bruder mag lieber Bier als Wein.",
    "Mi hermana prefiere los asientos de ventana.",
    "我妹妹喜欢靠窗的座位。",
    "My boss decided to move the office to Berlin.",
    "He prefers aisle seats and decided to fly.",
)
OWN = (
    "I prefer window seats.",
    "My sister Nora prefers window seats on trains.",
    "Ada prefers window seats.",
    "Wir haben entschieden, den Ofen aus Ziegeln zu bauen.",
    "Prefiero los asientos de ventana.",
    "我喜欢靠窗的座位。",
    "Please remember that my sister prefers window seats.",
)


@pytest.mark.parametrize("said", OF_OTHERS)
def test_what_somebody_without_a_name_prefers_or_decides_is_not_the_users(said: str) -> None:
    assert heuristic_lines([episode(1, f"- User: {said}")], "english") == []


@pytest.mark.parametrize("said", OWN)
def test_what_the_user_or_somebody_with_a_name_prefers_or_decides_is_kept(said: str) -> None:
    assert len(heuristic_lines([episode(1, f"- User: {said}")], "english")) == 1


@pytest.mark.parametrize(
    ("first", "then", "gone"),
    [
        ("Wir haben entschieden, im Mai nach Rom zu fahren.", "doch nicht rom, Wien", "Rom"),
        ("We decided to go to Rome in May.", "Actually not Rome, Vienna.", "Rome"),
        ("We decided to go to Rome in May.", "not rome but vienna", "Rome"),
        ("Hemos decidido viajar a Roma en mayo.", "Mejor no a Roma, sino a Viena.", "Roma"),
        ("我们决定五月去罗马。", "不去罗马，去维也纳。", "罗马"),
        ("Please remember that my flight to Oslo is on 14 May.", "Sorry, 15 May.", "14 May"),
        (
            "We decided to build the kiln of brick.",
            "We decided to build the kiln of stone instead of brick.",
            "of brick.",
        ),
    ],
)
def test_what_a_later_sentence_corrects_stays_out(first: str, then: str, gone: str) -> None:
    kept = "Please remember that I am allergic to peanuts."
    for episodes in (
        [episode(1, f"- User: {first}\n- User: {then}\n- User: {kept}")],
        [episode(1, f"- User: {first}"), episode(2, f"- User: {then}\n- User: {kept}")],
    ):
        texts = [line.statement.text for line in heuristic_lines(episodes, "english")]
        assert "I am allergic to peanuts." in texts
        assert not any(gone in text for text in texts if "instead of" not in text), texts
