"""The lines of PROFILE.md that facts made, in the file as it stands. Pure.

A line leaves when its fact ends, and another of its kind takes its place. Nothing else of the file is touched: a line
that a person has changed, or put something below, is theirs; one that they took out does not come back.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
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

    `taken_out` are those that somebody took out. The seed gives way to the lines.
    """
    text = "" if before is None or is_unedited_seed(PROFILE, before) else before
    lines = lines_of(text)
    own = _own(text, lines, made)
    holding = {line_sha256(line.text) for line in wanted}
    present = {line_sha256(line) for line in entry_lines(text)}
    waiting = [line for line in wanted if line_sha256(line.text) not in present | set(taken_out)]
    new = list(waiting)
    left = 0
    last = None
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
            last = len(result) + 1
        result.append(line)
    if not new and not left:
        return NewProfile(before or "", [], 0)
    newline = "\r\n" if any(line.endswith("\r\n") for line in lines) else "\n"
    bullets = [f"- {line.text}{newline}" for line in waiting]
    return NewProfile("".join(_inserted(result, bullets, last, newline)), new, left)


def _own(text: str, lines: Sequence[str], made: Collection[bytes]) -> frozenset[int]:
    items = (block.start for block in blocks_of(text) if block.kind == "item" and block.end == block.start + 1)
    return frozenset(at for at in items if line_sha256(lines[at]) in made)


def _inserted(lines: list[str], bullets: Sequence[str], last: int | None, newline: str) -> list[str]:
    """The lines with bullets behind the last one of their own; else below the title, or before everything."""
    if not bullets:
        return lines
    if last is not None:
        lines[last - 1] = _closed(lines[last - 1], newline)
        return [*lines[:last], *bullets, *lines[last:]]
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
