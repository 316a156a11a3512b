// Generated from schema/messages.schema.json by scripts/types.mjs. Do not edit.

export type Message = Batch | Hello | SnapshotRequest | DetailRequest | TopRequest;

/**
 * The envelope: items in order, how many were dropped so far, and the request it answers, if any.
 */
export interface Batch {
  version: number;
  seq: number;
  dropped: number;
  request: number | null;
  /**
   * @maxItems 2000
   */
  items: (
    | GraphSnapshot
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
  )[];
}
/**
 * The whole graph of one step; `graph` names this structure for later `GraphValues` and `GraphDetail`.
 */
export interface GraphSnapshot {
  kind: 'graph.snapshot';
  graph: number;
  step: number;
  loss: number | ('nan' | 'inf' | '-inf') | null;
  title: string;
  run: number | null;
  total_nodes: number;
  /**
   * @maxItems 5000
   */
  nodes: GraphNode[];
}
/**
 * One box of the autograd graph; `inputs` are the ids of the nodes whose outputs it consumes.
 */
export interface GraphNode {
  id: number;
  op: string;
  role: 'op' | 'parameter' | 'input' | 'loss';
  name: string;
  module: string;
  module_type: string;
  place: Place | null;
  /**
   * @maxItems 64
   */
  shapes: number[][];
  /**
   * @maxItems 64
   */
  dtypes: string[];
  saved_bytes: number;
  freed: boolean;
  value: number | ('nan' | 'inf' | '-inf') | null;
  value_name: string;
  /**
   * @maxItems 4096
   */
  inputs: number[];
}
/**
 * Where user code made something: a cell's run number, or a file, and a line.
 */
export interface Place {
  run: number | null;
  file: string;
  line: number | null;
  source: string;
}
/**
 * New numbers for an unchanged structure; `values` follow the order of the snapshot's nodes.
 */
export interface GraphValues {
  kind: 'graph.values';
  graph: number;
  step: number;
  loss: number | ('nan' | 'inf' | '-inf') | null;
  /**
   * @maxItems 5000
   */
  values: (number | ('nan' | 'inf' | '-inf') | null)[];
  /**
   * @maxItems 5000
   */
  freed: number[];
}
/**
 * What one node holds and where it came from: the answer to `DetailRequest`.
 */
export interface GraphDetail {
  kind: 'graph.detail';
  graph: number;
  node: number;
  op: string;
  name: string;
  module: string;
  module_type: string;
  place: Place | null;
  /**
   * @maxItems 64
   */
  shapes: number[][];
  /**
   * @maxItems 64
   */
  dtypes: string[];
  /**
   * @maxItems 64
   */
  saved: SavedTensor[];
  saved_bytes: number;
  freed: boolean;
  forward_ms: number | null;
  backward_ms: number | null;
  grad_norm: number | ('nan' | 'inf' | '-inf') | null;
  value: number | ('nan' | 'inf' | '-inf') | null;
  value_name: string;
}
/**
 * One tensor that a node keeps for backward.
 */
export interface SavedTensor {
  name: string;
  /**
   * @maxItems 64
   */
  shape: number[];
  dtype: string;
  bytes: number;
  version: number;
}
/**
 * Live tensor bytes at one time; `time` is seconds since the epoch.
 */
export interface MemorySample {
  kind: 'memory.sample';
  time: number;
  live: number;
  peak: number;
  by: Categories;
  rss: number | null;
  pool: number | null;
  device: string;
  run: number | null;
  step: number | null;
}
/**
 * Live bytes by what they are for.
 */
export interface Categories {
  parameter: number;
  gradient: number;
  activation: number;
  optimizer: number;
  other: number;
}
/**
 * Earlier samples, thinned, oldest first: for a page that comes late and for saved outputs.
 */
export interface MemoryHistory {
  kind: 'memory.history';
  /**
   * @maxItems 2000
   */
  samples: MemorySample[];
}
/**
 * The largest live tensors, largest first, and how many are alive in all.
 */
export interface MemoryTop {
  kind: 'memory.top';
  count: number;
  /**
   * @maxItems 100
   */
  tensors: TopTensor[];
}
/**
 * One of the largest live tensors.
 */
