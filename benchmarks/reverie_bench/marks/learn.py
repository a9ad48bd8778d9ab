"""Learns which spans of a message say what of people's lives: `python -m reverie_bench.marks.learn`.

Needs `reverie[models]`, and half an hour. The adapter of the model and the layers on its tokens (`embed.marks`) are
learnt together, by the cross entropy of the tags, and of what each marked span says besides (AdamW), and written where
the model looks for them. How likely a mark is right is then fitted to what is marked of held messages (logistic
regression). What is found of these is printed by kind, from some such likelihoods on; each is judged by a function that
was fitted without its life.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from reverie_bench.adapt.encoder import AdaptableEncoder
from reverie_bench.marks import MarkedText, Span, marked_texts, relations
from reverie_indexer.embed.adapter import adapter_file, packed
from reverie_indexer.embed.built_in import E5
from reverie_indexer.embed.local import load_tokeniser
from reverie_indexer.embed.marks import (
    BEINGS,
    MOST_STEPS,
    NO_RELATION,
    NOBODY,
    RIGHT_BY,
    SPEAKER,
    STATES,
    Mark,
    MarkLayers,
    features_of,
    mark_layers_file,
    marks_of,
    packed_mark_layers,
)

RANK = 16
_ROUNDS, _BATCH, _MOST_TOKENS, _ABOUT_AS_LONG = 6, 16, 96, 8
_RATE, _RATE_OF_LAYER, _DECAY, _WARM, _LONGEST_STEP, _DROPPED = 1.5e-3, 3e-3, 0.05, 100, 1.0, 0.1
_WIDTH, _WEIGHT_OF_THE_REST = 64, 0.5
_SEED = 20261130
# A kind, and who somebody is, of which there are fewer spans is not learnt.
_FEWEST, _FEWEST_RELATIONS = 40, 20
_FROM = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
_FOLDS = 5
_IGNORED = -100


@dataclass(frozen=True, slots=True)
class _TaggedSpan:
    """A span in tokens, with the number of who it says that somebody is, or `_IGNORED`."""

    first: int
    last: int
    span: Span
    relation: int


@dataclass(frozen=True, slots=True)
class _Case:
    """A text in tokens, with the tag of each but the marks at its ends; `spans` are all of its marks or none."""

    text: str
    ids: Sequence[int]
    pieces: Sequence[tuple[int, int]]
    tags: Sequence[int]
    spans: Sequence[_TaggedSpan]


class Layers(nn.Module):
    """The layers as they are learnt."""

    def __init__(self, labels: Sequence[str], relation_names: Sequence[str]) -> None:
        super().__init__()
        hidden = E5.shape.hidden
        self.labels, self.relation_names = tuple(labels), tuple(relation_names)
        self.drop = nn.Dropout(_DROPPED)
        self.kinds = nn.Linear(hidden, 1 + 2 * len(labels))
        self.states = nn.Linear(hidden, len(STATES))
        self.relations = nn.Linear(hidden, len(relation_names))
        self.whose = nn.Linear(hidden, _WIDTH, bias=False)
        self.whom = nn.Linear(hidden, _WIDTH, bias=False)
        self.ends = nn.Parameter(torch.randn(2, _WIDTH))
        self.steps = nn.Parameter(torch.zeros(2 * MOST_STEPS + 1))

    def loss_of_spans(self, states: Tensor, batch: Sequence[_Case]) -> Tensor:
        """The cross entropy of what the spans of a batch say besides, of its tokens' states; their mean."""
        vectors, when, relations = [], [], []
        losses: list[Tensor] = []
        for row, case in enumerate(batch):
            if not case.spans:
                continue
            of_case = torch.stack([states[row, 1 + each.first : 2 + each.last].mean(0) for each in case.spans])
            vectors.append(of_case)
            when += [STATES.index(each.span.state) for each in case.spans]
            relations += [each.relation for each in case.spans]
            losses += self._losses_of_whose(of_case, case.spans)
        if not vectors:
            return states.sum() * 0
        all_vectors = torch.cat(vectors)
        loss = cross_entropy(self.states(all_vectors), torch.tensor(when))
        loss = loss + torch.stack(losses).mean()
        if any(each != _IGNORED for each in relations):
            loss = loss + cross_entropy(self.relations(all_vectors), torch.tensor(relations), ignore_index=_IGNORED)
        return loss

    def _losses_of_whose(self, vectors: Tensor, spans: Sequence[_TaggedSpan]) -> Iterator[Tensor]:
        count = len(spans)
        whom = torch.cat([self.whom(vectors), self.ends])
        scores = self.whose(vectors) @ whom.T / _WIDTH**0.5
        places = torch.arange(count)
        steps = (places[None] - places[:, None]).clamp(-MOST_STEPS, MOST_STEPS) + MOST_STEPS
        scores = scores + torch.cat([self.steps[steps], torch.zeros(count, 2)], 1)
        is_none = torch.tensor([each.span.label not in BEINGS for each in spans] + [False, False])
        shares = scores.masked_fill(is_none[None] | torch.eye(count, count + 2, dtype=torch.bool), -1e9).log_softmax(1)
        for at, each in enumerate(spans):
            right = [to if to >= 0 else count - 1 - to for to in each.span.of]
            yield -shares[at, right].logsumexp(0)

    def as_learnt(self) -> MarkLayers:
        """The layers as the model takes them."""
        found = {}
        for name, layer in (("kind", self.kinds), ("state", self.states), ("relation", self.relations)):
            found[f"{name}s"] = layer.weight.detach().T.numpy().copy()
            found[f"{name}_offsets"] = layer.bias.detach().numpy().copy()
        found |= {key: getattr(self, key).weight.detach().T.numpy().copy() for key in ("whose", "whom")}
        found |= {key: getattr(self, key).detach().numpy().copy() for key in ("ends", "steps")}
        found |= {"right": np.zeros(len(self.labels)), "right_by": np.zeros(RIGHT_BY)}
        return MarkLayers(self.labels, self.relation_names, **found)


