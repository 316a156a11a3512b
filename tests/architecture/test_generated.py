"""Generated files are what their sources say, and both ends of the front end's protocol refuse the same things."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import math
import shutil
import subprocess
import typing
from pathlib import Path

import pytest

from nbtorch.events import messages, schema

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "extension"
LABEXTENSION = ROOT / "nbtorch" / "labextension"
GOLDEN = ROOT / "tests" / "notebook" / "golden"


def _golden_writer():
    spec = importlib.util.spec_from_file_location("golden_write", GOLDEN / "write.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


WRITER = _golden_writer()
BATCHES = [name for name in WRITER.batches() if name != "requests"]


def test_schema_file_is_current():
    assert schema.SCHEMA_FILE.read_text(encoding="utf-8") == schema.text()


def test_typescript_is_current():
    if not (EXTENSION / "node_modules").is_dir() or not shutil.which("node"):
        pytest.skip("needs node and extension/node_modules (run jlpm install in extension/)")
    done = subprocess.run(
        ["node", "scripts/types.mjs", "--check"],
        cwd=EXTENSION,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_typescript_knows_the_schema_without_node():
    text = (EXTENSION / "src" / "messages.gen.ts").read_text(encoding="utf-8")
    for name, definition in schema.build()["definitions"].items():
        assert f"export interface {name} {{" in text
        for field in definition["properties"]:
            assert f"  {field}: " in text
    assert f"export const VERSION = {messages.VERSION};" in text


def _extension_sources():
    """What the built front end is made from, as scripts/stamp.mjs lists it."""
    names = ["package.json", "schema", "src", "style", "tsconfig.json", "yarn.lock"]
    paths = [path for name in names for path in [EXTENSION / name, *(EXTENSION / name).rglob("*")]]
    files = {
        path.relative_to(EXTENSION).as_posix(): path
        for path in paths
        if path.is_file() and "__tests__" not in path.parts
    }
    return sorted(files.items())


def test_built_extension_is_current():
    digest = hashlib.sha256()
    for name, path in _extension_sources():
        digest.update(f"{name}\n".encode() + path.read_bytes().replace(b"\r\n", b"\n"))
    stamp = (LABEXTENSION / "sources.sha256").read_text(encoding="utf-8").strip()
    assert stamp == digest.hexdigest(), "extension/ changed: run make front"


def test_built_extension_is_whole():
    package = json.loads((LABEXTENSION / "package.json").read_text(encoding="utf-8"))
    built = package["jupyterlab"]["_build"]
    assert (LABEXTENSION / built["load"]).is_file()
    assert {"extension", "mimeExtension", "style"} <= set(built)
    size = sum(path.stat().st_size for path in LABEXTENSION.rglob("*") if path.is_file())
    assert size < 400_000


def test_names_are_never_markup():
    sources = [path for path in (EXTENSION / "src").rglob("*.ts") if "__tests__" not in path.parts]
    assert len(sources) > 20
    for path in sources:
        text = path.read_text(encoding="utf-8")
        for word in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
        ):
            assert word not in text, f"{path.name} uses {word}"
        assert len(text.splitlines()) <= 250 or path.name == "messages.gen.ts", f"{path.name} is too long"


def test_every_message_has_its_own_kind():
    kinds = [cls.__dataclass_fields__["kind"].default for cls in _messages()]
    assert len(set(kinds)) == len(kinds)
    for cls in _messages():
        hint = typing.get_type_hints(cls)["kind"]
        assert typing.get_args(hint) == (cls.__dataclass_fields__["kind"].default,)


def _messages():
    return [*typing.get_args(messages.Item), *typing.get_args(messages.Request)]


@pytest.mark.parametrize("name", [*BATCHES, "requests"])
def test_golden_file_is_current(name):
    written = (GOLDEN / f"{name}.json").read_text(encoding="utf-8")
    assert written == WRITER.text(WRITER.batches()[name])


@pytest.mark.parametrize("name", BATCHES)
def test_golden_batch_obeys_the_schema(name):
    schema.check_batch(json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8")))


def test_golden_batches_hold_every_kind():
    seen = {item["kind"] for name in BATCHES for item in WRITER.batches()[name]["items"]}
    assert seen == {cls.__dataclass_fields__["kind"].default for cls in typing.get_args(messages.Item)}


def test_requests_round_trip():
    for data in WRITER.batches()["requests"]:
        assert messages.dump(schema.parse_request(data)) == data


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "request.hello",
        {"kind": "request.hello"},
        {"kind": ["request.hello"]},
        {"kind": "request.run", "request": 1, "code": "1"},
        {"kind": "request.top", "request": True, "limit": 3},
        {"kind": "request.top", "request": 1, "limit": 3.5},
        {"kind": "request.top", "request": 1, "limit": 3, "extra": 1},
        {"kind": "request.hello", "request": 1, "version": 1, "client": "x" * 201},
        {"kind": "request.hello", "request": 1, "version": 1, "client": "x" * 10_000},
        {"kind": "request.detail", "request": 1, "graph": 1, "node": {"id": 1}},
        {"kind": "request.detail", "request": 1, "graph": 1, "node": object()},
    ],
)
def test_bad_requests_are_refused(data):
    with pytest.raises(schema.SchemaError):
        schema.parse_request(data)


def test_bad_batches_are_refused():
    good = WRITER.batches()["graph_mlp"]
    node = good["items"][0]["nodes"][0]
    for key, value in [("id", "1"), ("role", "boss"), ("op", "x" * 201), ("value", "NaN"), ("freed", 1)]:
        bad = json.loads(json.dumps(good))
        bad["items"][0]["nodes"][0][key] = value
        with pytest.raises(schema.SchemaError, match=rf"nodes\[0\]\.{key}"):
            schema.check_batch(bad)
    del node["op"]
    with pytest.raises(schema.SchemaError, match="'op' is missing"):
        schema.check_batch(good)


def test_dump_is_json_without_nan():
    values = messages.GraphValues(graph=1, step=1, loss=math.nan, values=[math.inf, -math.inf, 1.5, None])
    data = messages.dump(values)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert (data["loss"], data["values"]) == ("nan", ["inf", "-inf", 1.5, None])
    with pytest.raises(TypeError, match="cannot hold a complex"):
        messages.dump(messages.GraphValues(graph=1, step=1, loss=1j, values=[]))


def test_short_keeps_both_ends():
    assert messages.short("abc", 3) == "abc"
    cut = messages.short("a" * 150 + "b" * 150)
    assert len(cut) == 200 and cut.startswith("a") and cut.endswith("b")
