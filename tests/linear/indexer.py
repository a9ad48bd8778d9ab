"""How the functions of the indexer are called with a text of somebody's."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from tests.growth import Reading

from reverie_indexer import file_rules, model
from reverie_indexer.index import episode_index
from reverie_indexer.text import analyse, blocks, chunk, markdown_parser, passages, split

DAY = date(2026, 4, 3)
RULES = passages.Rules()

TABLE: Mapping[str, Reading] = {
    "reverie_indexer.text.analyse.language_name": analyse.language_name,
    "reverie_indexer.text.analyse.fold": analyse.fold,
    "reverie_indexer.text.analyse.without_ignored": analyse.without_ignored,
    "reverie_indexer.text.analyse.analyse": analyse.analyse,
    "reverie_indexer.text.analyse.analyse:simple": lambda text: analyse.analyse(text, "simple"),
    "reverie_indexer.text.analyse.analyse_query": analyse.analyse_query,
    "reverie_indexer.text.analyse.written": lambda text: list(analyse.written(text)),
    "reverie_indexer.text.analyse.holds_exactly": lambda text: analyse.holds_exactly(
        text, ("proj-12", "a", "a_b", "''")
    ),
    "reverie_indexer.text.analyse.holds_exactly:itself": lambda text: analyse.holds_exactly(
        text[:8000], analyse.analyse_query(text[:8000]).exact
    ),
    "reverie_indexer.text.chunk.chunk": chunk.chunk,
    "reverie_indexer.text.chunk.chunk:small": lambda text: chunk.chunk(text, max_chars=20),
    "reverie_indexer.text.chunk.chunk:large": lambda text: chunk.chunk(text, max_chars=10_000_000),
    "reverie_indexer.text.chunk.context_line": lambda text: [
        chunk.context_line("memory/2026-04-03.md", piece) for piece in chunk.chunk(text)
    ],
    "reverie_indexer.text.chunk.context_line:large": lambda text: [
        chunk.context_line("a.md", piece) for piece in chunk.chunk(text, max_chars=10_000_000)
    ],
    "reverie_indexer.text.chunk.note_date": chunk.note_date,
    "reverie_indexer.text.blocks.blocks_of": blocks.blocks_of,
    "reverie_indexer.text.blocks.line_starts_of": blocks.line_starts_of,
    "reverie_indexer.text.blocks.without_titles": lambda text: blocks.without_titles(blocks.blocks_of(text)),
    "reverie_indexer.text.blocks.kept_after_edit": lambda text: _kept(f"# a\n\n{text}\n\n", "b\n"),
    "reverie_indexer.text.blocks.kept_after_edit:from_the_front": lambda text: _kept(f"a\n\n{text}", ""),
    "reverie_indexer.text.markdown_parser.parse_rest": markdown_parser.parse_rest,
    "reverie_indexer.text.passages.cut_file": lambda text: passages.cut_file("notes/a.md", text, RULES, {b"": 1}),
    "reverie_indexer.text.markdown_parser.parse_commonmark": markdown_parser.parse_commonmark,
    "reverie_indexer.text.markdown_parser.parse_blocks": markdown_parser.parse_blocks,
    "reverie_indexer.file_rules.check_path": file_rules.check_path,
    "reverie_indexer.file_rules.check_agent_id": file_rules.check_agent_id,
    "reverie_indexer.file_rules.check_owner_key": file_rules.check_owner_key,
    "reverie_indexer.file_rules.check_owner_key:user": lambda text: file_rules.check_owner_key(f"user:{text}"),
    "reverie_indexer.file_rules.check_text": lambda text: file_rules.check_text(text, max_bytes=10_000_000),
    "reverie_indexer.file_rules.is_searchable": file_rules.is_searchable,
    "reverie_indexer.file_rules.is_unedited_seed": lambda text: file_rules.is_unedited_seed("MEMORY.md", text),
    "reverie_indexer.file_rules.is_backup": file_rules.is_backup,
    "reverie_indexer.model.embedded_text": lambda text: model.embedded_text(text, text),
    "reverie_indexer.text.passages.passages_of": lambda text: passages.passages_of("notes/a.md", text, RULES),
    "reverie_indexer.text.split.trim": lambda text: split.trim(text, 0, len(text)),
    "reverie_indexer.text.split.split": lambda text: _split(text, by_lines=False),
    "reverie_indexer.text.split.split:lines": lambda text: _split(text, by_lines=True),
    "reverie_indexer.text.split.split:small": lambda text: _split(text, by_lines=True, max_chars=7),
    "reverie_indexer.text.split.grapheme_floor": lambda text: split.grapheme_floor(text, 0, len(text) // 2),
    "reverie_indexer.text.passages.passages_of_message": lambda text: passages.passages_of_message(
        text, DAY, RULES, text
    ),
    "reverie_indexer.text.passages.speaker_label": lambda text: passages.speaker_label(text, text),
    "reverie_indexer.index.episode_index.passages_of_episode": lambda text: episode_index.passages_of_episode(
        text, [text], DAY, RULES
    ),
}

EXEMPT: Mapping[str, str] = {
    "reverie_indexer.change.overwrite": "hands the text on",
    "reverie_indexer.text.passages.Rules.of_agent": "takes the settings of an agent, which are checked",
    "reverie_indexer.text.analyse.spoken_date": "takes a day and the name of a language",
    "reverie_indexer.text.analyse.stop_words": "takes the name of a language that there is",
    "reverie_indexer.file_rules.new_file_flags": "one look into a table, of a path that was checked",
    "reverie_indexer.text.split.is_grapheme_boundary": "measured by grapheme_floor, which asks it at each place",
    "reverie_indexer.text.passages.passage_of": "measured by passages_of",
}


def _kept(text: str, added: str) -> blocks.Kept:
    return blocks.kept_after_edit(text + added, text, blocks.blocks_of(text))


def _split(text: str, *, by_lines: bool, max_chars: int = 1000) -> object:
    span = split.trim(text, 0, len(text))
    if span is None:
        return None
    return list(split.split(text, *span, max_chars=max_chars, body_start=span[0], by_lines=by_lines))