export interface TopTensor {
  id: number;
  name: string;
  bytes: number;
  /**
   * @maxItems 64
   */
  shape: number[];
  dtype: string;
  category: 'parameter' | 'gradient' | 'activation' | 'optimizer' | 'other';
  device: string;
  place: Place | null;
}
/**
 * What one run of a cell did to memory.
 */
export interface MemoryCell {
  kind: 'memory.cell';
  run: number;
  peak: number;
  delta: number;
  alive: number;
  label: string;
}
/**
 * Calls answered so far, by provider in the order they are asked; those that answered none are left out.
 */
export interface KernelCalls {
  kind: 'kernel.calls';
  /**
   * @maxItems 16
   */
  providers: ProviderCalls[];
}
/**
 * Calls that one provider of kernels answered, and its busiest kernels, busiest first.
 */
export interface ProviderCalls {
  provider: string;
  calls: number;
  /**
   * @maxItems 10
   */
  busiest: KernelCount[];
}
/**
 * How often one kernel answered.
 */
export interface KernelCount {
  name: string;
  calls: number;
}
/**
 * What autocast and the gradient scaler did.
 */
export interface AmpSummary {
  kind: 'amp.summary';
  /**
   * @maxItems 500
   */
  ops: AmpOp[];
  casts: number;
  cached_casts: number;
  cast_bytes: number;
  saved_bytes: number;
  scale: number | ('nan' | 'inf' | '-inf') | null;
  overflows: number;
  emulated: boolean;
}
/**
 * One op under autocast: the dtypes it ran in and the casts made for it.
 */
export interface AmpOp {
  op: string;
  /**
   * @maxItems 16
   */
  dtypes: DtypeCount[];
  casts: number;
  cast_bytes: number;
}
/**
 * How often an op ran in one dtype.
 */
export interface DtypeCount {
  dtype: string;
  count: number;
}
/**
 * A finished profile, by op.
 */
export interface ProfileTable {
  kind: 'profile.table';
  title: string;
  run: number | null;
  wall_us: number;
  /**
   * @maxItems 500
   */
  rows: ProfileRow[];
}
/**
 * One line of a profile, times in microseconds.
 */
export interface ProfileRow {
  op: string;
  calls: number;
  self_us: number;
  total_us: number;
  bytes: number;
  flops: number;
  place: Place | null;
}
/**
 * The workers of a cluster and what each is doing.
 */
export interface ClusterState {
  kind: 'cluster.state';
  backend: string;
  /**
   * @maxItems 1024
   */
  ranks: Rank[];
}
/**
 * One worker of the process group.
 */
export interface Rank {
  rank: number;
  host: string;
  state: 'starting' | 'idle' | 'busy' | 'waiting' | 'dead';
  step: number | null;
  live: number | null;
  note: string;
}
/**
 * Whether training runs. `session` changes when the kernel restarts, so older state can be dropped.
 */
export interface Status {
  kind: 'status';
  session: string;
  nbtorch: string;
  training: boolean;
  step: number | null;
  run: number | null;
  data_comm: string;
}
/**
 * Why a request was not answered, or what went wrong while a view was made.
 */
export interface Error {
  kind: 'error';
  code: 'unknown-id' | 'bad-request' | 'too-large' | 'version' | 'internal';
  text: string;
}
/**
 * First request of a front end; answered with `Status` and the newest of everything else.
 */
export interface Hello {
  kind: 'request.hello';
  request: number;
  version: number;
  client: string;
}
/**
 * Asks for the newest `GraphSnapshot`, `MemoryHistory` and `Status`.
 */
export interface SnapshotRequest {
  kind: 'request.snapshot';
  request: number;
}
/**
 * Asks for the `GraphDetail` of a node that the kernel has sent.
 */
export interface DetailRequest {
  kind: 'request.detail';
  request: number;
  graph: number;
  node: number;
}
/**
 * Asks for `MemoryTop`; `limit` is at most 100.
 */
export interface TopRequest {
  kind: 'request.top';
  request: number;
  limit: number;
}

/** The version of these messages; a batch of another version is not read. */
export const VERSION = 1;
