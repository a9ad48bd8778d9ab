"""The tables of a recall run and of a calibration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.table import Table

from reverie_bench.recall.metrics import Bucket, Difference, Scores
from reverie_bench.recall.relevance_fit import Calibration, Formula
from reverie_bench.recall.run import SYSTEM
from reverie_bench.report import Report, number, table
from reverie_server.search.relevance import MIN_RELEVANCE

# A table has no room for these; the result file has them.
_ONLY_IN_JSON = ("any@5", "all@5", "any@20", "all@20")
_LEADS = ("hit@1", "hit@5", "fraction@10", "ndcg@10", "mrr", "within_1000")


def recall_content(report: Report) -> Iterator[RenderableType]:
    """Every way's figures, the system's by category, its lead over the others, and what relevance is worth."""
    sizes, data, ways, relevance = report.sizes, report.data, report["ways"], report["relevance"]
    yield (
        f"{data['file']}: {sizes['questions']} questions on {sizes['units']} units in {sizes['notes']} notes, "
        f"{sizes['chunks']} chunks; {sizes['dropped_without_evidence']} questions dropped (their evidence points "
        f"nowhere), {sizes['left_out_unanswerable']} left out (unanswerable); language {data['language']}, overrides "
        f"{', '.join(report.settings['overrides']) or 'none'}"
    )
    yield _scores_table("all questions", {name: way.overall for name, way in ways.items()})
    if ways[SYSTEM].by_category:
        yield _scores_table(f"{SYSTEM} by category", ways[SYSTEM].by_category)
    yield _lead_table(report["differences"])
    yield _evidence_table("P(evidence | relevance)", relevance.buckets)
    elsewhere = relevance.found_elsewhere
    yield f"relevance from {MIN_RELEVANCE} on: for {relevance.found:.3f} of the questions" + (
        "" if elsewhere is None else f", for {elsewhere:.3f} in another memory, which cannot know"
    )


def relevance_content(report: Report) -> Iterator[RenderableType]:
    """For each formula its terms, what MIN_RELEVANCE decides by it, and its curve."""
    sizes, data = report.sizes, report.data
    yield (
        f"{data['file']}: {sizes['questions']} questions of {sizes['collections']} conversations, and {sizes['turns']} "
        f"turns; language {data['language']}"
    )
    for name, calibration in report["calibrations"].items():
        yield f"\n{name}: {_formula(calibration.formula)}"
        for formula in calibration.left_out:
            yield f"  without one of them: {_formula(formula)}"
        yield f"  AUC {calibration.auc:.3f}, held out {calibration.auc_held_out:.3f}"
        yield _verdict_table(calibration)
        yield _category_table(calibration)
        yield _evidence_table("P(evidence | relevance), held out", calibration.curve)


def _scores_table(title: str, rows: Mapping[str, Scores]) -> Table:
    names = [name for name in next(iter(rows.values())) if name not in _ONLY_IN_JSON]
    return table(title, names, ([label, *(f"{scores[name]:.3f}" for name in names)] for label, scores in rows.items()))


def _lead_table(differences: Mapping[str, Mapping[str, Difference]]) -> Table:
    names = [name for name in next(iter(differences.values())) if name in _LEADS]

    def interval(lead: Difference) -> str:
        return f"{lead.mean:+.3f} ({lead.low:+.3f} … {lead.high:+.3f})"

    rows = ([label, *(interval(leads[name]) for name in names)] for label, leads in differences.items())
    return table(f"{SYSTEM} minus …: mean (95 % interval, paired bootstrap)", names, rows)


def _evidence_table(title: str, buckets: Sequence[Bucket]) -> Table:
    rows = ((f"{b.low:.2f}–{b.high:.2f}", str(b.results), f"{b.evidence / b.results:.3f}") for b in buckets)
    return table(title, ("passages", "evidence"), rows, label="relevance")


def _formula(formula: Formula) -> str:
    terms = [(value, f"·{name}") for name, value in formula.slopes.items()] + [(formula.offset, "")]
    written = " ".join(f"{'−' if value < 0 else '+'} {abs(value):.2f}{name}" for value, name in terms)
    return f"relevance = σ({written.removeprefix('+ ')})"


def _verdict_table(calibration: Calibration) -> Table:
    groups = list(next(iter(calibration.verdicts.values())).found)
    rows = []
    for name, verdict in calibration.verdicts.items():
        right = {group: f" ({share:.3f})" for group, share in verdict.right.items()}
        rows.append([name, *(f"{verdict.found[group]:.3f}{right.get(group, '')}" for group in groups)])
    return table(f"messages that find something from {MIN_RELEVANCE} on (and the right thing)", groups, rows)


def _category_table(calibration: Calibration) -> Table:
    rows = (
        (f"{group}: {category}", str(verdict.messages), number(verdict.found, 3), number(verdict.right, 3))
        for group, by_category in calibration.by_category.items()
        for category, verdict in by_category.items()
    )
    return table("turns, held out", ("messages", "found", "right"), rows, label="category")
