"""How the functions of nights, heuristics and long-term memory are called: the text as note, memory, answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from tests.growth import Reading
from tests.linear.texts import DAY, MEMORY, NOTE, NOW, TITLE, count, unchanged

from reverie_server.heuristics import cues, entries, lasting, statement_index, statements
from reverie_server.llm.answers import Compaction, Replaced
from reverie_server.long_term import archive, guard
from reverie_server.long_term import proposal as compaction_proposal
from reverie_server.nights import card_lines, diary
from reverie_server.nights.dreaming import text as dreaming_text
from reverie_server.nights.dreaming.text import Kind
from reverie_server.nights.emergence import candidates, collect, entry_groups, fair_share, model, topic, uptake
from reverie_server.nights.emergence import text as emergence_text
from reverie_server.nights.soul import due as soul_due
from reverie_server.nights.soul import text as soul_text
from reverie_server.provenance import line_identity as lines
from reverie_server.text.redact import essence

RULES = guard.GuardRules(max_chars=10_000_000, max_growth=None, max_loss=1.0)
SETTING = collect.ScoringContext(candidates.Rules(), NOW, "UTC", "english")
HEADING = "## 2026-04-03 02:00 emergence: "


def _nobody(_: str) -> bool:
    return False


def _everybody(_: str) -> bool:
    return True


def _said(text: str) -> list[statements.Statement]:
    """The text as statements that are nearly alike, and one that denies it."""
    return [statements.statement(one, "english") for one in (text, f"{text} Ada", f"I do not {text}")]


def _compared(text: str) -> object:
    said = _said(text)
    return [
        (statements.is_duplicate(one, other), statements.entails(one, other), statements.contradicts(one, other))
        for one in said
        for other in said
    ]


def _statements(text: str) -> list[statements.Statement]:
    parts = text.split("\n") if "\n" in text else [text[at : at + 60] for at in range(0, len(text), 60)]
    return [statements.statement(part, "english") for part in parts]


def _lasts(text: str) -> object:
    known = cues.all_cues()["english"]
    return lasting.lasts(text, frozenset(), known), lasting.speaks_for_itself(text, frozenset(), known)


def _taken(text: str) -> object:
    said = [uptake.Noted(part.terms, DAY - timedelta(days=1)) for part in _statements(text)]
    log = "".join(f"[09:30] User: {part.text} | Assistant: Yes\n" for part in _statements(text))
    exchanges = list(uptake.exchanges_of(log, DAY, "english"))
    return [exchange.recall("UTC") for exchange in exchanges], uptake.taken_up(said, exchanges)


def _indexed(text: str) -> object:
    said = _statements(text)
    terms, frames = statement_index.TermIndex(said), statement_index.FrameIndex(said)
    return [(terms.alike(one), frames.opposed(one)) for one in said]


def _hashes(text: str) -> set[bytes]:
    """Those of every other line."""
    return {lines.line_sha256(line) for line in lines.entry_lines(text)[::2]}


def _memory(text: str, *, is_machine: bool = False) -> model.MemoryFile:
    own = lines.entry_lines(text)
    machine = frozenset(map(essence, own)) if is_machine else frozenset()
    return model.MemoryFile("MEMORY.md", 1, text, own, machine)


def _view(text: str) -> model.EmergenceInput:
    found = entries.entries_of(NOTE, text, DAY)
    memory = _memory(text)
    passage = model.Passage(NOTE, 1, 10**6, frozenset(statements.terms_of(text, "english")), ("s", 1))
    gone = [(DAY - timedelta(days=1), line) for line in memory.lines]
    return model.EmergenceInput(entries=found, memory=memory, recalled=[passage] * 3, corrections=gone)


def _gathered(text: str) -> list[collect.Candidate]:
    return collect.collect(_view(text), SETTING)


def _episodes(text: str) -> list[dreaming_text.Summary]:
    return [
        dreaming_text.Summary(1, "s1", DAY, text),
        dreaming_text.Summary(2, "s2", DAY, f"- User: I prefer tea.\n{text}"),
    ]


def _proposed(text: str) -> list[tuple[Kind, str, list[int]]]:
    return [("fact", text, [1, 2]), *(("fact", line, [1, 2]) for line in text.split("\n"))]


def _dreamed(text: str) -> list[dreaming_text.Line]:
    own = tuple(_episodes(text))
    return [dreaming_text.Line("fact", said, own) for said in [*_said(text)[:1], *_statements(text)]]


def _soul_facts(text: str) -> list[soul_text.KnownFact]:
    return [soul_text.KnownFact(text, DAY, (1,)), soul_text.KnownFact(f"I am {text}", DAY, (2,))]


def _reviewed(text: str) -> object:
    proposals = [(text, [1, 2]), *((line, [1, 2]) for line in text.split("\n")[:50])]
    return soul_text.reviewed(proposals, _soul_facts(text), f"# Ada\n{text}", _nobody, unchanged, lambda _: None)


def _put_together(text: str) -> object:
    before = MEMORY + text
    parts = compaction_proposal.parts_of(before, count)[:8]
    answers = [Compaction(memory=f"{part[:30_000]}x", replaced=[Replaced(old=text, new=f"{text}x")]) for part in parts]
    return compaction_proposal.put_together(before, parts, answers, unchanged, frozenset(), 10_000_000)


TABLE: Mapping[str, Reading] = {
    "reverie_server.nights.soul.due.is_counted": lambda text: soul_due.is_counted(f"{text}.md", text),
    "reverie_server.nights.soul.text.count_words": soul_text.count_words,
    "reverie_server.nights.soul.text.usable_facts": lambda text: soul_text.usable_facts(_soul_facts(text), unchanged),
    "reverie_server.nights.soul.text.reviewed": _reviewed,
    "reverie_server.nights.soul.text.why_unfit": lambda text: soul_text.why_unfit(
        [text, *text.split("\n")], min_chars=1, max_words=10_000_000
    ),
    "reverie_server.nights.soul.text.is_first_person": soul_text.is_first_person,
    "reverie_server.nights.soul.text.peoples_text": lambda text: soul_text.peoples_text(text, _everybody),
    "reverie_server.nights.soul.text.composed": lambda text: soul_text.composed(text, text.split("\n"), _nobody),
    "reverie_server.nights.soul.text.composed:machine": lambda text: soul_text.composed(text, ["Ada"], _everybody),
    "reverie_server.long_term.archive.archived": lambda text: archive.archived(text, DAY, ["- Ada", text]),
    "reverie_server.long_term.archive.archived:lines": lambda text: archive.archived(None, DAY, [text, f"{text}x"]),
    "reverie_server.long_term.proposal.parts_of": lambda text: compaction_proposal.parts_of(text, count),
    "reverie_server.long_term.proposal.put_together": _put_together,
    "reverie_server.long_term.proposal.explained_by": lambda text: compaction_proposal.explained_by(
        [Replaced(old=text, new="Ada"), Replaced(old="Ada", new=text)], f"{text}\n- Ada", text
    ),
    "reverie_server.long_term.proposal.lines_with_sources": lambda text: list(
        compaction_proposal.lines_with_sources("MEMORY.md", text, f"{text}\n- {text[:300]} x")
    ),
    "reverie_server.long_term.proposal.lines_with_sources:each": lambda text: list(
        compaction_proposal.lines_with_sources("MEMORY.md", text, text.replace("\n", " Ada\n"))
    ),
    "reverie_server.nights.diary.render_entry": lambda text: diary.render_entry(
        diary.DiaryEntry(NOW, "emergence", text, "r1", [("kept", text)])
    ),
    "reverie_server.nights.diary.written": lambda text: diary.written(f"# Dreams\n\n{text}", f"{HEADING}x\n"),
    "reverie_server.nights.diary.rolled": lambda text: diary.rolled(f"# Dreams\n\n{HEADING}a\n\n{text}"),
    "reverie_server.nights.diary.rolled:months": lambda text: diary.rolled(
        "".join(f"## {at:04}-04-03 02:00 a\n\n{text[at : at + 40]}\n\n" for at in range(0, min(len(text), 9999), 20))
    ),
    "reverie_server.nights.diary.archived": lambda text: diary.archived(
        {1: f"{HEADING}a\n\n{text}"}, "2026-04", [f"{HEADING}a\n\n{line}" for line in text.split("\n")]
    ),
    "reverie_server.nights.diary.latest": lambda text: diary.latest(f"{HEADING}a\n{text}\n{HEADING}b"),
    "reverie_server.nights.emergence.fair_share.fair_share": lambda text: fair_share.fair_share(
        entries.entries_of(NOTE, text, DAY) * 8, "english"
    ),
    "reverie_server.nights.dreaming.text.as_data": lambda text: dreaming_text.as_data(_episodes(text)),
    "reverie_server.nights.dreaming.text.proposed": lambda text: dreaming_text.proposed(
        _proposed(text), _episodes(text), "english"
    ),
    "reverie_server.nights.dreaming.text.heuristic_lines": lambda text: dreaming_text.heuristic_lines(
        _episodes(text), "english"
    ),
    "reverie_server.nights.dreaming.text.merged": lambda text: dreaming_text.merged(
        text, DAY, _dreamed(text)[:50], "english"
    ),
    "reverie_server.nights.dreaming.text.within_tokens": lambda text: dreaming_text.within_tokens(
        _dreamed(text)[:50], 1000, count
    ),
    "reverie_server.nights.dreaming.text.without_forgotten": lambda text: dreaming_text.without_forgotten(
        _episodes(text), unchanged
    ),
    "reverie_server.nights.emergence.text.heuristic_proposal": lambda text: emergence_text.heuristic_proposal(
        _memory(MEMORY, is_machine=True), _gathered(text)[:20], RULES, "english"
    ),
    "reverie_server.nights.emergence.text.heuristic_proposal:memory": lambda text: emergence_text.heuristic_proposal(
        _memory(text, is_machine=True), _gathered("- I live in Oslo.\n- I prefer tea.\n"), RULES, "english"
    ),
    "reverie_server.nights.emergence.text.modelled": lambda text: emergence_text.modelled(
        _memory(MEMORY), _gathered(text), MEMORY + text, RULES, "english"
    ),
    "reverie_server.nights.emergence.text.modelled:memory": lambda text: emergence_text.modelled(
        _memory(MEMORY + text, is_machine=True), _gathered("- I live in Oslo.\n"), f"{MEMORY}{text}x", RULES, "english"
    ),
    "reverie_server.nights.emergence.text.candidates_in": lambda text: emergence_text.candidates_in(
        text, _gathered(text), "english"
    ),
    "reverie_server.heuristics.entries.entries_of": lambda text: entries.entries_of(NOTE, text, DAY),
    "reverie_server.heuristics.entries.entries_of:log": lambda text: entries.entries_of(
        NOTE, f"[10:00] User: {text} | Assistant: {text}\n", DAY
    ),
    "reverie_server.heuristics.entries.cues_in": lambda text: entries.cues_in(text, "english"),
    "reverie_server.heuristics.entries.kinds_of": entries.kinds_of,
    "reverie_server.heuristics.entries.fact_of": entries.fact_of,
    "reverie_server.heuristics.entries.facts_asked_for": lambda text: entries.facts_asked_for(
        [text, f"Please remember that {text}"], "english"
    ),
    "reverie_server.heuristics.entries.undated": entries.undated,
    "reverie_server.heuristics.entries.undated:days": lambda text: entries.undated(f"Ada (2026-04-03{text}"),
    "reverie_server.heuristics.entries.dated": lambda text: entries.dated(text, [DAY]),
    "reverie_server.heuristics.entries.scored_statements": entries.scored_statements,
    "reverie_server.nights.emergence.model.MemoryFile.is_machine": lambda text: _memory(MEMORY).is_machine(text),
    "reverie_server.nights.emergence.collect.collect": _gathered,
    "reverie_server.nights.emergence.collect.collect_best": lambda text: collect.collect_best(
        _view(text), SETTING, limit=3
    ),
    "reverie_server.nights.emergence.entry_groups.statement": lambda text: entry_groups.statement(text, "english"),
    "reverie_server.nights.emergence.collect.collect:topic_passages": lambda text: collect.collect(
        _view(text), SETTING, topic=collect.AskedTopic(text, _view(text).recalled)
    ),
    "reverie_server.nights.emergence.collect.collect:memory": lambda text: collect.collect(
        model.EmergenceInput(entries=entries.entries_of(NOTE, MEMORY, DAY), memory=_memory(text)), SETTING
    ),
    "reverie_server.heuristics.lasting.lasts": _lasts,
    "reverie_server.heuristics.lasting.lasts:feelings": lambda text: _lasts("i'm so " * (len(text) // 8) + text),
    "reverie_server.heuristics.lasting.speaks_for_itself": _lasts,
    "reverie_server.heuristics.lasting.wants_a_text": lasting.wants_a_text,
    "reverie_server.heuristics.lasting.is_of_the_moment": lasting.is_of_the_moment,
    "reverie_server.heuristics.statements.restates": lambda text: [
        statements.restates(one, other) for one in _said(text) for other in _said(text)
    ],
    "reverie_server.nights.card_lines.MemoryLines.of": lambda text: card_lines.MemoryLines.of(text, "english"),
    "reverie_server.nights.card_lines.MemoryLines.find": lambda text: card_lines.MemoryLines.of(text, "english").find(
        f"{text} Ada", "english"
    ),
    "reverie_server.nights.card_lines.MemoryLines.saying": lambda text: card_lines.MemoryLines.of(
        f"- Ada drinks oat milk.\n  {text}", "english"
    ).saying("Ada drinks oat milk", "english"),
    "reverie_server.nights.card_lines.with_line": lambda text: card_lines.with_line(text, "Ada", "Bo", "english"),
    "reverie_server.nights.card_lines.with_line:beside": lambda text: card_lines.with_line(
        f"- Ada drinks oat milk.\n  {text}", "Ada drinks oat milk", "Ada drinks tea", "english"
    ),
    "reverie_server.nights.card_lines.present_entries": lambda text: card_lines.present_entries(
        text, ["Ada", text], "english"
    ),
    "reverie_server.nights.emergence.topic.Topic.covers": lambda text: [
        topic.Topic(text, _statements(text), "english").covers(each) for each in _said(text)
    ],
    "reverie_server.nights.emergence.uptake.exchanges_of": lambda text: list(
        uptake.exchanges_of(f"[09:30] User: {text} | Assistant: {text}", DAY, "english")
    ),
    "reverie_server.nights.emergence.uptake.taken_up": _taken,
    "reverie_server.nights.emergence.uptake.Exchange.recall": _taken,
    "reverie_server.nights.emergence.uptake.noted_again": lambda _: uptake.noted_again(DAY, "UTC"),
    "reverie_server.long_term.guard.check": lambda text: guard.check(
        MEMORY + text, f"{MEMORY}{text}\n- Bo.\n", RULES, _nobody
    ),
    "reverie_server.long_term.guard.check:machine": lambda text: guard.check(
        MEMORY + text, f"{MEMORY}{text[len(text) // 2 :]}", RULES, _everybody
    ),
    "reverie_server.long_term.guard.check:gone": lambda text: guard.check(
        MEMORY + text, f"{MEMORY}{text[len(text) // 2 :]}", RULES, _nobody
    ),
    "reverie_server.long_term.guard.check:reworded": lambda text: guard.check(
        TITLE + text, f"{TITLE}{'a b ' * 20}\n{text.replace('a', 'b')}", RULES, _nobody
    ),
    "reverie_server.heuristics.statements.statement": lambda text: statements.statement(text, "english"),
    "reverie_server.heuristics.statements.statement:german": lambda text: statements.statement(f"das ist {text}", "de"),
    "reverie_server.heuristics.statements.is_duplicate": _compared,
    "reverie_server.heuristics.statements.entails": _compared,
    "reverie_server.heuristics.statements.contradicts": _compared,
    "reverie_server.heuristics.statements.undenied": lambda text: statements.undenied(_said(text)[0]),
    "reverie_server.heuristics.statements.Ground.joined": lambda text: statements.Ground.joined(
        [statements.Ground([one]) for one in _said(text)]
    ),
    "reverie_server.heuristics.statements.Ground.supports": lambda text: statements.Ground(_said(text)).supports(
        _said(text)[1]
    ),
    "reverie_server.heuristics.statements.terms_of": lambda text: statements.terms_of(text, "english"),
    "reverie_server.provenance.line_identity.line_sha256": lines.line_sha256,
    "reverie_server.provenance.line_identity.entry_lines": lines.entry_lines,
    "reverie_server.provenance.line_identity.lines_among": lambda text: lines.lines_among(text, _hashes(text)),
    "reverie_server.provenance.line_identity.without_lines": lambda text: lines.without_lines(text, _hashes(text)),
    "reverie_server.provenance.line_identity.line_spans": lambda text: lines.line_spans(text, _hashes(text)),
    "reverie_server.provenance.line_identity.added_lines": lambda text: lines.added_lines(text, text.replace("a", "b")),
    "reverie_server.heuristics.statement_index.TermIndex.add": _indexed,
}

EXEMPT: Mapping[str, str] = {
    "reverie_server.heuristics.statement_index.TermIndex.alike": "measured with TermIndex.add, by `_indexed`",
    "reverie_server.heuristics.statement_index.FrameIndex.add": "measured with TermIndex.add, by `_indexed`",
    "reverie_server.heuristics.statement_index.FrameIndex.opposed": "measured with TermIndex.add, by `_indexed`",
    "reverie_server.long_term.archive.archive_stem": "takes a day",
    "reverie_server.nights.emergence.candidates.judge": "days and times, each once",
    "reverie_server.nights.emergence.candidates.score": "days and times, each once",
    "reverie_server.nights.emergence.candidates.weigh": "days and times, each once",
    "reverie_server.nights.emergence.collect.without_passing": "candidates, each by line_worth.is_passing",
    "reverie_server.nights.emergence.entry_groups.EntryGroup.noted": "measured with collect, which calls it",
    "reverie_server.nights.emergence.entry_groups.age_key": "measured with collect, which calls it",
    "reverie_server.nights.emergence.entry_groups.group_entries": "measured with collect, which calls it",
    "reverie_server.nights.emergence.entry_groups.is_logged": "measured with collect, which calls it",
    "reverie_server.nights.emergence.entry_groups.match_passages": "measured with collect, which calls it",
    "reverie_server.nights.diary.archive_path": "takes a month",
    "reverie_server.nights.emergence.fair_share.char_shares": "takes lengths",
    "reverie_server.nights.emergence.model.messages_in": "sources, each once",
    "reverie_server.nights.dreaming.text.is_full": "a length",
    "reverie_server.nights.diary.archive_stem": "takes a month",
    "reverie_server.text.numbered_parts.part_number": "takes a path",
    "reverie_server.text.numbered_parts.part_path": "takes a path",
    "reverie_server.text.error_site.code_of": "takes an error",
    "reverie_server.text.error_site.error_site": "takes an error",
    "reverie_server.jobs.nights_due.nightly_at": "takes a day",
    "reverie_server.jobs.nights_due.nightly_start": "takes a day and the name of a zone",
    "reverie_server.jobs.nights_due.nightly_day": "takes a time",
    "reverie_server.jobs.nights_due.nightly_days": "takes a time",
    "reverie_server.jobs.nights_due.next_nightly": "takes a time",
}
