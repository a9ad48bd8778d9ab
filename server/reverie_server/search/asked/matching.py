"""How well statements answer to what a request says of them: a learnt form over their vectors. Pure.

"What my sister went through" shares no word with "She had a miscarriage", and to an embedding model a dozen statements
are as near. Learnt from talks in which what is meant is marked (`python -m reverie_bench.requests`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reverie_server.heuristics.trees import read_floats

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Matching:
    """The form of one embedding model, of d dimensions and rank r.

    `request` and `statement` (d, r) lay both into one space; `kind` (d,) tells what statements such requests mean, as
    private ones; `weights` are those of the nearness to the request, apart from what all requests have in common, and
    to the words by which it names what it means.
    """

    request: Vector
    statement: Vector
    kind: Vector
    weights: tuple[float, float]

    def scores(self, request: Vector, named: Vector, statements: Vector) -> Vector:
        """Of statements (statements, d) to a request and the words by which it names one; only their order and their
        distances mean something.

        A bilinear form of low rank beside the inner products.
        """
        of_request, of_named = self.weights
        near = statements @ (np.float32(of_request) * request + np.float32(of_named) * named + self.kind)
        return np.asarray(near + (statements @ self.statement) @ (request @ self.request), np.float32)


def read_matching(source: Mapping[str, Any]) -> Matching:
    """The form out of a file of models."""
    shape = (-1, source["rank"])
    of_request, of_named = source["weights"]
    return Matching(
        read_floats(source["request"]).reshape(shape),
        read_floats(source["statement"]).reshape(shape),
        read_floats(source["kind"]),
        (of_request, of_named),
    )
