"""Models of the control routes. Each answer has an envelope, `{"code": 200, "data": …}`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from reverie_server.http.schemas.common import Owner, Page, request_config, response_config
from reverie_server.text.fields import Text

_REPORT = "5f2c9a01d4b7e683"
_PARTS = {"frequency": 0.58, "recency": 0.91, "diversity": 0.4, "freshness": 0.9, "consolidation": 0.33}
_GATES = {
    "recalls": {"value": 3, "needed": 3, "passed": True},
    "queries": {"value": 2, "needed": 2, "passed": True},
    "score": {"value": 0.65, "needed": 0.4, "passed": True},
}
_CANDIDATE = {
    "source": "memory/2026-04-01.md:5",
    "snippet": "Prefers tea to coffee.",
    "score": 0.65,
    "parts": _PARTS,
    "gates": _GATES,
}
_REPORT_EXAMPLE = {
    "id": _REPORT,
    "mode": "full",
    "topic": None,
    "trigger": "cron",
    "started_at": "2026-04-03T02:00:00Z",
    "status": "success",
    "reason": "1 of 14 candidates entered MEMORY.md",
    "seen": {"notes": ["memory/2026-04-01.md"], "consolidated": [], "entries": 31, "candidates": 14},
    "promoted": [
        {
            "key": f"{_REPORT}:1",
            "text": "Prefers tea to coffee.",
            "source": "memory/2026-04-01.md:5",
            "score": 0.65,
            "parts": _PARTS,
        }
    ],
    "rejected": [
        {
            "text": "Looked at a screenshot.",
            "source": "memory/2026-04-02.md:9",
            "score": 0.21,
            "parts": _PARTS,
            "gate": "recalls",
        }
    ],
    "diff": "--- MEMORY.md@4\n+++ MEMORY.md@5\n@@ -5,2 +5,3 @@\n ## Preferences\n \n+- Prefers tea to coffee.\n",
    "ended_at": "2026-04-03T02:00:01Z",
    "method": "extractive",
    "prompt": None,
    "prompt_version": None,
    "model": None,
    "fallback": None,
    "path": "MEMORY.md",
    "version_before": 4,
    "version_after": 5,
}


class Failure(BaseModel):
    """What went wrong, for people in `msg` and for programs in `error`, the stable word of other routes' problems."""

    model_config = response_config(code=500, msg="there is no agent 'wren'", error="not_found")

    code: Literal[500] = 500
    msg: str
    error: str


class ControlBody(Owner):
    """Whose memory. Neither field: the team's."""

    model_config = request_config(owner_key="user:42")


class ControlQuery(Owner):
    """Whose memory. Neither field: the team's."""


class FocusBody(Owner):
    """What to look for in the notes of the last weeks."""

    model_config = request_config(topic="tea", owner_key="user:42")

    topic: Annotated[Text, Field(min_length=1, max_length=2000, pattern=r"\S")]


class RunData(BaseModel):
    """What a run came to. Its report says more, where it left one."""

    status: Literal["completed", "skipped", "failed"]
    report_id: str | None
    reason: str


class RunAnswer(BaseModel):
    """The outcome of a run by hand."""

    model_config = response_config(
        code=200, data={"status": "completed", "report_id": _REPORT, "reason": "1 of 14 candidates entered MEMORY.md"}
    )

    code: Literal[200] = 200
    data: RunData


class StatusData(BaseModel):
    """How emergence stands. `cron` is in the agent's time zone; `promoted` counts the entries of all reports."""

    enabled: bool
    cron: str
    last_run: datetime | None
    next_run: datetime | None
    last_status: Literal["success", "skipped", "failed"] | None
    latest_entry: str | None = Field(description="The latest entry of DREAMS.md")
    pending_candidates: int = Field(description="How many candidates would pass all gates now")
    promoted: int


class StatusAnswer(BaseModel):
    """How emergence stands."""

    model_config = response_config(
        code=200,
        data={
            "enabled": True,
            "cron": "0 2 * * *",
            "last_run": "2026-04-03T02:00:00Z",
            "next_run": "2026-04-04T02:00:00Z",
            "last_status": "success",
            "latest_entry": f"## 2026-04-03 02:00 emergence: 1 of 14 candidates entered MEMORY.md (report {_REPORT})",
            "pending_candidates": 2,
            "promoted": 17,
        },
    )

    code: Literal[200] = 200
    data: StatusData


class GateData(BaseModel):
    """What a candidate has, and what it needs."""

    value: float | bool
    needed: float | bool
    passed: bool


