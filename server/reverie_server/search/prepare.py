"""What searches need once in a process, done before anybody waits for it."""

from __future__ import annotations

from reverie_server.heuristics.fact_sentences import essence


def prepare_search() -> None:
    """Compile the patterns that read the sentences of results, those of all languages: 0.3 s of CPU and more.

    The first search would do so on the event loop, and all that are sent with it would wait for that.
    """
    essence("Please remember that I live in Rome.")
