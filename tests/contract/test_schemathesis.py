"""Generated requests against the OpenAPI document: never a 500, and every answer is one that it describes.

Half of the requests name an agent and files that are there, so that more than refusals is tried.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
EXAMPLES = {GenerationMode.POSITIVE: 40, GenerationMode.NEGATIVE: 20}
BUDGET_SECONDS = 60
THERE = st.fixed_dictionaries(
    {
        "a": st.just("wren"),
        "path": st.sampled_from(["a.md", "b/c.md", "MEMORY.md", "x.json"]),
        "version": st.integers(1, 3),
    }
)
PATHS = ("/api/v1/agents/{a}/files", "/api/v1/agents/{a}/memory/search", "/healthz", "/readyz", "/metrics")


def meant_well(case: Any, there: dict[str, Any]) -> None:
    """Name what is there, and leave out what random text is refused for before anything else is looked at."""
    case.path_parameters = {name: there[name] for name in case.path_parameters or {}}
    for fields in (case.query, case.body, case.headers):
        if isinstance(fields, MutableMapping):
            for name in ("owner_key", "end_user_id", "cursor", "if-match"):
                fields.pop(name, None)


@dataclass
class Run:
    """One run over a server; `answers` counts how often an operation gave which status."""

    base_url: str
    deadline: float
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)

    def everything(self) -> None:
        """Try every operation of this part of the contract. Fails at the first broken promise."""
        schema = schemathesis.openapi.from_url(f"{self.base_url}/openapi.json")
        for found in schema.get_all_operations():
            operation = found.ok()
            if not operation.path.startswith(PATHS):
                continue
            self.operation(operation, GenerationMode.POSITIVE)
            if operation.path_parameters:
                self.operation(operation, GenerationMode.NEGATIVE)

    def operation(self, operation: Any, mode: GenerationMode) -> None:
        @seed(20260403)
        @settings(
            max_examples=EXAMPLES[mode] if operation.path_parameters else 3,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(operation.as_strategy(generation_mode=mode), st.none() | THERE)
        def run(case: Any, there: dict[str, Any] | None) -> None:
            if time.monotonic() > self.deadline:
                return
            if there is not None:
                meant_well(case, there)
            response = case.call(base_url=self.base_url, timeout=30)
            case.validate_response(response, checks=CHECKS)
            self.answers[operation.label, response.status_code] += 1

        run()


async def test_every_answer_is_one_that_the_document_describes(wren: Any) -> None:
    for path in ("a.md", "b/c.md"):
        await wren.put(path, "The quagga grazes.\n\n- key: value\n")
        await wren.put(path, "The okapi grazes.\n\n- key: value\n")
    base_url = str(wren.http.base_url).split("/api/")[0]
    run = Run(base_url, time.monotonic() + BUDGET_SECONDS)
    await asyncio.to_thread(run.everything)
    answers = run.answers
    assert {status for _, status in answers} >= {200, 201, 204, 404, 422}
    labels = {label for label, _ in answers}
    assert len(labels) == 13, labels
    # What to replace is not to be guessed.
    for label in labels - {"PATCH /api/v1/agents/{a}/files/{path}"}:
        assert sum(answers[label, status] for status in (200, 201, 204)), f"{label} never succeeded: {answers}"