def main() -> None:
    """Learn, write what was learnt, and print what is found of held messages."""
    torch.manual_seed(_SEED)
    texts = marked_texts()
    labels = _often((span.label for text in texts for span in text.spans), _FEWEST)
    layers = Layers(labels, _often(_relations_in(texts), _FEWEST_RELATIONS))
    encoder = learn(cases_of([text for text in texts if not text.is_held], layers), layers)
    adapter_file(E5.name, "marks").write_bytes(packed(encoder.adapter()))
    held = [text for text in texts if text.is_held]
    marks = marks_by_text(encoder, held, layers, layers.as_learnt())
    learnt, judged = with_confidence(layers.as_learnt(), marks, held)
    mark_layers_file(E5.name).write_bytes(packed_mark_layers(learnt))
    print("\n".join(report(judged, held)))


def _often(values: Iterator[str], fewest: int) -> list[str]:
    return sorted(value for value, count in Counter(values).items() if value and count >= fewest)


def _relations_in(texts: Sequence[MarkedText]) -> Iterator[str]:
    for text in texts:
        yield from (relation_of(text, span) for span in text.spans)


def relation_of(text: MarkedText, span: Span) -> str:
    """Who the words of a span say that somebody is; "" where nobody wrote that down."""
    return relations().get(text.text[span.start : span.end].lower(), "") if span.label == "rel" else ""


def cases_of(texts: Sequence[MarkedText], layers: Layers) -> list[_Case]:
    """The texts in tokens, with their tags; of a long one the beginning."""
    tokeniser = load_tokeniser(E5, E5.find_weights(), Path(tempfile.gettempdir()))
    numbers = {label: 1 + 2 * at for at, label in enumerate(layers.labels)}
    found = []
    for text in texts:
        ids, pieces = tokeniser.ids(text.text), tokeniser.pieces(text.text)
        if len(ids) != len(pieces) + 2:
            continue
        tags = [0] * len(pieces)
        spans = []
        for span in text.spans:
            tag = numbers.get(span.label)
            inside = [at for at, (start, end) in enumerate(pieces) if start < span.end and end > span.start]
            inside = [at for at in inside if text.text[slice(*pieces[at])].strip()]
            if not inside:
                continue
            if tag is not None:
                tags[inside[0]] = tag
                tags[inside[0] + 1 : inside[-1] + 1] = [tag + 1] * (inside[-1] - inside[0])
            name = relation_of(text, span)
            is_learnt = name in layers.relation_names
            relation = layers.relation_names.index(name) if is_learnt else _IGNORED
            spans.append(_TaggedSpan(inside[0], inside[-1], span, relation))
        if len(spans) < len(text.spans) or len(ids) > _MOST_TOKENS:
            spans = []
        if len(ids) > _MOST_TOKENS:
            ids, pieces = [*ids[: _MOST_TOKENS - 1], ids[-1]], pieces[: _MOST_TOKENS - 2]
            tags = tags[: len(pieces)]
        found.append(_Case(text.text, ids, pieces, tags, spans))
    return found


