"""Adapters as processes: the protocol holds whatever a library prints, and what ends is told."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.peers.adapters import base
from benchmarks.peers.process import Launch, PeerFailed, PeerProcess, as_answer, first_line
from benchmarks.peers.venvs import digest, interpreter

ADAPTER = """
import os, sys
sys.path.append(ADAPTERS)
from base import Adapter, main

print('a library says hello', flush=True)

class Kept(Adapter):
    notes = ('a list',)

    def open(self, opening):
        print('{"ok": true, "version": "wrong"}')
        self.path = opening.directory / 'kept'
        return '1.0'

    def write(self, user, items):
        with self.path.open('a') as out:
            out.writelines(f'{user} {item.id} {item.text}\\n' for item in items)

    def search(self, user, query, k):
        if query == 'end':
            print('last words', file=sys.stderr, flush=True)
            os._exit(3)
        if query == 'fail':
            raise ValueError('first\\nsecond')
        lines = [line.split(' ', 2) for line in self.path.read_text().splitlines()]
        return [item for owner, item, text in lines if owner == user and query in text][:k]

main(Kept)
"""
IMPORT = """
import importlib.abc, sys
allowed = {*sys.stdlib_module_names, *sys.argv[1:], 'reverie_indexer'}

class Others(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.split('.')[0] not in allowed:
            raise ModuleNotFoundError(f'No module named {name!r}', name=name)

sys.meta_path.insert(0, Others())
from reverie_indexer.embed.built_in import MINILM
from reverie_indexer.embed.local import load_local
import onnxruntime, tokenizers
"""
OPEN = {"dsn": "", "embedder": {"dimension": 3}}


@pytest.fixture
def launch(tmp_path: Path) -> Launch:
    script = tmp_path / "json.py"  # the name of a module it needs: that must not matter
    script.write_text(ADAPTER.replace("ADAPTERS", repr(str(Path(base.__file__).parent))))
    return Launch(Path(sys.executable), script, tmp_path, dict(os.environ))


@pytest.fixture
def peer(launch: Launch) -> Iterator[PeerProcess]:
    process = PeerProcess(launch)
    yield process
    process.close()


def test_an_adapter_answers_whatever_its_library_prints(peer: PeerProcess, tmp_path: Path) -> None:
    opened = peer.ask("open", 30, dir=str(tmp_path), **OPEN)
    assert (opened["version"], opened["notes"], opened["serial_because"]) == ("1.0", ["a list"], None)
    items = [{"id": "1", "text": "a tulip", "at": None}, {"id": "2", "text": "a rose", "at": "2026-01-02"}]
    assert peer.ask("write", 30, user="u", items=items)["seconds"] >= 0
    assert peer.ask("search", 30, user="u", query="rose", k=10)["ids"] == ["2"]
    assert peer.ask("search", 30, user="v", query="rose", k=10)["ids"] == []
    searches = [{"user": "u", "query": "rose"}] * 5
    assert peer.ask("many", 30, searches=searches, k=10, clients=3)["clients"] == 3
    assert peer.ask("rss", 30)["bytes"] > 1_000_000


def test_an_error_is_an_answer_and_the_adapter_lives_on(peer: PeerProcess, tmp_path: Path) -> None:
    peer.ask("open", 30, dir=str(tmp_path), **OPEN)
    peer.ask("write", 30, user="u", items=[{"id": "1", "text": "x", "at": None}])
    with pytest.raises(PeerFailed, match=r"^search: ValueError: first$"):
        peer.ask("search", 30, user="u", query="fail", k=10)
    assert peer.ask("search", 30, user="u", query="x", k=10)["ids"] == ["1"]


def test_an_adapter_that_ends_is_told_with_its_last_words(peer: PeerProcess, tmp_path: Path) -> None:
    peer.ask("open", 30, dir=str(tmp_path), **OPEN)
    with pytest.raises(PeerFailed, match=r"^search: the adapter ended \(3\): last words$"):
        peer.ask("search", 30, user="u", query="end", k=10)
    with pytest.raises(PeerFailed, match="the adapter ended"):
        peer.ask("search", 30, user="u", query="x", k=10)


def test_after_a_kill_another_process_finds_what_was_kept(launch: Launch, tmp_path: Path) -> None:
    first = PeerProcess(launch)
    first.ask("open", 30, dir=str(tmp_path), **OPEN)
    first.ask("write", 30, user="u", items=[{"id": "1", "text": "kept", "at": None}])
    first.kill()
    second = PeerProcess(launch)
    second.ask("open", 30, dir=str(tmp_path), **OPEN)
    assert second.ask("search", 30, user="u", query="kept", k=10)["ids"] == ["1"]
    second.close()


def test_only_an_object_that_says_ok_is_an_answer() -> None:
    assert as_answer('{"ok": true, "ids": []}') == {"ok": True, "ids": []}
    assert [as_answer(line) for line in ("Loading…", "3", '{"ok": "yes"}', '["ok"]', "{}")] == [None] * 5


def test_a_reason_is_one_short_line() -> None:
    assert first_line("\n  one\ntwo") == "one"
    assert first_line("x" * 999) == "x" * 200
    assert first_line(" \n") == "no reason given"


def test_an_environment_is_made_again_when_an_included_requirement_changes(tmp_path: Path) -> None:
    (tmp_path / "peer.txt").write_text("-r shared.txt\npeer==1\n")
    (tmp_path / "shared.txt").write_text("other==1\n")
    before = digest(tmp_path / "peer.txt")
    assert digest(tmp_path / "peer.txt") == before
    (tmp_path / "shared.txt").write_text("other==2\n")
    assert digest(tmp_path / "peer.txt") != before


def test_the_shared_embedder_needs_no_more_than_its_requirements_say() -> None:
    lines = (Path(base.__file__).parent / "embedder.txt").read_text().splitlines()
    required = [re.split("[=>]", line)[0] for line in lines if not line.startswith("#")]
    assert subprocess.run([sys.executable, "-c", IMPORT, *required], check=False).returncode == 0


def test_an_adapter_without_requirements_runs_in_this_environment(tmp_path: Path) -> None:
    assert interpreter("ours", tmp_path, tmp_path / "work") == Path(sys.executable)


def test_a_database_on_a_socket_has_a_url_for_sqlalchemy() -> None:
    words = "user=postgres host=/tmp/a-b/postgres port=5432 dbname=peer_x"
    url = base.sqlalchemy_url(words, "asyncpg")
    assert url == "postgresql+asyncpg://postgres@/peer_x?host=%2Ftmp%2Fa-b%2Fpostgres&port=5432"
    assert base.sqlalchemy_url("postgresql://u:p%40@h:1/d", "psycopg") == "postgresql+psycopg://u:p%40@/d?host=h&port=1"