class CandidateData(BaseModel):
    """An entry of the notes that may enter MEMORY.md, with the parts of its score, each from 0 to 1, and its gates."""

    source: str
    snippet: str
    score: float
    parts: dict[str, float]
    gates: dict[str, GateData]


class CandidatesQuery(ControlQuery):
    """Whose candidates, and how many of the best; all without a limit."""

    limit: Annotated[int, Field(ge=1, le=500)] | None = None


class CandidatesAnswer(BaseModel):
    """The candidates of now, best first."""

    model_config = response_config(code=200, data=[_CANDIDATE])

    code: Literal[200] = 200
    data: list[CandidateData]
    count: int | None = Field(default=None, description="How many there are, with a limit alone")


class ReportData(BaseModel):
    """A run of emergence, dreaming (mode `dreaming`) or SOUL.md (mode `soul`): what it saw, concluded and changed."""

    id: str
    mode: Literal["full", "focused", "dreaming", "soul"]
    topic: str | None
    trigger: Literal["event", "cron", "api", "retry"]
    started_at: datetime
    status: Literal["success", "skipped", "failed"]
    reason: str
    seen: dict[str, Any]
    promoted: list[dict[str, Any]]
    rejected: list[dict[str, Any]] = Field(description="Each with the gate that stopped it")
    diff: str
    ended_at: datetime
    method: Literal["llm", "extractive"] | None
    prompt: str | None
    prompt_version: str | None
    model: str | None
    fallback: str | None = Field(description="Why a configured model was not used")
    path: str | None = Field(description="The file that was written")
    version_before: int | None = Field(description="What to restore; null: there was no such file")
    version_after: int | None


class ReportAnswer(BaseModel):
    """A report."""

    model_config = response_config(code=200, data=_REPORT_EXAMPLE)

    code: Literal[200] = 200
    data: ReportData


class ReportPage(Page):
    """A page of the reports."""


class ReportsData(BaseModel):
    """A page of reports, newest first."""

    reports: list[ReportData]
    next_cursor: str | None


class ReportsAnswer(BaseModel):
    """A page of reports, newest first."""

    model_config = response_config(code=200, data={"reports": [_REPORT_EXAMPLE], "next_cursor": None})

    code: Literal[200] = 200
    data: ReportsData


class ArchivedMonthData(BaseModel):
    """A month of the archive: how many reports it has, by status, and how many entries they promoted."""

    month: str = Field(description="yyyy-mm")
    reports: int
    success: int
    skipped: int
    failed: int
    promoted: int


class ArchiveData(BaseModel):
    """The months of the archive, newest first."""

    months: list[ArchivedMonthData]


class ArchiveAnswer(BaseModel):
    """The months of the archive, newest first."""

    model_config = response_config(
        code=200,
        data={"months": [{"month": "2026-03", "reports": 31, "success": 4, "skipped": 26, "failed": 1, "promoted": 9}]},
    )

    code: Literal[200] = 200
    data: ArchiveData


class CardEntry(BaseModel):
    """Something that entered MEMORY.md, and where it comes from."""

    key: str
    text: str
    source: str


class CardAnswer(BaseModel):
    """The newest conclusions that this owner has not seen; null where there are none."""

    model_config = response_config(
        code=200,
        data=[{"key": f"{_REPORT}:1", "text": "Prefers tea to coffee.", "source": "memory/2026-04-01.md:5"}],
    )

    code: Literal[200] = 200
    data: list[CardEntry] | None


class EntryBody(ControlBody):
    """What an entry of the card is to say."""

    model_config = request_config(content="Prefers green tea to coffee.", owner_key="user:42")

    content: Annotated[Text, Field(min_length=1, max_length=5000, pattern=r"\S")]


class EntryAnswer(BaseModel):
    """An entry of the card as it is now."""

    model_config = response_config(
        code=200, data={"key": f"{_REPORT}:1", "text": "Prefers tea to coffee.", "source": "memory/2026-04-01.md:5"}
    )

    code: Literal[200] = 200
    data: CardEntry


class ForgottenEntryData(BaseModel):
    """What was forgotten: in how many files and other things it stood."""

    key: str
    removed: int


class ForgottenEntryAnswer(BaseModel):
    """An entry of the card is forgotten."""

    model_config = response_config(code=200, data={"key": f"{_REPORT}:1", "removed": 3})

    code: Literal[200] = 200
    data: ForgottenEntryData


class SeenData(BaseModel):
    """How many entries the card had that is seen now; 0: there was none."""

    seen: int


class SeenAnswer(BaseModel):
    """The morning card is seen."""

    model_config = response_config(code=200, data={"seen": 1})

    code: Literal[200] = 200
    data: SeenData
