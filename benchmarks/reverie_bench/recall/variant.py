"""The rules a run goes by: the defaults, or those with overrides given as `name=value`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from reverie_indexer.errors import ValidationFailed
from reverie_indexer.text import passages
from reverie_server.search import request
from reverie_server.search.rank import Weights


@dataclass(frozen=True, slots=True)
class Variant:
    """The rules of indexing and of search."""

    index: passages.Rules
    search: request.SearchRules

    def as_dict(self) -> dict[str, Any]:
        """Every rule by name, for the result."""
        return {"index": asdict(self.index), "search": asdict(self.search)}


def default_variant(language: str) -> Variant:
    """The rules as they ship, but that a write waits for its vectors as long as it takes."""
    return Variant(passages.Rules(language=language, embed_wait_seconds=3600.0), request.SearchRules(language=language))


def with_overrides(variant: Variant, overrides: Sequence[str]) -> Variant:
    """The variant with each `name=value` set; a name is a field of the rules or of the weights.

    The weights are called `text_weight`, `vector_weight`, `context_weight` and `user_boost`, as the settings are;
    one of the first two sets the other. ValidationFailed for an unknown name, and for a value of another type.
    """
    index, rules, weights = variant.index, variant.search, variant.search.weights
    for name, text in (_parted(override) for override in overrides):
        if name in _WEIGHT_FIELDS:
            field = _WEIGHT_FIELDS[name]
            value = _value(text, getattr(weights, field), name)
            weights = replace(weights, **{field: value}, **_counterpart(field, value))
        elif name in _names(request.SearchRules):
            rules = replace(rules, **{name: _value(text, getattr(rules, name), name)})
        elif name in _names(passages.Rules):
            index = replace(index, **{name: _value(text, getattr(index, name), name)})
        else:
            known = sorted({*_WEIGHT_FIELDS, *_names(request.SearchRules), *_names(passages.Rules)})
            raise ValidationFailed(f"there is no rule {name!r}; there are {', '.join(known)}")
    return Variant(index, replace(rules, weights=weights))


def _names(rules: Any) -> set[str]:
    return {field.name for field in fields(rules)} - {"weights", "language"}


_WEIGHT_FIELDS = {
    field.name if field.name == "user_boost" else f"{field.name}_weight": field.name for field in fields(Weights)
}


def _counterpart(field: str, value: Any) -> Mapping[str, float]:
    others = {"text": "vector", "vector": "text"}
    return {others[field]: round(1 - value, 12)} if field in others else {}


def _parted(override: str) -> tuple[str, str]:
    name, equals, text = override.partition("=")
    if not equals:
        raise ValidationFailed(f"an override is name=value, not {override!r}")
    return name.strip(), text.strip()


def _value(text: str, present: object, name: str) -> Any:
    """The text as a value of the type that the rule has now."""
    try:
        if isinstance(present, bool):
            return {"true": True, "false": False}[text.lower()]
        if isinstance(present, (int, float, str)):
            return type(present)(text)
    except (KeyError, ValueError):
        raise ValidationFailed(f"{name} is a {type(present).__name__}, not {text!r}") from None
    raise ValidationFailed(f"{name} cannot be set by an override")
