"""What `reverie index` tells while it runs: a line now and then where no terminal is, and how to go on when stopped."""

from __future__ import annotations

import asyncio

import pytest

from reverie_server.cli import index as cli_index
from reverie_server.files.ingest import Progress


def test_progress_counts_files_and_chunks_and_what_was_there() -> None:
    assert cli_index.progress_text(Progress(3, 9, 40, 0)) == "3/9 files, 40 chunks"
    assert cli_index.progress_text(Progress(3, 9, 40, 0, 104)) == "3/9 files, 40 chunks, 104 passages embedded"
    assert cli_index.progress_text(Progress(3, 9, 40, 64)) == "3/9 files, 40 chunks (64 were indexed already)"


def test_without_a_terminal_there_are_plain_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_index, "LINE_INTERVAL_SECONDS", 0.0)
    with cli_index.show_progress() as show:
        show(Progress(0, 2, 0, 1))
        show(Progress(1, 2, 5, 1))
        show(Progress(2, 2, 9, 1))
    assert capsys.readouterr().err.splitlines() == [
        "indexing: 0/2 files, 0 chunks (1 were indexed already)",
        "indexing: 1/2 files, 5 chunks (1 were indexed already)",
    ]


def test_the_first_line_comes_at_once_and_others_not_before_the_interval(capsys: pytest.CaptureFixture[str]) -> None:
    with cli_index.show_progress() as show:
        for done in range(100):
            show(Progress(done, 100, done, 0))
    assert capsys.readouterr().err == "indexing: 0/100 files, 0 chunks\n"


@pytest.mark.parametrize(
    ("at", "told"),
    [
        (
            Progress(1, 2, 5, 0),
            "indexing: 1/2 files, 5 chunks\nstopped after 1/2 files, 5 chunks; the next run goes on there\n",
        ),
        (Progress(2, 2, 5, 0), ""),
    ],
)
def test_a_stop_says_how_to_go_on(at: Progress, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    def stopped() -> None:
        with cli_index.show_progress() as show:
            show(at)
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        stopped()
    assert capsys.readouterr().err == told
