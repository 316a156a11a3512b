"""Messages between a kernel and the front end: the one schema of every panel, live or saved in a notebook.

Each message is a plain dataclass with a literal `kind`. `Batch` is the only envelope, for live data and for
saved outputs alike. Requests go the other way, one at a time and without an envelope. Field names are the
same in Python, in JSON and in TypeScript; `schema.py` turns these classes into JSON schema, and a build step
turns that into `extension/src/messages.gen.ts`. After a change here run `python -m nbtorch.events.schema`.

Comms (two per kernel, since ipykernel 7.4 routes a comm's requests to the shell that last sent on it):

* `DATA_TARGET`: opened by the kernel, written by the kernel only. Every message is a `Batch`. There is one
  data comm per kernel; its id is in `Status.data_comm`, so a page that comes later attaches to it by id.
* `RPC_TARGET`: opened by the front end in a subshell. It sends one request per message, first `Hello`; the
  kernel answers each with one `Batch` whose `request` repeats the number. Handlers run in another thread.

Sequence numbers rise per comm but may arrive slightly out of order. Ids of nodes, graphs and tensors are
issued by the kernel; an id it did not issue is answered with `Error(code="unknown-id")`. The front end
refuses a whole batch that breaks the schema, so cut long texts with `short`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from .plain import dump, short  # noqa: F401  for those who send, as part of this module

VERSION = 1
DATA_TARGET = "nbtorch.data"
RPC_TARGET = "nbtorch.rpc"
GRAPH_MIME = "application/vnd.nbtorch.graph.v1+json"  # holds one Batch as JSON, as do all these types
MEMORY_MIME = "application/vnd.nbtorch.memory.v1+json"
MAX_BATCH_BYTES = 4_000_000  # kernels cut a batch that would be larger; the front end counts its values
MAX_REQUEST_BYTES = 4_096  # a request over this is refused by the kernel


@dataclass(frozen=True, slots=True)
class Limit:
    """Longest text or list that a field may hold; becomes maxLength or maxItems in the schema."""

    size: int


Name = Annotated[str, Limit(200)]
Text = Annotated[str, Limit(4_000)]
Shape = Annotated[list[int], Limit(64)]
# JSON has no NaN, yet a loss that went to NaN is what the reader must see: `dump` writes these as words.
Real = float | Literal["nan", "inf", "-inf"] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where user code made something: a cell's run number, or a file, and a line."""

    run: int | None = None
    file: Name = ""
    line: int | None = None
    source: Name = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphNode:
    """One box of the autograd graph; `inputs` are the ids of the nodes whose outputs it consumes."""

    id: int
    op: Name
    role: Literal["op", "parameter", "input", "loss"] = "op"
    name: Name = ""
    module: Name = ""  # dotted path, "" at top level
    module_type: Name = ""
    place: Place | None = None
    shapes: Annotated[list[Shape], Limit(64)] = field(default_factory=list)  # of its outputs
    dtypes: Annotated[list[Name], Limit(64)] = field(default_factory=list)
    saved_bytes: int = 0
    freed: bool = False  # backward has released what it saved
    value: Real = None
    value_name: Name = ""  # what `value` is: "mean", "grad norm", "loss"
    inputs: Annotated[list[int], Limit(4_096)] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSnapshot:
    """The whole graph of one step; `graph` names this structure for later `GraphValues` and `GraphDetail`."""

    kind: Literal["graph.snapshot"] = "graph.snapshot"
    graph: int
    step: int
    loss: Real = None
    title: Name = ""
    run: int | None = None
    total_nodes: int  # more than len(nodes) when the graph was cut
    nodes: Annotated[list[GraphNode], Limit(5_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphValues:
    """New numbers for an unchanged structure; `values` follow the order of the snapshot's nodes."""

    kind: Literal["graph.values"] = "graph.values"
    graph: int
    step: int
    loss: Real = None
    values: Annotated[list[Real], Limit(5_000)]
    freed: Annotated[list[int], Limit(5_000)] = field(default_factory=list)  # ids released by backward


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTensor:
    """One tensor that a node keeps for backward."""

    name: Name
    shape: Shape
    dtype: Name
    bytes: int
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphDetail:
    """What one node holds and where it came from: the answer to `DetailRequest`."""

    kind: Literal["graph.detail"] = "graph.detail"
    graph: int
    node: int
    op: Name
    name: Name = ""
    module: Name = ""
    module_type: Name = ""
    place: Place | None = None
    shapes: Annotated[list[Shape], Limit(64)] = field(default_factory=list)
    dtypes: Annotated[list[Name], Limit(64)] = field(default_factory=list)
    saved: Annotated[list[SavedTensor], Limit(64)] = field(default_factory=list)
    saved_bytes: int = 0
    freed: bool = False
    forward_ms: float | None = None
    backward_ms: float | None = None
    grad_norm: Real = None
    value: Real = None
    value_name: Name = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Categories:
    """Live bytes by what they are for."""

    parameter: int = 0
    gradient: int = 0
    activation: int = 0
    optimizer: int = 0
    other: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySample:
    """Live tensor bytes at one time; `time` is seconds since the epoch."""

    kind: Literal["memory.sample"] = "memory.sample"
    time: float
    live: int
    peak: int
    by: Categories
    rss: int | None = None
    pool: int | None = None
    device: Name = "cpu"
    run: int | None = None
    step: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHistory:
    """Earlier samples, thinned, oldest first: for a page that comes late and for saved outputs."""

    kind: Literal["memory.history"] = "memory.history"
    samples: Annotated[list[MemorySample], Limit(2_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class TopTensor:
    """One of the largest live tensors."""

    id: int
    name: Name = ""
    bytes: int
    shape: Shape
    dtype: Name
    category: Literal["parameter", "gradient", "activation", "optimizer", "other"] = "other"
    device: Name = "cpu"
    place: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTop:
    """The largest live tensors, largest first, and how many are alive in all."""

    kind: Literal["memory.top"] = "memory.top"
    count: int
    tensors: Annotated[list[TopTensor], Limit(100)]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCell:
    """What one run of a cell did to memory."""

    kind: Literal["memory.cell"] = "memory.cell"
    run: int
    peak: int
    delta: int
    alive: int
    label: Name = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelCount:
    """How often one kernel answered."""

    name: Name
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderCalls:
    """Calls that one provider of kernels answered, and its busiest kernels, busiest first."""

    provider: Name
    calls: int
    busiest: Annotated[list[KernelCount], Limit(10)] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelCalls:
    """Calls answered so far, by provider in the order they are asked; those that answered none are left out."""

    kind: Literal["kernel.calls"] = "kernel.calls"
    providers: Annotated[list[ProviderCalls], Limit(16)]


@dataclass(frozen=True, slots=True, kw_only=True)
class DtypeCount:
    """How often an op ran in one dtype."""

    dtype: Name
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AmpOp:
    """One op under autocast: the dtypes it ran in and the casts made for it."""

    op: Name
    dtypes: Annotated[list[DtypeCount], Limit(16)]
    casts: int = 0
    cast_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AmpSummary:
    """What autocast and the gradient scaler did."""

    kind: Literal["amp.summary"] = "amp.summary"
    ops: Annotated[list[AmpOp], Limit(500)]
    casts: int = 0
    cached_casts: int = 0
    cast_bytes: int = 0
    saved_bytes: int = 0
    scale: Real = None
    overflows: int = 0
    emulated: bool = False  # low precision computed in float32 on this machine


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRow:
    """One line of a profile, times in microseconds."""

    op: Name
    calls: int
    self_us: float
    total_us: float
    bytes: int = 0
    flops: int = 0
    place: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileTable:
    """A finished profile, by op."""

    kind: Literal["profile.table"] = "profile.table"
    title: Name = ""
    run: int | None = None
    wall_us: float = 0.0
    rows: Annotated[list[ProfileRow], Limit(500)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rank:
    """One worker of the process group."""

    rank: int
    host: Name = ""
    state: Literal["starting", "idle", "busy", "waiting", "dead"] = "idle"
    step: int | None = None
    live: int | None = None
    note: Name = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterState:
    """The workers of a cluster and what each is doing."""

    kind: Literal["cluster.state"] = "cluster.state"
    backend: Name = ""
    ranks: Annotated[list[Rank], Limit(1_024)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """Whether training runs. `session` changes when the kernel restarts, so older state can be dropped."""

    kind: Literal["status"] = "status"
    session: Name
    nbtorch: Name
    training: bool
    step: int | None = None
    run: int | None = None
    data_comm: Name = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    """Why a request was not answered, or what went wrong while a view was made."""

    kind: Literal["error"] = "error"
    code: Literal["unknown-id", "bad-request", "too-large", "version", "internal"]
    text: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """First request of a front end; answered with `Status` and the newest of everything else."""

    kind: Literal["request.hello"] = "request.hello"
    request: int
    version: int
    client: Name = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotRequest:
    """Asks for the newest `GraphSnapshot`, `MemoryHistory` and `Status`."""

    kind: Literal["request.snapshot"] = "request.snapshot"
    request: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DetailRequest:
    """Asks for the `GraphDetail` of a node that the kernel has sent."""

    kind: Literal["request.detail"] = "request.detail"
    request: int
    graph: int
    node: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TopRequest:
    """Asks for `MemoryTop`; `limit` is at most 100."""

    kind: Literal["request.top"] = "request.top"
    request: int
    limit: int = 20


Item = (
    GraphSnapshot
    | GraphValues
    | GraphDetail
    | MemorySample
    | MemoryHistory
    | MemoryTop
    | MemoryCell
    | KernelCalls
    | AmpSummary
    | ProfileTable
    | ClusterState
    | Status
    | Error
)
Request = Hello | SnapshotRequest | DetailRequest | TopRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The envelope: items in order, how many were dropped so far, and the request it answers, if any."""

    version: int = VERSION
    seq: int
    dropped: int = 0
    request: int | None = None
    items: Annotated[list[Item], Limit(2_000)]
