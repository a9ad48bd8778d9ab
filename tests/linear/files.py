"""How the functions over files are called with a text of somebody's: as the file, as the edit, as both."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import partial
from io import BytesIO

from tests.growth import Reading

from reverie_indexer.text.passages import Rules
from reverie_server.files import keyword_match as keyword_text
from reverie_server.files import snapshot_format, strict_zip
from reverie_server.forgetting import clauses, echoes, relevant, selection
from reverie_server.forgetting import files as forgotten_files
from reverie_server.heuristics import independent_clauses
from reverie_server.heuristics.requests import forget_requests
from reverie_server.long_term import compaction_text, memory_text, repeats
from reverie_server.provenance import tombstones
from reverie_server.provenance.line_identity import entry_lines, line_sha256
from reverie_server.sessions.model import Message
from reverie_server.text import (
    entry_tree,
    forgotten_parts,
    keyed_texts,
    questions,
    redact,
    sentence_ends,
    statement_spans,
)
from reverie_server.text import markdown_blocks as outline
from reverie_server.text import markdown_edit as sections
from reverie_server.text import remove_spans as removal

DAY = date(2026, 4, 3)
NOW = datetime(2026, 4, 3, tzinfo=UTC)
NOTE = "memory/2026-04-03.md"
SECRET = b"secret"
MEMORY = "# Long-term Memory\n\n## Notes\n\n- Ada likes tea in the morning.\n"
MAX_CHARS = selection.MAX_CHARS
MAX_ENTRY = memory_text.MAX_CONTENT_CHARS


def _every_other_line(text: str) -> set[bytes]:
    return {line_sha256(line) for line in entry_lines(text)[::2]}


def _beside_others(text: str) -> redact.Targets:
    """Targets that stay in every other line."""
    kept_in = partial(forgotten_files.lines_kept, hashes=_every_other_line(text), everywhere=redact.Targets(["a a"]))
    return redact.Targets(["a", "a a", "''", "漢"], everywhere=["a a"], kept_in=kept_in)


def _middle(text: str) -> str:
    """A part of the text itself, which occurs in it, as long as what may be forgotten."""
    return text[len(text) // 2 :][:MAX_CHARS].strip() or "Ada"


def _add(text: str, content: str) -> object:
    return memory_text.add_entry(text, "Notes", memory_text.entry_of(content))


def _without(text: str) -> object:
    forgotten = {"ada", redact.essence(text[:200])}
    return forgotten_parts.without_forgotten_words(
        forgotten_parts.without_forgotten(text, lambda kept: kept in forgotten), [1, 2, 12], forgotten.__contains__
    )


def _keyed(text: str) -> bytes:
    return hmac.digest(b"key", text.encode("utf-8", "surrogatepass"), "sha256")


def _keyed_texts(*texts: str) -> keyed_texts.KeyedTexts:
    known = [each for text in texts if (each := keyed_texts.keyed_text(text, _keyed)) is not None]
    return keyed_texts.KeyedTexts(known, _keyed)


def _spans(text: str) -> list[tuple[int, int]]:
    """Every third character."""
    return [(at, at + 1) for at in range(0, len(text), 3)]


def _pieces_in(text: str) -> object:
    searched = memory_text.Searched(text[::-1])
    return [searched.contains(piece) for piece in text.split("\n")]


TABLE: Mapping[str, Reading] = {
    "reverie_server.files.snapshot_format.is_snapshot_path": snapshot_format.is_snapshot_path,
    "reverie_server.files.snapshot_format.read_snapshot": lambda text: snapshot_format.read_snapshot(
        BytesIO(text.encode("utf-8", "replace")), strict_zip.Limits(), max_file_bytes=1024
    ),
    "reverie_server.long_term.compaction_text.is_due": lambda text: compaction_text.is_due(text, None, NOW),
    "reverie_server.long_term.compaction_text.compact_text": compaction_text.compact_text,
    "reverie_server.long_term.compaction_text.compact_text:section": lambda text: compaction_text.compact_text(
        MEMORY + text
    ),
    "reverie_server.long_term.repeats.without_repeats": lambda text: repeats.without_repeats(
        f"- {text}\n- {text} x\n", lambda line: True, "english"
    ),
    "reverie_server.long_term.compaction_text.guard": lambda text: compaction_text.guard(text, MEMORY),
    "reverie_server.long_term.compaction_text.guard:after": lambda text: compaction_text.guard(text, MEMORY + text),
    "reverie_server.long_term.compaction_text.guard:half": lambda text: compaction_text.guard(
        text, MEMORY + "x".join(text.split(" "))
    ),
    "reverie_server.long_term.compaction_text.pieces_of": lambda text: list(
        compaction_text.pieces_of(text.split("\n"))
    ),
    "reverie_server.forgetting.relevant.relevant_statements": lambda text: relevant.relevant_statements(
        text, frozenset({"tea", "ada"}), "english"
    ),
    "reverie_server.forgetting.relevant.best_of": lambda text: relevant.best_of([text, "tea"], text[:100], "english"),
    "reverie_server.forgetting.relevant.having": lambda text: relevant.having(f"Orla {text}", [text], "english"),
    "reverie_server.forgetting.clauses.clauses_to_forget": lambda text: clauses.clauses_to_forget(text, "english"),
    "reverie_server.forgetting.clauses.clauses_about": lambda text: clauses.clauses_about(
        text, frozenset({"tea", "ada"}), "english"
    ),
    "reverie_server.heuristics.independent_clauses.independent_clauses": lambda text: (
        independent_clauses.independent_clauses(text, "english")
    ),
    "reverie_server.forgetting.selection.checked_text": lambda text: selection.checked_text(text[:4000] + "a b"),
    "reverie_server.text.statement_spans.is_statement": statement_spans.is_statement,
    "reverie_server.text.questions.is_question": questions.is_question,
    "reverie_server.heuristics.requests.forget_requests.forget_requests": forget_requests.forget_requests,
    "reverie_server.heuristics.requests.forget_requests.last_statement": lambda text: forget_requests.last_statement(
        statement_spans.statements(text)
    ),
    "reverie_server.forgetting.echoes.behind": lambda text: echoes.behind(
        ["absent"], [Message(1, "user", text, NOW, 1), Message(2, "assistant", text, NOW, 1)]
    ),
    "reverie_server.forgetting.echoes.repetitions": lambda text: echoes.repetitions(
        text, ["My PIN is 7702.", text], is_answer=True
    ),
    "reverie_server.forgetting.echoes.echoes": lambda text: echoes.echoes(
        ["Ada likes tea."], [(text, text)], "english"
    ),
    "reverie_server.text.statement_spans.statement_spans": statement_spans.statement_spans,
    "reverie_server.text.sentence_ends.is_within_sentence": lambda text: sentence_ends.is_within_sentence(
        text[-12:], "a"
    ),
    "reverie_server.text.statement_spans.statements": statement_spans.statements,
    "reverie_server.text.statement_spans.without_stumps": lambda text: statement_spans.without_stumps(
        text, [(at, at + 1) for at in range(0, len(text), 7)]
    ),
    "reverie_server.text.statement_spans.without_stumps:one": lambda text: statement_spans.without_stumps(
        text, [(len(text) // 2, len(text) // 2 + 5)]
    ),
    "reverie_server.text.statement_spans.with_what_goes_along": lambda text: statement_spans.with_what_goes_along(
        text, [span for number, span in enumerate(statement_spans.statement_spans(text)) if number % 3 == 0], bool
    ),
    "reverie_server.text.redact.Targets.stretches_in": lambda text: redact.Targets(
        [_middle(text), "Ada likes tea in the morning."]
    ).stretches_in(text),
    "reverie_server.text.redact.Targets.found_in": lambda text: redact.Targets(["Ada likes", _middle(text)]).found_in(
        text
    ),
    "reverie_server.text.redact.Targets.found_in:short": lambda text: redact.Targets(
        ["a a", "a\u0301", "- a", "''", "a b"]
    ).found_in(text),
    "reverie_server.text.redact.sought": redact.sought,
    "reverie_server.text.redact.Folded.sources_of": lambda text: redact.Folded.of(text).sources_of(
        (at, at + 1) for at in range(0, len(redact.Folded.of(text).text), 3)
    ),
    "reverie_server.text.redact.beginnings": lambda text: list(redact.beginnings(text)),
    "reverie_server.text.keyed_texts.keyed_text": lambda text: keyed_texts.keyed_text(text, _keyed),
    "reverie_server.text.keyed_texts.KeyedTexts.found_in": lambda text: _keyed_texts(
        "Ada likes tea in the morning.", _middle(text)[:400]
    ).found_in(text),
    "reverie_server.text.keyed_texts.KeyedTexts.found_in:short": lambda text: _keyed_texts(
        "a", "a a", "''", "漢", "Ada likes"
    ).found_in(text),
    "reverie_server.forgetting.files.lines_kept": lambda text: forgotten_files.lines_kept(
        text, _every_other_line(text), redact.Targets(["Ada", _middle(text)])
    ),
    "reverie_server.forgetting.files.without_texts:beside": lambda text: forgotten_files.without_texts(
        "a.md", text, _beside_others(text)
    ),
    "reverie_server.text.redact.Targets.among": lambda text: redact.Targets([_middle(text), "a"]).among(["a"]),
    "reverie_server.forgetting.files.without_texts": lambda text: forgotten_files.without_texts(
        "a.md", text, redact.Targets([_middle(text)])
    ),
    "reverie_server.forgetting.files.without_texts:short": lambda text: forgotten_files.without_texts(
        "a.md", text, redact.Targets(["a", "a a", "''", "漢"])
    ),
    "reverie_server.forgetting.files.without_texts:json": lambda text: forgotten_files.without_texts(
        "a.json", text, redact.Targets(["a", "a a", "''", "漢"])
    ),
    "reverie_server.forgetting.files.hashes_of_version": lambda text: forgotten_files.hashes_of_version(
        "a.md", text, text[: len(text) // 2], redact.Targets(["a a", "Ada"]), Rules()
    ),
    "reverie_server.files.keyword_match.terms_of": keyword_text.terms_of,
    "reverie_server.files.keyword_match.score_of": lambda text: keyword_text.score_of(text, 3),
    "reverie_server.files.keyword_match.hits_of": lambda text: keyword_text.hits_of(
        "a.md", text, keyword_text.terms_of("a b ada strasse 漢字 ไท ssssssssssss")
    ),
    "reverie_server.files.keyword_match.hits_of:spellings": lambda text: keyword_text.hits_of(
        "a.md", "x" * len(text) + text, keyword_text.terms_of(f"x{'s' * 7000}y")
    ),
    "reverie_server.files.keyword_match.hits_of:itself": lambda text: keyword_text.hits_of(
        "a.md", text, keyword_text.terms_of(text[:8000])
    ),
    "reverie_server.files.keyword_match.patterns_of": lambda text: keyword_text.patterns_of(
        keyword_text.terms_of(text[:8000])
    ),
    "reverie_server.long_term.memory_text.section_of": memory_text.section_of,
    "reverie_server.long_term.memory_text.entry_of": lambda text: memory_text.entry_of(text[:MAX_ENTRY]),
    "reverie_server.long_term.memory_text.preview_of": memory_text.preview_of,
    "reverie_server.long_term.memory_text.add_entry": lambda text: _add(text, "Ada drinks coffee in the afternoon."),
    "reverie_server.long_term.memory_text.add_entry:section": lambda text: _add(
        MEMORY + text, "Ada drinks coffee now."
    ),
    "reverie_server.long_term.memory_text.add_entry:entry": lambda text: _add(MEMORY, text[:MAX_ENTRY]),
    "reverie_server.long_term.memory_text.add_entry:both": lambda text: _add(text + "x", text[:MAX_ENTRY]),
    "reverie_server.long_term.memory_text.check_update": lambda text: memory_text.check_update(text, f" {text}"),
    "reverie_server.long_term.memory_text.update_text": lambda text: memory_text.update_text(
        f"{text}\n- Ada likes tea.\n{text}", "Ada likes tea.", ""
    ),
    "reverie_server.long_term.memory_text.update_text:itself": lambda text: memory_text.update_text(
        text, text[:-1], text
    ),
    "reverie_server.long_term.memory_text.contains": lambda text: memory_text.contains(text, text[len(text) // 2 :]),
    "reverie_server.long_term.memory_text.contains:short": lambda text: memory_text.contains(text, "a b"),
    "reverie_server.long_term.memory_text.contains:letter": lambda text: memory_text.contains(f"{text}x", "aa"),
    "reverie_server.text.markdown_blocks.blocks_of": outline.blocks_of,
    "reverie_server.text.markdown_blocks.text_of": lambda text: [
        outline.text_of(block, lines) for lines in [sections.lines_of(text)] for block in outline.blocks_of(text)
    ],
    "reverie_server.text.markdown_blocks.bullet": lambda text: outline.bullet(text.split("\n")),
    "reverie_server.text.markdown_blocks.escaped": lambda text: outline.escaped(text.split("\n")),
    "reverie_server.text.markdown_blocks.folded": lambda text: outline.folded(text.split("\n")),
    "reverie_server.text.markdown_blocks.without_marker": outline.without_marker,
    "reverie_server.text.entry_tree.entries_of": lambda text: entry_tree.entries_of(text.split("\n")),
    "reverie_server.text.entry_tree.walk": lambda text: list(entry_tree.walk(entry_tree.entries_of(text.split("\n")))),
    "reverie_server.text.markdown_blocks.fenced": lambda text: list(outline.fenced(text.split("\n"))),
    "reverie_server.text.redact.Folded.of": redact.Folded.of,
    "reverie_server.text.redact.pattern_of": lambda text: redact.pattern_of(_middle(text)),
    "reverie_server.text.redact.anchor_of": redact.anchor_of,
    "reverie_server.text.redact.is_in": lambda text: redact.is_in(text, _middle(text)),
    "reverie_server.text.redact.is_in:most": lambda text: redact.is_in(text, (_middle(text)[:500] + "!?")),
    "reverie_server.text.redact.remove": lambda text: redact.remove(
        text, [(at, at + 1) for at in range(0, len(text), 3)], by_line=True
    ),
    "reverie_server.text.redact.erase": lambda text: redact.erase(text, _middle(text), by_line=True),
    "reverie_server.text.redact.erase:short": lambda text: redact.erase(text, text.strip()[:2] or "a", by_line=True),
    "reverie_server.text.redact.erase:words": lambda text: redact.erase(text, text.strip()[:2] or "a", by_line=False),
    "reverie_server.text.redact.body_of": redact.body_of,
    "reverie_server.text.redact.essence": redact.essence,
    "reverie_server.text.redact.essences": redact.essences,
    "reverie_server.text.redact.is_distinctive": redact.is_distinctive,
    "reverie_server.text.redact.is_sentence": redact.is_sentence,
    "reverie_server.text.redact.whole_sentence": redact.whole_sentence,
    "reverie_server.text.redact.spoken_length": redact.spoken_length,
    "reverie_server.text.forgotten_parts.without_forgotten": _without,
    "reverie_server.text.forgotten_parts.without_forgotten:all": lambda text: forgotten_parts.without_forgotten(
        text, lambda kept: True
    ),
    "reverie_server.text.forgotten_parts.without_forgotten:half": lambda text: forgotten_parts.without_forgotten(
        text, lambda kept: len(kept) % 2 == 1
    ),
    "reverie_server.text.forgotten_parts.without_forgotten_words": lambda text: forgotten_parts.without_forgotten_words(
        text, [1, 3, 12], lambda kept: len(kept) % 2 == 1
    ),
    "reverie_server.text.forgotten_parts.is_telling": forgotten_parts.is_telling,
    "reverie_server.text.forgotten_parts.word_count": forgotten_parts.word_count,
    "reverie_server.long_term.memory_text.Searched.contains": _pieces_in,
    "reverie_server.text.redact.Folded.spans_of": lambda text: redact.Folded.of(text).spans_of(
        redact.pattern_of(_middle(text))
    ),
    "reverie_server.text.redact.Targets.erase_from": lambda text: redact.Targets([_middle(text), "a"]).erase_from(text),
    "reverie_server.text.remove_spans.merged": lambda text: removal.merged(_spans(text) * 2),
    "reverie_server.text.remove_spans.without_spans": lambda text: removal.without_spans(text, _spans(text)),
    "reverie_server.text.remove_spans.without_spans_by_line": lambda text: removal.without_spans_by_line(
        text, _spans(text)
    ),
    "reverie_server.text.markdown_edit.append": lambda text: sections.append(text, "- something new", NOTE),
    "reverie_server.text.markdown_edit.append:addition": lambda text: sections.append(None, text, NOTE),
    "reverie_server.text.markdown_edit.replace_section": lambda text: sections.replace_section(
        text, "## Plans\n\nNone.", "Plans"
    ),
    "reverie_server.text.markdown_edit.replace_section:present": lambda text: sections.replace_section(
        f"## Plans\n\n{text}\n\n## Others\n\n{text}", "None.", "Plans"
    ),
    "reverie_server.text.markdown_edit.replace_section:content": lambda text: sections.replace_section(
        "# A\n\n## Plans\n\nNone.\n", text, "## Plans"
    ),
    "reverie_server.text.markdown_edit.replace_section:section": lambda text: sections.replace_section(
        "# A\n\n## Plans\n\nNone.\n", "None.", text
    ),
    "reverie_server.text.markdown_edit.upsert_kv": lambda text: sections.upsert_kv(text, "name: Ada"),
    "reverie_server.text.markdown_edit.upsert_kv:content": lambda text: sections.upsert_kv("name: Ada\n", text),
    "reverie_server.text.markdown_edit.upsert_kv:both": lambda text: sections.upsert_kv(text, f"key: a\n{text}"),
    "reverie_server.text.markdown_edit.replace_text": lambda text: sections.replace_text(
        text, text[:2], "", replace_all=True
    ),
    "reverie_server.text.markdown_edit.replace_text:one": lambda text: sections.replace_text(
        text, text[len(text) // 2 :], "x", replace_all=False
    ),
    "reverie_server.text.markdown_edit.unified_diff": lambda text: sections.unified_diff(text, f"x\n{text}y", "a", "b"),
    "reverie_server.text.markdown_edit.unified_diff:gaps": lambda text: sections.unified_diff(
        "x\nq\n" * (len(text) // 4), "x\n" * 198 + text[:100], "a", "b"
    ),
    "reverie_server.text.markdown_edit.unified_diff:half": lambda text: sections.unified_diff(
        text, "\n".join(f"{line}{i % 2}" for i, line in enumerate(text.split("\n"))), "a", "b"
    ),
    "reverie_server.text.markdown_edit.unified_diff:every": lambda text: sections.unified_diff(
        text, "".join(reversed(sections.lines_of(text))), "a", "b"
    ),
    "reverie_server.text.markdown_edit.unified_diff:mixed": lambda text: sections.unified_diff(
        "b\na\n" * (len(text) // 8) + text, text + "a\nb\nc\n" * (len(text) // 12), "a", "b"
    ),
    "reverie_server.text.markdown_edit.lines_of": sections.lines_of,
    "reverie_server.files.strict_zip.printable_name": strict_zip.printable_name,
    "reverie_server.files.strict_zip._hostile": strict_zip._hostile,
    "reverie_server.files.strict_zip.read_entries": lambda text: strict_zip.read_entries(
        BytesIO(text.encode("utf-8", "replace")), strict_zip.Limits()
    ),
    "reverie_server.provenance.tombstones._hmac": lambda text: tombstones._hmac(SECRET, text),
}

EXEMPT: Mapping[str, str] = {
    "reverie_server.files.snapshot_format.Writer.add": "writes what is stored, as zlib does",
    "reverie_server.files.snapshot_format.check_fits": "at most as many files as a snapshot has",
    "reverie_server.files.snapshot_format.in_order": "sorts at most as many files as a snapshot has",
    "reverie_server.files.snapshot_format.manifest_of": "at most as many files as a snapshot has",
    "reverie_server.files.strict_zip.read_entry": "measured by read_snapshot",
}
