"""Adapters are learnt in torch and used in the ONNX graph: both give the same vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from reverie_indexer.embed.adapter import packed, read_adapter
from reverie_indexer.embed.built_in import BUILT_IN, E5
from reverie_indexer.embed.local import load_local, load_tokeniser
from reverie_indexer.embed.marks import (
    MOST_STEPS,
    RIGHT_BY,
    STATES,
    Mark,
    MarkLayers,
    marks_of,
    packed_mark_layers,
    shares_of_whose,
)
from reverie_indexer.embed.protocol import Role
from reverie_indexer.errors import SetupError

pytestmark = pytest.mark.models
TEXTS = ["Can I pull a double on Wednesday?", "老师几点上课", "x", "Was nehme ich im Steakhaus? " * 4]


@pytest.mark.parametrize("name", BUILT_IN)
async def test_what_is_learnt_in_torch_the_graph_does(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from reverie_bench.adapt.encoder import AdaptableEncoder
    from reverie_bench.adapt.learn import ids_of, vectors_of

    model = replace(BUILT_IN[name], adapted=(), marks=False)
    monkeypatch.setattr("reverie_indexer.embed.local.adapter_file", lambda _, role: tmp_path / f"{role}.npz")
    torch.manual_seed(1)
    encoder = AdaptableEncoder(model, rank=3)
    ids = ids_of(model, TEXTS, "question")

    async def by_graph(role: Role, adapted: tuple[Role, ...] = ()) -> np.ndarray:
        embedder = load_local(tmp_path, replace(model, adapted=adapted))
        vectors = await embedder.embed(TEXTS, role)
        await embedder.aclose()
        return np.stack([np.asarray(each) for each in vectors])

    def by_torch() -> np.ndarray:
        return torch.stack(vectors_of(encoder, ids)).numpy()

    as_it_is = by_torch()
    np.testing.assert_allclose(await by_graph("question"), as_it_is, atol=1e-5)
    for parameter in encoder.parameters():
        if parameter.requires_grad:
            torch.nn.init.normal_(parameter, std=0.1)
    encoder.scale = 0.5
    content = packed(encoder.adapter())
    (tmp_path / "question.npz").write_bytes(content)
    # What the file rounds is no difference between the two.
    for layer, matrices in read_adapter(content).items():
        up, down = encoder.matrices[layer]
        up.data, down.data = torch.tensor(matrices.up / encoder.scale), torch.tensor(matrices.down)
    adapted = by_torch()
    assert np.abs(adapted - as_it_is).max() > 0.05
    np.testing.assert_allclose(await by_graph("question", ("question",)), adapted, atol=1e-5)
    # Texts of other roles stay as they were.
    np.testing.assert_allclose(await by_graph("query", ("question",)), as_it_is, atol=1e-5)
    with pytest.raises(SetupError, match="its adapter for message: install it again"):
        load_local(tmp_path, replace(model, adapted=("message",)))


async def test_what_is_marked_in_torch_the_graph_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from reverie_bench.adapt.encoder import AdaptableEncoder

    model = replace(E5, adapted=())
    monkeypatch.setattr("reverie_indexer.embed.local.adapter_file", lambda _, use: tmp_path / f"{use}.npz")
    monkeypatch.setattr("reverie_indexer.embed.local.mark_layers_file", lambda _: tmp_path / "layers.npz")
    torch.manual_seed(1)
    encoder = AdaptableEncoder(model, rank=3)
    for parameter in encoder.parameters():
        if parameter.requires_grad:
            torch.nn.init.normal_(parameter, std=0.1)
    content = packed(encoder.adapter())
    for name, matrices in read_adapter(content).items():
        up, down = encoder.matrices[name]
        up.data, down.data = torch.tensor(matrices.up), torch.tensor(matrices.down)
    (tmp_path / "marks.npz").write_bytes(content)
    generator = np.random.default_rng(1)

    def halves(*shape: int) -> NDArray[np.float32]:
        return generator.normal(size=shape).astype(np.float16).astype(np.float32)

    hidden = model.shape.hidden
    layers = MarkLayers(
        labels=("home", "person"),
        relation_names=("sister", "wife"),
        kinds=halves(hidden, 5),
        kind_offsets=halves(5),
        states=halves(hidden, len(STATES)),
        state_offsets=halves(len(STATES)),
        relations=halves(hidden, 2),
        relation_offsets=halves(2),
        whose=halves(hidden, 4),
        whom=halves(hidden, 4),
        ends=halves(2, 4),
        steps=halves(2 * MOST_STEPS + 1),
        right=halves(2),
        right_by=halves(RIGHT_BY),
    )
    with pytest.raises(SetupError, match="its layers of marks: install it again"):
        load_local(tmp_path, model)
    (tmp_path / "layers.npz").write_bytes(packed_mark_layers(layers))
    embedder = load_local(tmp_path, model)
    found = await embedder.marks(TEXTS)
    await embedder.aclose()
    tokeniser = load_tokeniser(model, model.find_weights(), tmp_path)
    expected = []
    with torch.no_grad():
        for text in TEXTS:
            states = encoder.states([tokeniser.ids(text)])[0][0, 1:-1].numpy()
            expected.append(marks_of(text, tokeniser.pieces(text), states, layers))
    assert found is not None
    assert any(expected)
    for of_text, in_torch in zip(found, expected, strict=True):
        spans = [(mark.start, mark.end, mark.label, mark.state, mark.of) for mark in in_torch]
        assert [(mark.start, mark.end, mark.label, mark.state, mark.of) for mark in of_text] == spans
        for name in ("probability", "confidence"):
            values = [getattr(mark, name) for mark in in_torch]
            assert [getattr(mark, name) for mark in of_text] == pytest.approx(values, abs=1e-3)


def test_whose_a_span_is_is_learnt_as_it_is_found() -> None:
    """The loss of a span of one mark is that of how likely the layers say it is of that mark."""
    import torch

    from reverie_bench.marks import marked_text
    from reverie_bench.marks.learn import Layers, cases_of

    torch.manual_seed(1)
    layers = Layers(["home", "job", "pet", "rel"], ["sister", "wife"])
    torch.nn.init.normal_(layers.steps)
    text = marked_text("my {rel:sister} is {o_job@1:a cook}, {o_age@x:nine}, her {pet@1:dog} lives in {o_home@4:Rye}")
    [case] = cases_of([text], layers)
    spans = torch.randn(len(case.spans), E5.shape.hidden)
    losses = [float(each.detach()) for each in layers._losses_of_whose(spans, case.spans)]
    marks = [Mark(at, at + 1, each.span.label, 1.0) for at, each in enumerate(case.spans)]
    learnt = layers.as_learnt()
    shares = shares_of_whose(marks, spans.numpy(), learnt)
    places = [to if to >= 0 else len(marks) - 1 - to for each in case.spans for to in each.span.of]
    assert places == [5, 0, 6, 0, 3]
    expected = [-np.log(shares[at, place]) for at, place in enumerate(places)]
    np.testing.assert_allclose(losses, expected, rtol=1e-4)


def test_a_text_learns_what_it_is_to_be_near_to_and_when_to_nothing() -> None:
    import torch

    from reverie_bench.adapt.learn import Task, learn

    class OneHot(torch.nn.Module):
        """A vector for each id, which is what is learnt."""

        def __init__(self) -> None:
            super().__init__()
            self.rows = torch.nn.Parameter(torch.tensor(0.1 * generator.normal(size=(8, 16)), dtype=torch.float32))

        def forward(self, texts: Sequence[Sequence[int]]) -> torch.Tensor:
            return torch.nn.functional.normalize(self.rows[[ids[0] for ids in texts]], dim=-1)

    generator = np.random.default_rng(2)
    candidates = torch.nn.functional.normalize(torch.tensor(generator.normal(size=(8, 16))).float(), dim=-1)
    # The last two want nothing.
    tasks = [Task([at % 8], [candidates], [(at + 1) % 8] if at % 8 < 6 else []) for at in range(640)]
    encoder = OneHot()
    nothing = learn(encoder, lambda _: tasks, rounds=80)
    with torch.no_grad():
        cosines = encoder([[at] for at in range(8)]) @ candidates.T
    assert cosines[:6].argmax(dim=1).tolist() == [1, 2, 3, 4, 5, 6]
    assert (cosines[:6].max(dim=1).values > nothing).all()
    assert (cosines[6:].max(dim=1).values < nothing).all()
