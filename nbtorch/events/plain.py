"""Messages as plain JSON data, and texts cut to what a message may hold."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any


def dump(message: Any) -> Any:
    """Plain dicts, lists, strings and finite numbers of a message, as JSON has them; NaN becomes a word."""
    if isinstance(message, float):
        if math.isfinite(message):
            return message
        return "nan" if math.isnan(message) else "inf" if message > 0 else "-inf"
    if message is None or isinstance(message, (str, int)):
        return message
    if isinstance(message, (list, tuple)):
        return [dump(item) for item in message]
    if is_dataclass(message):
        return {each.name: dump(getattr(message, each.name)) for each in fields(message)}
    raise TypeError(f"a message cannot hold a {type(message).__name__}")


def short(text: str, size: int = 200) -> str:
    """The text, cut to `size` characters with an ellipsis in the middle, since both ends of a path matter."""
    if len(text) <= size:
        return text
    left = (size - 1) // 2
    return text[:left] + "…" + text[len(text) - (size - 1 - left) :]
