"""MEMORY.md with what emerged: without a model, and by a model that keeps to its duties or does not."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from reverie_server.heuristics.entries import entries_of
from reverie_server.long_term.guard import GuardRules
from reverie_server.nights.emergence.candidates import Rules
from reverie_server.nights.emergence.collect import Candidate, ScoringContext, collect
from reverie_server.nights.emergence.model import EmergenceInput, MemoryFile, NoteFile
from reverie_server.nights.emergence.text import candidates_in, heuristic_proposal, modelled
from reverie_server.text.redact import essence

DAY = date(2026, 4, 3)
RULES = GuardRules()
OWN = "- I never work on Fridays."
MADE = "- I live in Oslo, close to the harbour."
BEFORE = f"# Long-term Memory\n\n## User Profile\n\n{MADE}\n\n## Notes\n\n{OWN}\n"


def memory(text: str = BEFORE) -> MemoryFile:
    machine = frozenset({essence(MADE), *(essence(f"- Fact number {n} of many.") for n in range(400))})
    return MemoryFile("MEMORY.md", 3, text, text.splitlines(), machine)


def candidates(*texts: str) -> list[Candidate]:
    file = NoteFile(1, "memory/2026-04-03.md", 1, DAY, "".join(f"- {text}\n\n" for text in texts))
    entries = entries_of(file.path, file.text, file.day)
    setting = ScoringContext(Rules(), datetime(2026, 4, 4, 2, tzinfo=UTC), "UTC", "english")
    found = {c.text: c for c in collect(EmergenceInput(files=[file], entries=entries), setting)}
    return [found[text] for text in texts]


def test_without_a_model_candidates_are_added_to_their_sections() -> None:
    passing = candidates("I prefer tea to coffee.", "We decided to build the kiln of brick.", "The sky was clear.")
    proposal = heuristic_proposal(memory(), passing, RULES, "english")
    assert proposal.text is not None
    assert "## Preferences\n\n- I prefer tea to coffee.\n" in proposal.text
    assert "## Projects\n\n- We decided to build the kiln of brick.\n" in proposal.text
    assert f"{OWN}\n- The sky was clear.\n" in proposal.text
    assert (proposal.promoted, proposal.left, proposal.dropped) == (tuple(passing), (), ())


def test_what_is_new_takes_the_place_of_what_it_contradicts_if_the_server_wrote_that() -> None:
    [bergen] = candidates("I live in Bergen, close to the harbour.")
    proposal = heuristic_proposal(memory(), [bergen], RULES, "english")
    assert proposal.text is not None
    assert "Bergen" in proposal.text
    assert "Oslo" not in proposal.text
    assert proposal.dropped == (MADE[2:],)


def test_what_a_candidate_was_given_with_does_not_enter_with_it() -> None:
    passing = candidates("I prefer tea to coffee.")
    copied = f"{BEFORE}\n## Preferences\n\n- (2026-04-03; recalled 4 times) I prefer tea to coffee.\n"
    proposal = modelled(memory(), passing, copied, RULES, "english")
    assert proposal.promoted == tuple(passing)
    assert "\n- I prefer tea to coffee.\n" in (proposal.text or "")


def test_a_night_adds_only_as_much_as_the_file_may_grow() -> None:
    text = BEFORE + "".join(f"- Fact number {n} of many.\n" for n in range(60))
    long = "A rather long statement about the kiln, its bricks, its chimney and its door, number"
    # Each of another kind, so that none is the same as another.
    words = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "iris", "jade", "kelp", "larch")
    passing = candidates(*(f"{long} {word} {word}wood {word}stone {word}field {word}brook." for word in words))
    proposal = heuristic_proposal(memory(text), passing, RULES, "english")
    assert proposal.text is not None
    assert len(proposal.text) <= 1.5 * len(text)
    assert 0 < len(proposal.promoted) < len(passing)
    assert {gate for _, gate in proposal.left} == {"room"}
    assert len(proposal.promoted) + len(proposal.left) == len(passing)


def test_a_full_memory_takes_nothing_and_says_why() -> None:
    text = BEFORE + "".join(f"- Fact number {n} of many.\n" for n in range(330))
    assert len(text) > 8000
    proposal = heuristic_proposal(memory(text), candidates("I prefer tea to coffee."), RULES, "english")
    assert proposal.text is None
    assert "8000 is the most" in proposal.reason


def full_memory(count: int = 330, *, by_person: range = range(0)) -> MemoryFile:
    """A memory without room, of lines of the server, the first of which is worth least; those `by_person` are not its
    own, and every tenth was asked to be remembered."""
    of_server = [f"- Fact number {n} of many." for n in range(count)]
    text = BEFORE + "".join(f"{line}\n" for line in of_server)
    machine = [essence(line) for n, line in enumerate(of_server) if n not in by_person]
    start = datetime(2026, 1, 1, tzinfo=UTC)
    worth = {key: (0.5, start + timedelta(hours=number)) for number, key in enumerate(machine) if (number + 1) % 10}
    return MemoryFile("MEMORY.md", 3, text, text.splitlines(), frozenset(machine), worth)


def test_in_a_full_memory_the_weakest_of_the_servers_entries_make_room() -> None:
    """*(Found)*: without a model MEMORY.md stood still at 8,000 characters, with the oldest lines in every prompt."""
    passing = candidates("I prefer tea to coffee.", "We decided to build the kiln of brick.")
    memory = full_memory(by_person=range(2))
    proposal = heuristic_proposal(memory, passing, RULES, "english")
    assert proposal.promoted == tuple(passing)
    assert proposal.text is not None
    assert "- I prefer tea to coffee.\n" in proposal.text
    assert OWN in proposal.text
    assert len(proposal.text) <= len(memory.text)
    # The weakest first, no more of them than need to; never a person's, never what was asked to be remembered.
    assert proposal.dropped[0] == "Fact number 2 of many."
    assert len(proposal.dropped) <= 5
    assert not {0, 1, 11} & {int(line.split()[2]) for line in proposal.dropped}


def test_no_more_leaves_in_a_night_than_the_guard_lets_go() -> None:
    long = "A rather long statement about the kiln, its bricks, its chimney and its door, number"
    words = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "iris", "jade", "kelp", "larch")
    passing = candidates(*(f"{long} {w} {w}wood {w}stone {w}field {w}brook {w}mire {w}moss {w}fen." for w in words))
    memory = full_memory(40)
    rules = GuardRules(max_chars=len(memory.text))
    proposal = heuristic_proposal(memory, passing, rules, "english")
    assert 0 < len(proposal.promoted) < len(passing)
    assert 0 < len(proposal.dropped) <= 0.25 * 42
    assert {gate for _, gate in proposal.left} == {"room"}


def test_a_memory_of_a_persons_lines_alone_stays_as_it_is() -> None:
    memory = full_memory(by_person=range(330))
    proposal = heuristic_proposal(memory, candidates("I prefer tea to coffee."), RULES, "english")
    assert (proposal.text, proposal.dropped) == (None, ())
    assert "8000 is the most" in proposal.reason


def test_no_memory_yet_becomes_one_and_one_without_the_header_stays_without() -> None:
    passing = candidates("I prefer tea to coffee.")
    new = heuristic_proposal(None, passing, RULES, "english")
    assert (new.text or "").startswith("# Long-term Memory\n")
    own = heuristic_proposal(memory("Some words of my own, as I like them to stand here.\n"), passing, RULES, "english")
    assert (own.text or "").startswith("Some words of my own, as I like them to stand here.\n")


def by_model(content: str, *texts: str):  # type: ignore[no-untyped-def]
    return modelled(memory(), candidates(*(texts or ("I prefer tea to coffee.",))), content, RULES, "english")


def test_a_model_may_word_the_memory_anew() -> None:
    proposal = by_model(f"# Long-term Memory\n\n## Preferences\n\n- Prefers tea to coffee.\n{MADE}\n{OWN}\n")
    assert proposal.text is not None
    assert [c.text for c in proposal.promoted] == ["I prefer tea to coffee."]
    assert proposal.dropped == ()


def test_a_model_that_leaves_a_persons_line_out_gets_it_back() -> None:
    proposal = by_model(f"# Long-term Memory\n\n## Preferences\n\n- Prefers tea to coffee.\n{MADE}\n")
    # Of two lines one is lost, which is more than a quarter.
    assert proposal.text is None or OWN in proposal.text


def test_a_model_that_invents_loses_or_forgets_the_header_is_refused() -> None:
    invents = by_model(f"{BEFORE}\n- Owns a sailing boat named Kestrel.\n- Prefers tea to coffee.\n")
    assert (invents.text, invents.reason) == (None, "the proposal says what nobody said")
    other_value = by_model(BEFORE.replace("Oslo", "Trondheim") + "- Prefers tea to coffee.\n")
    assert other_value.reason == "the proposal says what nobody said"
    loses = by_model("# Long-term Memory\n\n## Preferences\n\n- Prefers tea to coffee, I prefer tea to coffee.\n")
    assert loses.text is None
    headless = by_model(BEFORE.replace("# Long-term Memory\n", "") + "- Prefers tea to coffee.\n")
    assert "header" in headless.reason
    same = by_model(BEFORE)
    assert same.reason == "the proposal changes nothing"


def test_a_candidate_that_the_model_left_out_is_told() -> None:
    content = BEFORE + "- Prefers tea to coffee.\n"
    proposal = by_model(content, "I prefer tea to coffee.", "The kiln stands behind the barn.")
    assert [c.text for c in proposal.promoted] == ["I prefer tea to coffee."]
    assert [(c.text, gate) for c, gate in proposal.left] == [("The kiln stands behind the barn.", "model")]


def test_a_line_of_the_memory_knows_its_candidates() -> None:
    tea, kiln = candidates("I prefer tea to coffee.", "The kiln stands behind the barn.")
    assert candidates_in("- Prefers tea to coffee", [tea, kiln], "english") == [tea]
    assert candidates_in("- Something else altogether", [tea, kiln], "english") == [tea, kiln]