def learn(cases: Sequence[_Case], layers: Layers) -> AdaptableEncoder:
    """The adapted encoder, learnt from cases with the layers on it."""
    generator = np.random.default_rng(_SEED)
    encoder = AdaptableEncoder(E5, RANK)
    of_encoder = [each for each in encoder.parameters() if each.requires_grad]
    groups = [{"params": of_encoder, "lr": _RATE}, {"params": layers.parameters(), "lr": _RATE_OF_LAYER}]
    optimiser = torch.optim.AdamW(groups, weight_decay=_DECAY)
    steps = _ROUNDS * (len(cases) // _BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, (step + 1) / _WARM) * max(0.0, 1 - step / steps)
    )
    # The layers of the model that nothing is learnt of do their work once.
    lower = {id(case): encoder.lower([case.ids])[0].half() for case in cases}
    layers.train()
    for number in range(_ROUNDS):
        total = 0.0
        for batch in _batches(cases, generator):
            states = layers.drop(encoder.upper([lower[id(case)] for case in batch])[0])
            scores = layers.kinds(states)
            loss = cross_entropy(scores.flatten(0, 1), _tags(batch, scores).flatten(), ignore_index=_IGNORED)
            loss = loss + _WEIGHT_OF_THE_REST * layers.loss_of_spans(states, batch)
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([*of_encoder, *layers.parameters()], _LONGEST_STEP)
            optimiser.step()
            schedule.step()
            total += float(loss.detach())
        print(f"round {number + 1}: {total / (len(cases) // _BATCH):.4f}", flush=True)
    return encoder


def _tags(batch: Sequence[_Case], scores: Tensor) -> Tensor:
    tags = torch.full(scores.shape[:2], _IGNORED)
    for row, case in enumerate(batch):
        tags[row, 1 : len(case.tags) + 1] = torch.tensor(case.tags, dtype=torch.long)
    return tags


