"""One peer's run: write, search, all at once, leaks, a kill. Every step's figures are kept if a later one fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import psycopg

from benchmarks.peers.bare import Bare
from benchmarks.peers.data import User
from benchmarks.peers.figures import as_found, foreign, percentile, sample, secrets_of
from benchmarks.peers.process import Launch, PeerFailed, PeerProcess
from reverie_bench.recall.metrics import Depths, Scores, mean, measure
from reverie_indexer.database.queries import Queries

SQL = Queries(__file__)
K = 10
CLIENTS = 8
_DEPTHS = Depths(recalls=(K,), ndcg=K)
_OPEN_SECONDS, _WRITE_SECONDS, _SEARCH_SECONDS = 300.0, 3600.0, 120.0
_RATE_TEXTS = 384  # of the items, for the embedder's own batch rate
_BARE_EVERY = 4  # questions, between which one query is embedded alone
_AT_ONCE = 160  # searches by all clients together
_KILL_ROUNDS = 2
_KILL_ITEMS = 20
_OLD_ITEMS = 20


@dataclass(frozen=True, slots=True)
class Ground:
    """What a peer's run stands on: how to start it, its empty database, the data, the floor."""

    launch: Launch
    dsn: str
    data: Mapping[str, Sequence[User]]
    bare: Bare
    progress: Callable[[str], None]

    @property
    def users(self) -> list[User]:
        """All users of all files."""
        return [user for users in self.data.values() for user in users]


@dataclass(slots=True)
class Measured:
    """What was found out. `scores` are a question's measures, in the order of the data, by file."""

    version: str | None = None
    notes: list[str] = field(default_factory=list)
    serial_because: str | None = None
    figures: dict[str, Any] = field(default_factory=dict)
    scores: dict[str, list[Scores]] = field(default_factory=dict)
    error: str | None = None
    log: str = ""


def run_peer(ground: Ground) -> Measured:
    """Measure one peer; never raises for what the peer does."""
    measured = Measured()
    peer = PeerProcess(ground.launch)
    try:
        _open(peer, ground, measured)
        for step in (_ingest, _sizes, _ask, _ask_at_once, _leaks):
            ground.progress(step.__name__.strip("_").replace("_", " "))
            step(peer, ground, measured)
        ground.progress("kill")
        peer = _kills(peer, ground, measured)
        peer.close()
    except PeerFailed as failure:
        measured.error = str(failure)
        measured.log = peer.log()
    finally:
        peer.kill()
    return measured


def _open(peer: PeerProcess, ground: Ground, measured: Measured | None = None) -> None:
    answer = peer.ask(
        "open",
        _OPEN_SECONDS,
        dir=str(ground.launch.directory),
        dsn=ground.dsn,
        embedder={"dimension": 384},
    )
    if measured is not None:
        measured.version = answer["version"]
        measured.notes = list(answer.get("notes") or ())
        measured.serial_because = answer.get("serial_because")


def _search(peer: PeerProcess, user: str, query: str) -> tuple[list[str], float]:
    answer = peer.ask("search", _SEARCH_SECONDS, user=user, query=query, k=K)
    return list(answer["ids"])[:K], float(answer["seconds"])


def _ingest(peer: PeerProcess, ground: Ground, measured: Measured) -> None:
    texts = [str(item["text"]) for user in ground.users for item in user.items]
    chosen = sample(texts, _RATE_TEXTS)
    before = ground.bare.batch_rate(chosen)
    seconds = sum(
        float(peer.ask("write", _WRITE_SECONDS, user=user.name, items=list(user.items))["seconds"])
        for user in ground.users
    )
    after = ground.bare.batch_rate(chosen)
    measured.figures["ingest"] = {
        "items": len(texts),
        "seconds": seconds,
        "items_per_second": len(texts) / seconds,
        "embedder_items_per_second": (before + after) / 2,
        "ratio_to_embedder": len(texts) / seconds / ((before + after) / 2),
    }
    with psycopg.connect(ground.dsn, autocommit=True) as connection:
        connection.execute(SQL["settle"])


def _sizes(peer: PeerProcess, ground: Ground, measured: Measured) -> None:
    del peer
    with psycopg.connect(ground.dsn) as connection:
        row = connection.execute(SQL["database_bytes"]).fetchone()
    assert row is not None
    measured.figures["disk_bytes"] = row[0] + _bytes_below(ground.launch.directory)


def _bytes_below(directory: Path) -> int:
    # Links lead to the shared model, which belongs to no peer.
    return sum(
        path.lstat().st_blocks * 512 for path in directory.rglob("*") if path.is_file() and not path.is_symlink()
    )


