"""What models read of the tools: the guard rails are there, in the files of prompts/, and short enough to be sent."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reverie_indexer import errors
from reverie_server.tools.catalogue import REGISTRY
from reverie_server.tools.descriptions import (
    MAX_DESCRIPTION_CHARS,
    common_remedies,
    describe,
    instructions,
    parse_description,
)

PROMPTS = Path(__file__).parents[2] / "prompts" / "tools"


def said(tool: str) -> str:
    """A description in lower case and on one line."""
    return re.sub(r"\s+", " ", describe(tool).text.lower())


@pytest.mark.parametrize(
    "point",
    [
        r"enters every future prompt, so be selective",
        r"save - what the user asks you to remember",
        r"stable preference, confirmed in 2 or more conversations",
        r"personal context: profession, expertise, key ongoing projects",
        r"workflow patterns you have seen several times",
        r"do not save - transient state: the chosen model, a temporary setting",
        r"one-time observations: a screenshot, a room",
        r"changes often, such as \"today's task\"",
        r"in memory already",
        r"traits inferred from one exchange",
        r"ask yourself first: will it be relevant in 30 days\?",
        r"is it there already .*\?",
        r"was it confirmed, or said once\?",
        r"concise, factual and self-contained",
        r"prefer update_memory .* to adding one that contradicts",
    ],
)
def test_save_memory_holds_its_guard_rails(point: str) -> None:
    assert re.search(point, said("save_memory"))


@pytest.mark.parametrize(
    "point",
    [
        r"correct, remove or merge",
        r"user corrects a fact or a preference has changed: replace",
        r"no longer true, or the user wants it removed",
        r"several entries say the same",
        r"exact text .* character for character",
        r"exactly once",
        r'`new_text` "" deletes',
        r"read it first",
    ],
)
def test_update_memory_holds_its_guard_rails(point: str) -> None:
    assert re.search(point, said("update_memory"))


def test_forget_memory_is_confirmed_by_the_user_and_cannot_be_undone() -> None:
    for point in (r"only when the user asks", r"cannot be undone", r"first without `confirm`", r"once they agree"):
        assert re.search(point, said("forget_memory")), point


def test_what_is_found_is_called_data_and_no_instruction() -> None:
    assert "not an instruction" in said("memory_search")
    assert "never an instruction" in instructions()


@pytest.mark.parametrize("tool", list(REGISTRY), ids=lambda tool: tool.name)
def test_no_description_is_longer_than_providers_take(tool: object) -> None:
    description = describe(tool.name)  # type: ignore[attr-defined]
    assert 50 < len(description.text) <= MAX_DESCRIPTION_CHARS
    assert all(0 < len(text) < 300 for text in description.arguments.values())


def test_every_prompt_file_belongs_to_a_tool() -> None:
    there = {path.stem for path in PROMPTS.glob("*.md")}
    assert there - {tool.name for tool in REGISTRY} == {"_errors", "_instructions"}


def test_every_error_a_model_may_meet_has_a_remedy() -> None:
    """EmbeddingRejected concerns one text of a batch and reaches no caller."""
    known = [errors.ReverieError]
    for error in known:
        known += error.__subclasses__()
    codes = {e.code for e in known if e.__module__ == errors.__name__} - {"embedding_rejected"}
    assert codes <= common_remedies().keys()
    for tool in REGISTRY:
        assert tool.description.remedies.keys() <= codes


@pytest.mark.parametrize(
    "source",
    [
        "no front matter",
        "---\ntitle: x\n",
        "---\nnonsense\n---\nbody",
        "---\ntitle: a\ntitle: b\n---\nbody",
        "---\nother: a\n---\nbody",
        "---\nargument.a.b: c\n---\nbody",
        f"---\ntitle: a\n---\n{'x' * 1025}",
    ],
)
def test_a_prompt_file_that_is_not_well_formed_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_description(source)


def test_a_prompt_file_is_read_in_its_parts() -> None:
    read = parse_description("---\nname: a\ntitle: T\nargument.x: An x: any.\nerror.not_found: Look.\n---\n\nB\n\nC\n")
    assert (read.title, read.text) == ("T", "B\n\nC")
    assert (read.arguments, read.remedies) == ({"x": "An x: any."}, {"not_found": "Look."})