def _batches(cases: Sequence[_Case], generator: np.random.Generator) -> Iterator[Sequence[_Case]]:
    """The cases, but for fewer than a batch of them, those together that are about as long, in random order."""
    chosen = [cases[at] for at in generator.permutation(len(cases))[: len(cases) // _BATCH * _BATCH]]
    in_order = sorted(chosen, key=lambda case: len(case.ids) + generator.uniform(0, _ABOUT_AS_LONG))
    for start in generator.permutation(range(0, len(in_order), _BATCH)):
        yield in_order[start : start + _BATCH]


def marks_by_text(
    encoder: AdaptableEncoder, texts: Sequence[MarkedText], layers: Layers, learnt: MarkLayers
) -> dict[str, list[Mark]]:
    """What is marked of texts, by the text."""
    found = {}
    for case in cases_of(texts, layers):
        with torch.no_grad():
            states = encoder.states([case.ids])[0][0, 1:-1].numpy()
        found[case.text] = marks_of(case.text, case.pieces, states, learnt)
    return found


def with_confidence(
    layers: MarkLayers, marks: Mapping[str, Sequence[Mark]], texts: Sequence[MarkedText]
) -> tuple[MarkLayers, dict[str, list[Mark]]]:
    """The layers with how likely a mark is right, fitted to marks of texts; and these marks with how likely each is by
    what is fitted without its life."""
    found = [(text, mark) for text in texts for mark in marks.get(text.text, ())]
    is_right = np.array([any(is_same(mark, span) for span in text.spans) for text, mark in found])
    rows = np.array([_row(layers, mark) for _, mark in found])
    model = LogisticRegression(max_iter=2000)
    folds = GroupKFold(_FOLDS)
    lives = [text.life for text, _ in found]
    shares = cross_val_predict(model, rows, is_right, groups=lives, cv=folds, method="predict_proba")[:, 1]
    model.fit(rows, is_right)
    kinds = len(layers.labels)
    right = (model.coef_[0, :kinds] + model.intercept_[0]).astype(np.float32)
    judged: dict[str, list[Mark]] = {text.text: [] for text in texts if text.text in marks}
    for (text, mark), share in zip(found, shares, strict=True):
        judged[text.text].append(replace(mark, confidence=float(share)))
    return replace(layers, right=right, right_by=model.coef_[0, kinds:].astype(np.float32)), judged


def _row(layers: MarkLayers, mark: Mark) -> NDArray[np.float32]:
    is_kind = np.array([label == mark.label for label in layers.labels], np.float32)
    return np.concatenate([is_kind, features_of(mark)])


def report(marks: dict[str, list[Mark]], texts: Sequence[MarkedText]) -> Iterator[str]:
    """The lines that say how many spans are found, and how many that are found are right, exactly or nearly: by kind,
    by when they hold, and by whose they are. Right is one of the same kind, in the same state, the speaker's or not."""
    right: Counter[tuple[str, float]] = Counter()
    found: Counter[tuple[str, float]] = Counter()
    known: Counter[str] = Counter()
    for text in texts:
        if text.text not in marks:
            continue
        for span in text.spans:
            known.update(_groups(span.label, span.state, span.of == {SPEAKER}))
        for mark in marks[text.text]:
            is_right = any(is_same(mark, span) for span in text.spans)
            for group in _groups(mark.label, mark.state, mark.of == SPEAKER):
                for limit in _FROM:
                    if mark.confidence >= limit:
                        found[group, limit] += 1
                        right[group, limit] += is_right
    yield f"recall/precision from {_FROM}"
    for group in sorted(known, key=lambda each: -known[each]):
        figures = []
        for limit in _FROM:
            of_found = right[group, limit] / max(found[group, limit], 1)
            figures.append(f"{right[group, limit] / known[group]:.2f}/{of_found:.2f}")
        yield f"{group:20} {known[group]:5}  {'  '.join(figures)}"
    yield from _report_of_whose(marks, texts)
    yield from _report_of_relations(marks, texts)


def _report_of_whose(marks: dict[str, list[Mark]], texts: Sequence[MarkedText]) -> Iterator[str]:
    """Of the marks that are right spans: how often they are said of whom they are said, by what they are and whose."""
    right: Counter[str] = Counter()
    known: Counter[str] = Counter()
    for text in texts:
        of_text = marks.get(text.text, [])
        for mark in of_text:
            span = next((span for span in text.spans if _is_same_span(mark, span)), None)
            if span is None:
                continue
            kind = mark.label if mark.label in BEINGS else "value"
            whose = "speaker" if span.of == {SPEAKER} else "nobody" if span.of == {NOBODY} else "being"
            known[f"{kind} of {whose}"] += 1
            if mark.of < 0:
                right[f"{kind} of {whose}"] += mark.of in span.of
            else:
                right[f"{kind} of {whose}"] += any(
                    to >= 0 and _is_same_span(of_text[mark.of], text.spans[to]) for to in span.of
                )
    for group in sorted(known):
        yield f"{group:20} {known[group]:5}  right {right[group] / known[group]:.2f}"


def _report_of_relations(marks: dict[str, list[Mark]], texts: Sequence[MarkedText]) -> Iterator[str]:
    """Of the marked words for who somebody is: how many are said to be somebody, and how many of these are right."""
    counts: Counter[str] = Counter()
    for text in texts:
        for mark in marks.get(text.text, ()):
            span = next((span for span in text.spans if mark.label == "rel" and _is_same_span(mark, span)), None)
            if span is not None and (name := relation_of(text, span)):
                counts += Counter({"known": name != NO_RELATION, "said": bool(mark.relation)})
                counts += Counter({"right": bool(mark.relation) and mark.relation == name})
    yield f"who somebody is: {counts['known']} known, {counts['said']} said, {counts['right']} right"


def _groups(kind: str, state: str, is_speakers: bool) -> tuple[str, ...]:
    is_value = kind not in BEINGS
    return ("all", kind, *(["speaker's" if is_speakers else "other's"] if is_value else []), f"all {state}")


def _is_same_span(mark: Mark, span: Span) -> bool:
    """Whether a mark has more than half of a span and of itself in common with one of its kind."""
    common = min(mark.end, span.end) - max(mark.start, span.start)
    longer = max(mark.end - mark.start, span.end - span.start)
    return mark.label == span.label and common > 0 and 2 * common >= longer


def is_same(mark: Mark, span: Span) -> bool:
    """Whether a mark says what a span does: kind, state, and whether it is the speaker's."""
    is_alike = mark.label in BEINGS or (mark.of == SPEAKER) == (span.of == {SPEAKER})
    return is_alike and mark.state == span.state and _is_same_span(mark, span)


if __name__ == "__main__":
    main()
