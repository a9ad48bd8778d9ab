"""JSON objects as frozen dataclasses."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")


def decode(kind: type[T], data: object) -> T:
    """The JSON object `data` as the dataclass `kind`.

    Fields that `kind` does not have are ignored and missing ones with a default take it, so that older and newer
    servers are understood. ValueError when a field without a default is missing or has another shape.
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"{kind.__name__} is not an object")
    values = {}
    for name, (read, is_required) in _plan(cast("Hashable", kind)).items():
        if name in data:
            values[name] = read(data[name])
        elif is_required:
            raise ValueError(f"{kind.__name__} has no {name!r}")
    return kind(**values)


@functools.cache
def _plan(kind: Any) -> Mapping[str, tuple[Callable[[Any], Any], bool]]:
    """How to read each field, and whether it must be there."""
    hints = get_type_hints(kind)
    return {
        field.name: (_principal(hints[field.name]), field.default is MISSING and field.default_factory is MISSING)
        for field in fields(kind)
    }


def _principal(hint: Any) -> Callable[[Any], Any]:
    if get_origin(hint) in (Union, types.UnionType):
        [inner] = [part for part in get_args(hint) if part is not types.NoneType]
        read = _principal(inner)
        return lambda value: None if value is None else read(value)
    if get_origin(hint) is tuple:
        read = _principal(get_args(hint)[0])
        return lambda value: tuple(map(read, _list(value)))
    if get_origin(hint) is Mapping:
        read = _principal(get_args(hint)[1])
        return lambda value: {name: read(item) for name, item in _object(value).items()}
    if is_dataclass(hint) and isinstance(hint, type):
        return functools.partial(decode, hint)
    if hint is datetime:
        return _time
    return lambda value: value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("a list was expected")
    return value


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError("an object was expected")
    return value


def _time(value: object) -> datetime:
    if not isinstance(value, str):
        raise ValueError("a time was expected")
    return datetime.fromisoformat(value)
