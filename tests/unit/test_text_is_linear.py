"""No text costs more than its length: each function over text from outside, at growing lengths of hostile texts.

`tests/attacks.py` has the texts, `tests/linear/` the functions, `tests/growth.py` says what is linear.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.attacks import Attack, quick
from tests.growth import Effort, GrowthMeter, verdict
from tests.linear.tables import exempt, table

ROOT = Path(__file__).parents[2]
# Modules that read text from outside and do not say of themselves that they are pure.
READERS = {
    "reverie_indexer.file_rules",
    "reverie_server.search.request",
    "reverie_server.text.tokens",
    "reverie_server.files.snapshot_format",
    "reverie_server.files.strict_zip",
    "reverie_server.tools.arguments",
}
# Their docstring says "pure" of one function, or of a callable that they give: that one is in a table by name.
NOT_PURE_AS_A_WHOLE = {
    "reverie_indexer.pipeline",
    "reverie_indexer.index.transcript",
    "reverie_indexer.index.episode_index",
    "reverie_server.search.recall_log",
    "reverie_server.provenance.tombstones",
}
_NO_TEXT = {"int", "float", "bool", "date", "datetime", "None", "ZoneInfo", "Floats", "Integers", "timedelta"}


@pytest.fixture(scope="module")
def meter() -> Iterator[GrowthMeter]:
    meter = GrowthMeter(table)
    yield meter
    meter.close()


@pytest.mark.parametrize("name", sorted(table()))
def test_a_function_takes_time_linear_in_its_text(meter: GrowthMeter, name: str) -> None:
    assert meter.failures(name) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(table()))
def test_a_function_takes_time_linear_in_any_text_of_the_full_list(meter: GrowthMeter, name: str) -> None:
    assert meter.failures(name, "full") == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(table()))
def test_a_function_takes_time_linear_in_long_texts(meter: GrowthMeter, name: str) -> None:
    assert meter.failures(name, "long") == []


def test_every_function_over_text_is_measured_or_says_why_not() -> None:
    measured = {name.partition(":")[0] for name in table()}
    reasons = exempt()
    public = set(_public_functions())
    assert public - measured - reasons.keys() == set()
    assert measured & reasons.keys() == set()
    assert all(reasons.values())


def test_every_name_of_the_tables_is_a_function_there_is() -> None:
    known = {name for name in [*table(), *exempt()] if not _is_defined(name.partition(":")[0])}
    assert known == set()


def _square(text: str) -> int:
    # Each step reads the whole text slowly enough for the shortest texts to show it on any machine.
    return sum(hash(text * 4 + char) for char in text)


def _exponential(text: str) -> object:
    return re.fullmatch(r"(?:a+)+", f"{text}!")


def _linear(text: str) -> object:
    return text.split()


def _broken(text: str) -> object:
    return text[10_000]


def _known_cases() -> dict[str, object]:
    return {"square": _square, "exponential": _exponential, "linear": _linear, "broken": _broken}


def test_the_meter_finds_what_is_not_linear() -> None:
    meter = GrowthMeter(_known_cases, max_failures=1)  # type: ignore[arg-type]
    try:
        assert meter.failures("linear") == []
        assert "characters" in meter.failures("square")[0]
        assert "raised IndexError" in meter.failures("broken")[0]
    finally:
        meter.close()


def test_nobody_is_accused_by_a_run_that_was_disturbed() -> None:
    lengths: list[int] = []

    def read(text: str) -> None:
        lengths.append(len(text))
        is_disturbed = len(text) == 1024 and lengths.count(1024) <= 2
        _spend(len(text) / 256 * 0.1 * (3 if is_disturbed else 1))

    assert verdict(read, Attack("a × n", lambda length: "a" * length), Effort(quick, 256, 0.0)) is None
    assert lengths.count(1024) > 2


def _spend(seconds: float) -> None:
    """Take so much CPU time."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def test_the_meter_ends_what_does_not_come_back() -> None:
    meter = GrowthMeter(_known_cases, max_failures=1, deadline_seconds=2.0)  # type: ignore[arg-type]
    try:
        assert "takes more than" in meter.failures("exponential")[0]
    finally:
        meter.close()


def _public_functions() -> Iterator[str]:
    for package in ("indexer", "server"):
        for file in sorted((ROOT / package).rglob("*.py")):
            module = ".".join(file.relative_to(ROOT / package).with_suffix("").parts)
            tree = ast.parse(file.read_text())
            if ".bench." in module or module in NOT_PURE_AS_A_WHOLE:
                continue
            if module in READERS or re.search(r"\b[Pp]ure\b", ast.get_docstring(tree) or ""):
                yield from (f"{module}.{name}" for name in _functions_of(tree))


def _functions_of(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and _takes_text(node):
            yield node.name
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for method in node.body:
                if isinstance(method, ast.FunctionDef) and not method.name.startswith("_") and _takes_text(method):
                    yield f"{node.name}.{method.name}"


def _takes_text(function: ast.FunctionDef) -> bool:
    """Whether an argument may be a text or hold one."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    annotations = [ast.unparse(argument.annotation) for argument in arguments if argument.annotation is not None]
    return any(set(re.findall(r"\w+", annotation)) - _NO_TEXT for annotation in annotations)


def _is_defined(name: str) -> bool:
    """Whether a module has a function, a method or a pattern of that name."""
    module, _, rest = name.rpartition(".")
    try:
        found: object = __import__(module, fromlist=[rest])
    except ImportError:
        module, _, owner = module.rpartition(".")
        found = getattr(__import__(module, fromlist=[owner]), owner)
    return hasattr(found, rest)
