"""Edits run beside the event loop, so that one large file keeps nobody waiting."""

import threading

from reverie_indexer.change import Change
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline


async def test_an_edit_does_not_run_in_the_event_loop(pipeline: Pipeline) -> None:
    threads: list[int] = []

    def edit(text: str | None) -> str:
        threads.append(threading.get_ident())
        return (text or "") + "more"

    place = Place("default", "wren", "team")
    await pipeline.write(place, Change("a.md", edit, by="test", reason="test"))
    assert threads
    assert threading.get_ident() not in threads
