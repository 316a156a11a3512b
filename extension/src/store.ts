import type {
  Batch,
  Error as Failure,
  GraphDetail,
  GraphSnapshot,
  GraphValues,
  MemoryCell,
  MemoryHistory,
  MemorySample,
  Status
} from './messages.gen';

export type Item = Batch['items'][number];
export type Kind = Item['kind'];
export type Messages = { readonly [I in Item as I['kind']]: I };

/** Messages that add to what is there; of every other kind the newest is kept, and a view must draw it. */
const FOLDS = {
  'graph.snapshot': addSnapshot,
  'graph.values': addValues,
  'graph.detail': addDetail,
  'memory.sample': (state: State, item: MemorySample): State => addSamples(state, [item]),
  'memory.history': (state: State, item: MemoryHistory): State => addSamples(state, item.samples),
  'memory.cell': addCell,
  status: addStatus,
  error: (state: State, item: Failure): State => ({ ...state, failure: item })
};

type Folded = keyof typeof FOLDS;
export type Kept = Exclude<Kind, Folded>;
export type Newest = { readonly [K in Kept]?: Messages[K] };

/** How the front end stands with the kernel. */
export type Link = 'none' | 'waiting' | 'live' | 'absent' | 'version' | 'saved';

/** All that views draw. Never changed in place. */
export interface State {
  readonly link: Link;
  readonly kernelVersion: number | null;
  readonly graph: GraphSnapshot | null;
  readonly details: ReadonlyMap<number, GraphDetail>;
  readonly samples: readonly MemorySample[];
  readonly cells: readonly MemoryCell[];
  /** The newest message of each kind that is not folded into another field. */
  readonly newest: Newest;
  readonly status: Status | null;
  readonly failure: Failure | null;
  readonly dropped: number;
  /** Values came for a graph that was never seen, so a snapshot should be asked for. */
  readonly missed: boolean;
}

export const EMPTY: State = {
  link: 'none',
  kernelVersion: null,
  graph: null,
  details: new Map(),
  samples: [],
  cells: [],
  newest: {},
  status: null,
  failure: null,
  dropped: 0,
  missed: false
};

const MAX_SAMPLES = 4000;
const MAX_CELLS = 200;

function addValues(state: State, item: GraphValues): State {
  const graph = state.graph;
  if (graph === null || graph.graph !== item.graph || graph.nodes.length !== item.values.length) {
    return { ...state, missed: true };
  }
  const freed = new Set(item.freed);
  const nodes = graph.nodes.map((node, index) => ({
    ...node,
    value: item.values[index] ?? null,
    freed: freed.has(node.id)
  }));
  return { ...state, graph: { ...graph, step: item.step, loss: item.loss, nodes } };
}

function addSnapshot(state: State, item: GraphSnapshot): State {
  // A reply and live data come over two comms, so an older graph can arrive last.
  if (state.graph !== null && item.graph < state.graph.graph) {
    return state;
  }
  const details = state.graph?.graph === item.graph ? state.details : new Map<number, GraphDetail>();
  return { ...state, graph: item, details, missed: false };
}

function addDetail(state: State, item: GraphDetail): State {
  const known = item.graph === state.graph?.graph;
  return known ? { ...state, details: new Map(state.details).set(item.node, item) } : state;
}

/** Adds samples in order of time, whatever order they came in, and thins the older half when there are many. */
function addSamples(state: State, more: readonly MemorySample[]): State {
  const old = state.samples;
  const last = old[old.length - 1];
  const first = more[0];
  const inOrder = last === undefined || first === undefined || first.time > last.time;
  let samples = [...old, ...more];
  if (!inOrder || more.length > 1) {
    const byTime = new Map(samples.map(each => [each.time, each]));
    samples = [...byTime.values()].sort((a, b) => a.time - b.time);
  }
  if (samples.length > MAX_SAMPLES) {
    const half = MAX_SAMPLES / 2;
    samples = samples.filter((_, index) => index >= half || index % 2 === 0);
  }
  return { ...state, samples };
}

function addCell(state: State, item: MemoryCell): State {
  return { ...state, cells: [...state.cells.filter(each => each.run !== item.run), item].slice(-MAX_CELLS) };
}

function addStatus(state: State, item: Status): State {
  const restarted = state.status !== null && state.status.session !== item.session;
  return { ...(restarted ? { ...EMPTY, link: state.link } : state), status: item };
}

function isFolded(item: Item): item is Messages[Folded] {
  return Object.hasOwn(FOLDS, item.kind);
}

function fold<K extends Folded>(state: State, kind: K, item: Messages[K]): State {
  const folds: { readonly [P in Folded]: (state: State, item: Messages[P]) => State } = FOLDS;
  return folds[kind](state, item);
}

/** The state after one message. */
export function reduce(state: State, item: Item): State {
  return isFolded(item) ? fold(state, item.kind, item) : { ...state, newest: { ...state.newest, [item.kind]: item } };
}

/** The state after a whole batch. An error lasts until the next answer. */
export function reduceBatch(state: State, batch: Batch): State {
  const cleared = batch.request !== null && state.failure !== null ? { ...state, failure: null } : state;
  const next = batch.items.reduce(reduce, cleared);
  return next.dropped === batch.dropped || batch.dropped === 0 ? next : { ...next, dropped: batch.dropped };
}

/** Holds the state and tells listeners at most once a frame, however many messages come. */
export class Store {
  private current: State;
  private readonly listeners = new Set<(state: State) => void>();
  private told = true;

  constructor(
    initial: Partial<State> = {},
    private readonly later: (tell: () => void) => void = tell => requestAnimationFrame(tell)
  ) {
    this.current = { ...EMPTY, ...initial };
  }

  get state(): State {
    return this.current;
  }

  apply(batch: Batch): void {
    this.set(reduceBatch(this.current, batch));
  }

  patch(change: Partial<State>): void {
    this.set({ ...this.current, ...change });
  }

  /** Calls the listener after changes; returns how to stop. */
  listen(listener: (state: State) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private set(next: State): void {
    if (next === this.current) {
      return;
    }
    this.current = next;
    if (this.told) {
      this.told = false;
      this.later(() => {
        this.told = true;
        this.listeners.forEach(each => each(this.current));
      });
    }
  }
}
