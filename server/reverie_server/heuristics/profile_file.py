"""The lines of PROFILE.md that facts made, in the file as it stands. Pure.

A line leaves when its fact ends, and another of its kind takes its place. Nothing else of the file is touched: a line
that a person has changed, or put something below, is theirs; one that they took out does not come back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from reverie_indexer.file_rules import is_unedited_seed
from reverie_server.files.well_known import PROFILE
from reverie_server.heuristics.profile_lines import ProfileLine, kind_of_line
from reverie_server.provenance.line_identity import entry_lines, line_sha256
from reverie_server.text.markdown_blocks import blocks_of, without_marker
from reverie_server.text.markdown_edit import lines_of


@dataclass(frozen=True, slots=True)
class NewProfile:
    """The text of the file, and the lines that are `new` in it; `left` says how many lines left it."""

    text: str
    new: Sequence[ProfileLine]
    left: int


def present_lines(text: str, made: Collection[bytes]) -> list[str]:
    """The lines of a file that facts made, without their bullets: items of one line with nothing below them."""
    lines = lines_of(text)
    return [without_marker(lines[at]) for at in sorted(_own(text, lines, made))]


def with_profile_lines(
    before: str | None, wanted: Sequence[ProfileLine], made: Collection[bytes], taken_out: Collection[bytes]
) -> NewProfile:
    """PROFILE.md with the lines that are `wanted` in place of those that were `made` before, by their identity.

    `taken_out` are those that somebody took out. A new line stands before those of its own that come later among the
    wanted ones. The seed gives way to the lines.
    """
    text = "" if before is None or is_unedited_seed(PROFILE, before) else before
    lines = lines_of(text)
    own = _own(text, lines, made)
    holding = {line_sha256(line.text): place for place, line in enumerate(wanted)}
    present = {line_sha256(line) for line in entry_lines(text)}
    waiting = [line for line in wanted if line_sha256(line.text) not in present | set(taken_out)]
    new = list(waiting)
    left = 0
    # The places among the wanted lines of those that stand there, by their places in the result.
    kept: dict[int, int] = {}
    result: list[str] = []
    for at, line in enumerate(lines):
        if at in own:
            body = line.rstrip()
            plain = without_marker(body)
            if line_sha256(line) not in holding:
                left += 1
                successor = next((each for each in waiting if kind_of_line(each.text) == kind_of_line(plain)), None)
                if successor is None:
                    continue
                waiting.remove(successor)
                line = f"{body.removesuffix(plain)}{successor.text}{line[len(body) :]}"
            kept[len(result)] = holding[line_sha256(line)]
        result.append(line)
    if not new and not left:
        return NewProfile(before or "", [], 0)
    newline = "\r\n" if any(line.endswith("\r\n") for line in lines) else "\n"
    bullets = [(holding[line_sha256(line.text)], f"- {line.text}{newline}") for line in waiting]
    inserted = _among(result, bullets, kept, newline) if kept else _below_title(result, bullets, newline)
    return NewProfile("".join(inserted), new, left)


def _own(text: str, lines: Sequence[str], made: Collection[bytes]) -> frozenset[int]:
    items = (block.start for block in blocks_of(text) if block.kind == "item" and block.end == block.start + 1)
    return frozenset(at for at in items if line_sha256(lines[at]) in made)


def _among(
    lines: Sequence[str], bullets: Sequence[tuple[int, str]], kept: Mapping[int, int], newline: str
) -> list[str]:
    """The lines with bullets among those `kept`, each before the first that comes after it, or behind all."""
    last, waiting = max(kept), list(bullets)
    result: list[str] = []
    for at, line in enumerate(lines):
        while at in kept and waiting and waiting[0][0] < kept[at]:
            result.append(waiting.pop(0)[1])
        result.append(line)
        if at == last and waiting:
            result[-1] = _closed(line, newline)
            result += [bullet for _, bullet in waiting]
    return result


def _below_title(lines: list[str], placed: Sequence[tuple[int, str]], newline: str) -> list[str]:
    """The lines with bullets below the title, or before everything."""
    bullets = [bullet for _, bullet in placed]
    if not bullets:
        return lines
    text = "".join(lines)
    first = next(iter(blocks_of(text)), None)
    if first is None:
        return [f"# Profile{newline}", newline, *bullets]
    if first.kind != "heading" and (text.startswith("---") or first.start > 0):
        # Of what stands before everything a program reads the first line.
        lines[-1] = _closed(lines[-1], newline)
        return [*lines, newline, *bullets]
    at = first.end if first.kind == "heading" else 0
    above = [_closed(line, newline) for line in lines[:at]]
    below = lines[at:]
    while below and not below[0].strip():
        below.pop(0)
    return [*above, *([newline] if above else []), *bullets, *([newline] if below else []), *below]


def _closed(line: str, newline: str) -> str:
    return line if line.endswith(("\n", "\r")) else line + newline
