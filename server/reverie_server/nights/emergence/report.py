"""What a run of emergence says of itself: in its report and in the diary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from reverie_server.long_term.longterm import MEMORY
from reverie_server.nights.emergence.collect import Candidate, View
from reverie_server.nights.emergence.text import Proposal
from reverie_server.nights.reports import Report
from reverie_server.text.markdown_edit import unified_diff

_DIGITS = 4
# Of what did not enter, the best so many are told.
_SHOWN = 50


def candidate_line(candidate: Candidate) -> str:
    """A candidate as a model is given it."""
    days = ", ".join(sorted({day.isoformat() for day in candidate.evidence.days}))
    count = len({(recall.query, recall.at) for recall in candidate.evidence.recalls})
    return f"- ({days}; recalled {count} times) {candidate.text}"


def seen(view: View, found: Sequence[Candidate]) -> dict[str, Any]:
    """What a run looked at, by name and number."""
    stopped = Counter(candidate.scored.stopped_by for candidate in found)
    return {
        "notes": [file.path for file in view.files if not file.is_consolidated],
        "consolidated": [file.path for file in view.files if file.is_consolidated],
        "memory": None if view.memory is None else f"{view.memory.path}@{view.memory.version}",
        "entries": len(view.entries),
        "candidates": len(found),
        "passed": stopped[None],
        "stopped": {gate: count for gate, count in sorted(stopped.items(), key=str) if gate is not None},
    }


def why_nothing(view: View, found: Sequence[Candidate]) -> str:
    """Why no candidate passed."""
    if not view.files:
        return "there are no notes to look at"
    if not found:
        return "the notes hold no candidates"
    stopped = Counter(candidate.scored.stopped_by for candidate in found)
    gates = ", ".join(f"{count} at {gate}" for gate, count in stopped.most_common(3))
    return f"none of {len(found)} candidates passed ({gates})"


def told(found: Sequence[Candidate], left: Sequence[tuple[Candidate, str]]) -> list[dict[str, Any]]:
    """The candidates that did not enter, best first, each with the gate that stopped it."""
    late = {id(candidate): gate for candidate, gate in left}
    stopped = [(candidate, late.get(id(candidate)) or candidate.scored.stopped_by) for candidate in found]
    return [{**_told(candidate), "gate": gate} for candidate, gate in stopped if gate is not None][:_SHOWN]


def concluded(
    report: Report, view: View, found: Sequence[Candidate], proposal: Proposal
) -> tuple[Report, list[tuple[str, str]]]:
    """The report of a run that changes the memory, and what the diary says of it."""
    before = view.memory.text if view.memory else ""
    path = view.memory.path if view.memory else MEMORY
    version = view.memory.version if view.memory else None
    promoted = [
        {"key": f"{report.report_id}:{number}", **_told(candidate)}
        for number, candidate in enumerate(proposal.promoted, start=1)
    ]
    diff = unified_diff(before, proposal.text or "", f"{path}@{version or 0}", path)
    looked = report.seen
    details = [
        (
            "Seen",
            f"{len(looked['notes'])} notes, {len(looked['consolidated'])} consolidated files, "
            f"{looked['entries']} entries, {looked['candidates']} candidates",
        ),
        *(("Concluded", candidate.text) for candidate in proposal.promoted),
        ("Rewrote", f"{path}, which was at version {version}" if version else f"{path}, which is new"),
        *(("Left the memory for the archive", entry) for entry in proposal.dropped),
    ]
    report = replace(
        report,
        reason=f"{len(promoted)} of {len(found)} candidates entered {path}",
        promoted=promoted,
        rejected=told(found, proposal.left),
        diff=diff,
        path=path,
        version_before=version,
    )
    return report, details


def _told(candidate: Candidate) -> dict[str, Any]:
    return {
        "text": candidate.text,
        "source": candidate.source,
        "score": round(candidate.scored.score, _DIGITS),
        "parts": rounded(candidate.scored.parts),
    }


def rounded(parts: Mapping[str, float]) -> dict[str, float]:
    """The parts of a score as they are shown."""
    return {name: round(part, _DIGITS) for name, part in parts.items()}
