"""JSON schema of the messages, made from their dataclasses, and the checks that use it.

`python -m nbtorch.events.schema` writes `extension/schema/messages.schema.json`; the front end reads the same
file, so both ends refuse the same things. Standard library only.
"""

from __future__ import annotations

import json
import types
import typing
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

from . import messages

SCHEMA_FILE = Path(__file__).parents[2] / "extension" / "schema" / "messages.schema.json"
HEADER = "Generated from nbtorch/events/messages.py by python -m nbtorch.events.schema. Do not edit."
_PLAIN: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


class SchemaError(ValueError):
    """A message that breaks the schema; the text says where and how."""


def _limited(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Schema of an Annotated type: the inner one with its longest length."""
    inner, *notes = typing.get_args(hint)
    schema = _schema_of(inner, definitions)
    key = "maxLength" if schema.get("type") == "string" else "maxItems"
    for note in notes:
        schema[key] = note.size
    return schema


def _schema_of(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Schema of one type hint; dataclasses go to `definitions` and are referred to."""
    origin = typing.get_origin(hint)
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if is_dataclass(hint):
        return _reference(hint, definitions)
    if origin is typing.Annotated:
        return _limited(hint, definitions)
    if origin is typing.Literal:
        words = list(typing.get_args(hint))
        return {"const": words[0]} if len(words) == 1 else {"enum": words}
    if origin is list:
        return {"type": "array", "items": _schema_of(typing.get_args(hint)[0], definitions)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema_of(each, definitions) for each in typing.get_args(hint)]}
    raise TypeError(f"no JSON schema for {hint!r}")


def _reference(cls: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """A `$ref` to the class, whose own schema is added to `definitions` at the first call."""
    name = cls.__name__
    if name not in definitions:
        definitions[name] = {}  # holds the name while fields that may refer back are read
        hints = typing.get_type_hints(cls, include_extras=True)
        names = [each.name for each in fields(cls)]
        definitions[name] = {
            "description": (cls.__doc__ or "").strip(),
            "type": "object",
            "properties": {each: _schema_of(hints[each], definitions) for each in names},
            "required": names,  # `dump` writes every field, so readers need no defaults
            "additionalProperties": False,
        }
    return {"$ref": f"#/definitions/{name}"}


@cache
def build() -> dict[str, Any]:
    """The whole schema: one definition per class, and what may cross a comm at the top."""
    definitions: dict[str, Any] = {}
    roots = [messages.Batch, *typing.get_args(messages.Request)]
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$comment": HEADER,
        "title": "Message",
        "version": messages.VERSION,
        "anyOf": [_reference(cls, definitions) for cls in roots],
        "definitions": definitions,
    }


def text() -> str:
    """The schema as the committed file holds it."""
    return json.dumps(build(), indent=2) + "\n"


def _kind_matches(option: dict[str, Any], value: Any) -> bool:
    """Whether a union's option is the class that the value's `kind` names."""
    if "$ref" not in option or not isinstance(value, dict):
        return False
    kind = build()["definitions"][option["$ref"].rpartition("/")[2]]["properties"].get("kind", {})
    return "const" in kind and kind["const"] == value.get("kind")


def _check_union(value: Any, options: list[dict[str, Any]], where: str) -> None:
    """Accepts the value under one option; a `kind` picks it, so that the error is about the right class."""
    for option in options:
        if _kind_matches(option, value):
            return _check(value, option, where)
    for option in options:
        try:
            return _check(value, option, where)
        except SchemaError:
            continue
    raise SchemaError(f"{where}: {_told(value)} is none of the allowed types")


def _told(value: Any) -> str:
    """The value in an error text, short."""
    return messages.short(repr(value), 60)


def _check_object(value: dict[str, Any], schema: dict[str, Any], where: str) -> None:
    for name in schema["required"]:
        if name not in value:
            raise SchemaError(f"{where}: field {name!r} is missing")
    for name, each in value.items():
        if name not in schema["properties"]:
            raise SchemaError(f"{where}: unknown field {_told(name)}")
        _check(each, schema["properties"][name], f"{where}.{name}")


_IS: dict[str, Any] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _check(value: Any, schema: dict[str, Any], where: str) -> None:
    if "$ref" in schema:
        return _check(value, build()["definitions"][schema["$ref"].rpartition("/")[2]], where)
    if "anyOf" in schema:
        return _check_union(value, schema["anyOf"], where)
    if "const" in schema or "enum" in schema:
        if value not in schema.get("enum", [schema.get("const")]):
            raise SchemaError(f"{where}: {_told(value)} is not an allowed word")
        return None
    if not _IS[schema["type"]](value):
        raise SchemaError(f"{where}: {_told(value)} is not of type {schema['type']}")
    if schema["type"] == "string" and len(value) > schema.get("maxLength", len(value)):
        raise SchemaError(f"{where}: longer than {schema['maxLength']} characters")
    if schema["type"] == "array":
        if len(value) > schema.get("maxItems", len(value)):
            raise SchemaError(f"{where}: more than {schema['maxItems']} items")
        for index, each in enumerate(value):
            _check(each, schema["items"], f"{where}[{index}]")
    if schema["type"] == "object":
        _check_object(value, schema, where)
    return None


def check_batch(data: Any) -> None:
    """Raises SchemaError if the plain data (as from `messages.dump`) is not a valid `Batch`."""
    _check(data, {"$ref": "#/definitions/Batch"}, "batch")


def parse_request(data: Any) -> messages.Request:
    """The request that a front end sent. Raises SchemaError on anything that is not one, or is too large."""
    try:
        size = len(json.dumps(data))
    except (TypeError, ValueError, RecursionError) as error:
        raise SchemaError("request: not JSON") from error
    if size > messages.MAX_REQUEST_BYTES:
        raise SchemaError(f"request: {size} bytes, over the limit of {messages.MAX_REQUEST_BYTES}")
    for cls in typing.get_args(messages.Request):
        reference = {"$ref": f"#/definitions/{cls.__name__}"}
        if _kind_matches(reference, data):
            _check(data, reference, "request")
            return cls(**data)
    raise SchemaError("request: unknown kind")


def main() -> None:
    """Writes the schema file."""
    SCHEMA_FILE.parent.mkdir(parents=True, exist_ok=True)
    SCHEMA_FILE.write_text(text(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
