"""The words and figures of a run of emergence, for its report and for the diary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from reverie_server.long_term.longterm import MEMORY
from reverie_server.nights.emergence.candidates import STOPPED
from reverie_server.nights.emergence.collect import Candidate
from reverie_server.nights.emergence.model import EmergenceInput
from reverie_server.nights.emergence.text import Proposal
from reverie_server.nights.reports import Report
from reverie_server.text.markdown_edit import unified_diff

_DIGITS = 4
# At most this many candidates that did not enter are listed, the best ones.
_MAX_REJECTED = 50


def candidate_line(candidate: Candidate) -> str:
    """A candidate as the model reads it."""
    days = ", ".join(sorted({day.isoformat() for day in candidate.evidence.days}))
    count = len({(recall.query, recall.at) for recall in candidate.evidence.recalls})
    return f"- ({days}; recalled {count} times) {candidate.text}"


def seen_counts(inputs: EmergenceInput, candidates: Sequence[Candidate]) -> dict[str, Any]:
    """The input of a run for the report: names of files, and counts."""
    stopped = Counter(candidate.scored.stopped_by for candidate in candidates)
    return {
        "notes": [file.path for file in inputs.files if not file.is_consolidated],
        "consolidated": [file.path for file in inputs.files if file.is_consolidated],
        "memory": None if inputs.memory is None else f"{inputs.memory.path}@{inputs.memory.version}",
        "entries": len(inputs.entries),
        "candidates": len(candidates),
        "passed": stopped[None],
        "stopped": {gate: count for gate, count in sorted(stopped.items(), key=str) if gate is not None},
    }


def why_nothing(inputs: EmergenceInput, candidates: Sequence[Candidate]) -> str:
    """Why no candidate passed."""
    if not inputs.files:
        return "there are no notes to look at"
    if not candidates:
        return "the notes hold no candidates"
    stopped = Counter(candidate.scored.stopped_by for candidate in candidates)
    reasons = ", ".join(f"{count} {STOPPED[gate]}" for gate, count in stopped.most_common(3) if gate is not None)
    return f"none of {len(candidates)} candidates passed: {reasons}"


def rejected(candidates: Sequence[Candidate], late: Sequence[tuple[Candidate, str]]) -> list[dict[str, Any]]:
    """The candidates that did not enter, best first, each with the gate that stopped it.

    `late` are those that passed every gate and were left out afterwards, each with the reason.
    """
    late_gates = {id(candidate): reason for candidate, reason in late}
    gates = [(candidate, late_gates.get(id(candidate)) or candidate.scored.stopped_by) for candidate in candidates]
    return [{**_as_json(candidate), "gate": gate} for candidate, gate in gates if gate is not None][:_MAX_REJECTED]


def concluded(
    report: Report, inputs: EmergenceInput, candidates: Sequence[Candidate], proposal: Proposal
) -> tuple[Report, list[tuple[str, str]]]:
    """The report of a run that changes the memory, and the details of its diary entry."""
    before = inputs.memory.text if inputs.memory else ""
    path = inputs.memory.path if inputs.memory else MEMORY
    version = inputs.memory.version if inputs.memory else None
    promoted = [
        {"key": f"{report.report_id}:{number}", **_as_json(candidate)}
        for number, candidate in enumerate(proposal.promoted, start=1)
    ]
    diff = unified_diff(before, proposal.text or "", f"{path}@{version or 0}", path)
    seen = report.seen
    details = [
        (
            "Seen",
            f"{len(seen['notes'])} notes, {len(seen['consolidated'])} consolidated files, "
            f"{seen['entries']} entries, {seen['candidates']} candidates",
        ),
        *(("Concluded", candidate.text) for candidate in proposal.promoted),
        ("Rewrote", f"{path}, which was at version {version}" if version else f"{path}, which is new"),
        *(("Left the memory for the archive", entry) for entry in proposal.dropped),
    ]
    report = replace(
        report,
        reason=f"{len(promoted)} of {len(candidates)} candidates entered {path}",
        promoted=promoted,
        rejected=rejected(candidates, proposal.left),
        diff=diff,
        path=path,
        version_before=version,
    )
    return report, details


def _as_json(candidate: Candidate) -> dict[str, Any]:
    return {
        "text": candidate.text,
        "source": candidate.source,
        "score": round(candidate.scored.score, _DIGITS),
        "parts": rounded(candidate.scored.parts),
    }


def rounded(parts: Mapping[str, float]) -> dict[str, float]:
    """The parts of a score, rounded."""
    return {name: round(part, _DIGITS) for name, part in parts.items()}