def _ask(peer: PeerProcess, ground: Ground, measured: Measured) -> None:
    seconds: list[float] = []
    floor: list[float] = []
    leaked = 0
    for user in ground.users:
        _search(peer, user.name, "Is anything warm yet?")
    for file, users in ground.data.items():
        scores = measured.scores[file] = []
        for user in users:
            for number, (question, relevant) in enumerate(user.questions):
                if number % _BARE_EVERY == 0:
                    floor.append(ground.bare.query_seconds(question))
                ids, took = _search(peer, user.name, question)
                seconds.append(took)
                leaked += len(foreign(ids, user.units))
                scores.append(measure(as_found(ids, user.units), relevant, _DEPTHS))
    measured.figures["recall"] = {file: mean(scores) for file, scores in measured.scores.items()}
    measured.figures["foreign_results"] = leaked
    p50 = median(seconds)
    measured.figures["search"] = {
        "searches": len(seconds),
        "ms_p50": 1000 * p50,
        "ms_p95": 1000 * percentile(seconds, 0.95),
        "embedding_ms_p50": 1000 * median(floor),
        "embedding_ms_p95": 1000 * percentile(floor, 0.95),
        "ratio_to_embedding": p50 / median(floor),
    }
    measured.figures["rss_bytes"] = int(peer.ask("rss", _SEARCH_SECONDS)["bytes"])


def _ask_at_once(peer: PeerProcess, ground: Ground, measured: Measured) -> None:
    asked = [(user.name, question) for user in ground.users for question, _ in user.questions]
    # Worded anew, so that no cache of queries has the answer.
    searches = [
        {"user": name, "query": f"Please tell me: {question}"}
        for name, question in (asked[int(place)] for place in sample([str(n) for n in range(len(asked))], _AT_ONCE))
    ]
    queries = [search["query"] for search in searches]
    before = ground.bare.query_rate(queries)
    answer = peer.ask("many", _SEARCH_SECONDS * 5, searches=searches, k=K, clients=CLIENTS)
    floor = (before + ground.bare.query_rate(queries)) / 2
    rate = len(searches) / float(answer["seconds"])
    measured.figures["at_once"] = {
        "clients": answer["clients"],
        "searches": len(searches),
        "searches_per_second": rate,
        "embeddings_per_second": floor,
        "ratio_to_embedding": rate / floor,
    }


def _leaks(peer: PeerProcess, ground: Ground, measured: Measured) -> None:
    """Two users with the same texts but for one word each ask for their own and for the other's."""
    del ground
    owned: dict[str, list[str]] = {}
    for user in ("leak-a", "leak-b"):
        items = [
            {"id": f"{user}-{number}", "text": secret.text, "at": None}
            for number, secret in enumerate(secrets_of(user))
        ]
        owned[user] = [str(item["id"]) for item in items]
        peer.ask("write", _WRITE_SECONDS, user=user, items=items)
    leaked = searches = found = 0
    for user, other in (("leak-a", "leak-b"), ("leak-b", "leak-a")):
        for number, (own, theirs) in enumerate(zip(secrets_of(user), secrets_of(other), strict=True)):
            for query in (own.question, theirs.canary, theirs.text):
                ids, _ = _search(peer, user, query)
                leaked += len(foreign(ids, owned[user]))
                searches += 1
                found += query == own.question and owned[user][number] in ids
    nobody = [item for secret in secrets_of("leak-a") for item in _search(peer, "leak-nobody", secret.text)[0] if item]
    measured.figures["leaks"] = {
        "searches": searches,
        "foreign_results": leaked,
        "own_found": found,
        "own_asked": 2 * len(secrets_of("leak-a")),
        "results_for_nobody": len(nobody),
    }


def _kills(peer: PeerProcess, ground: Ground, measured: Measured) -> PeerProcess:
    """Kill it as soon as it acknowledged, start it again, look for what it acknowledged, and for older items."""
    user = ground.users[0]
    longest = sorted(user.items, key=lambda item: -len(str(item["text"])))[:_OLD_ITEMS]
    lost = old_lost = 0
    seconds: list[float] = []
    for turn in range(_KILL_ROUNDS):
        items = [
            {"id": f"kill{turn}-{n}", "text": f"The {name} in drawer {n} of round {turn} is acknowledged.", "at": None}
            for n, name in enumerate(_names(_KILL_ITEMS))
        ]
        peer.ask("write", _WRITE_SECONDS, user="kill", items=items)
        peer.kill()
        peer = PeerProcess(ground.launch)
        try:
            began = time.perf_counter()
            _open(peer, ground)
            seconds.append(time.perf_counter() - began)
            lost += sum(item["id"] not in _search(peer, "kill", str(item["text"]))[0] for item in items)
            old_lost += sum(item["id"] not in _search(peer, user.name, str(item["text"]))[0] for item in longest)
        except PeerFailed:
            measured.log = peer.log()
            peer.kill()
            raise
    measured.figures["kill"] = {
        "rounds": _KILL_ROUNDS,
        "acknowledged": _KILL_ROUNDS * _KILL_ITEMS,
        "lost": lost,
        "older_asked": _KILL_ROUNDS * len(longest),
        "older_lost": old_lost,
        "seconds_to_reopen": median(seconds),
    }
    return peer


def _names(count: int) -> list[str]:
    colours = ("amber", "blue", "copper", "dark", "emerald")
    things = ("compass", "ribbon", "whistle", "magnet", "thimble")
    return [f"{colour} {thing}" for colour in colours for thing in things][:count]
