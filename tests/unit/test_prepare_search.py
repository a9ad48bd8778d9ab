"""A server that takes requests has compiled what reads the sentences of results."""

from __future__ import annotations

import subprocess
import sys

READ = """
import re._compiler
from reverie_server.cli.main import _prepare_http
from reverie_server.heuristics.fact_sentences import keyed_sentences

_prepare_http()
compiled = []
real = re._compiler.compile
re._compiler.compile = lambda pattern, flags=0: compiled.append(str(pattern)[:60]) or real(pattern, flags)
for text in (
    "I live in Rome. Could you please remember that my locker is number 8841?",
    "Ich wohne in Rom. Merk dir bitte, dass mein Spind die Nummer 8841 hat.",
    "Vivo en Roma. Recuerda por favor que mi taquilla es la 8841.",
    "我住在罗马。请记住我的柜子是88号。",
):
    assert keyed_sentences(text)
assert not compiled, compiled
"""


def test_no_pattern_is_compiled_while_a_search_reads_its_results() -> None:
    subprocess.run([sys.executable, "-c", READ], timeout=120, check=True)
