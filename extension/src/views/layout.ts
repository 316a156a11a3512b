import type { Part, Visible } from './groups';
import type { Point } from './layers';
import { layoutFlat } from './layers';
import type { Size } from './proper';
import type { Route } from './routes';
import { ENTRY, EXIT, pairKey, routeEdge } from './routes';

/** A box, or an open module around the boxes it holds, at its place. */
export interface Placed {
  readonly part: Part;
  readonly open: boolean;
  readonly depth: number;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

export interface Layout {
  readonly w: number;
  readonly h: number;
  /** Open modules before what they hold, so drawing in order is right. */
  readonly placed: readonly Placed[];
  readonly routes: readonly Route[];
}

export const BOX: Size = { w: 184, h: 58 };
export const PILL: Size = { w: 142, h: 38 };
const PORT: Size = { w: 0, h: 0 };
const PAD = 14;
export const HEADER = 26;

/** One open module, or the whole graph, laid out: places are relative to its corner. */
export interface Level {
  readonly size: Size;
  readonly children: ReadonlyMap<string, { at: Point; level: Level | null; part: Part }>;
  /** Bends of each edge between children, of `ENTRY` to a child and of a child to `EXIT`. */
  readonly bends: ReadonlyMap<string, readonly Point[]>;
}

/** The size of a closed box. */
export function sizeOf(part: Part): Size {
  return part.kind === 'node' && part.node.role === 'parameter' ? PILL : BOX;
}

/** For each box, the keys of the modules it is in and its own, outermost first. */
function chains(parts: readonly Part[], open: ReadonlySet<string>, above: string[], into: Map<string, string[]>): void {
  for (const part of parts) {
    const chain = [...above, part.key];
    if (part.kind === 'group' && open.has(part.key)) {
      chains(part.parts, open, chain, into);
    } else {
      into.set(part.key, chain);
    }
  }
}

/** How many modules both are in. */
export function shared(a: readonly string[], b: readonly string[]): number {
  let depth = 0;
  while (depth < a.length && a[depth] === b[depth]) {
    depth += 1;
  }
  return depth;
}

function add(levels: Map<string, Set<string>>, level: string, from: string, to: string): void {
  const set = levels.get(level) ?? new Set();
  levels.set(level, set.add(pairKey(from, to)));
}

/** The edges inside each open module, between its children and its ports; the key of the outermost level is ''. */
function edgesByLevel(view: Visible, chain: ReadonlyMap<string, string[]>): Map<string, Set<string>> {
  const levels = new Map<string, Set<string>>();
  for (const [from, to] of view.edges) {
    const a = chain.get(from) ?? [];
    const b = chain.get(to) ?? [];
    const depth = shared(a, b);
    add(levels, depth === 0 ? '' : (a[depth - 1] ?? ''), a[depth] ?? '', b[depth] ?? '');
    a.slice(depth, -1).forEach((module, index) => add(levels, module, a[depth + index + 1] ?? '', EXIT));
    b.slice(depth, -1).forEach((module, index) => add(levels, module, ENTRY, b[depth + index + 1] ?? ''));
  }
  return levels;
}

function* placeLevel(
  key: string,
  parts: readonly Part[],
  open: ReadonlySet<string>,
  levels: ReadonlyMap<string, Set<string>>
): Generator<void, Level> {
  const inner: (Level | null)[] = [];
  for (const part of parts) {
    const isOpen = part.kind === 'group' && open.has(part.key);
    inner.push(isOpen ? yield* placeLevel(part.key, part.parts, open, levels) : null);
  }
  const pairs = [...(levels.get(key) ?? [])].map(pair => pair.split('\n') as [string, string]);
  const sizes = parts.map((part, index) => inner[index]?.size ?? sizeOf(part));
  const indexOf = new Map(parts.map((part, index) => [part.key, index]));
  for (const port of [ENTRY, EXIT]) {
    if (pairs.some(pair => pair.includes(port))) {
      indexOf.set(port, sizes.push(PORT) - 1);
    }
  }
  const edges = pairs.map(([from, to]) => [indexOf.get(from) ?? 0, indexOf.get(to) ?? 0] as const);
  const ports = { entry: indexOf.get(ENTRY) ?? -1, exit: indexOf.get(EXIT) ?? -1 };
  const flat = yield* layoutFlat(sizes, edges, ports);
  const size = key === '' ? flat : { w: Math.max(flat.w + 2 * PAD, BOX.w), h: flat.h + HEADER + PAD };
  const left = (size.w - flat.w) / 2;
  const top = key === '' ? 0 : HEADER;
  const move = (point: Point): Point => ({ x: point.x + left, y: point.y + top });
  const corner = (index: number): Point => move(flat.at[index] ?? { x: flat.w / 2, y: 0 });
  return {
    size,
    children: new Map(parts.map((part, at) => [part.key, { at: corner(at), level: inner[at] ?? null, part }])),
    bends: new Map(pairs.map(([from, to], at) => [pairKey(from, to), (flat.bends[at] ?? []).map(move)]))
  };
}

function flatten(level: Level, at: Point, depth: number, into: Placed[], corner: Map<string, Placed>): void {
  for (const [key, child] of level.children) {
    const size = child.level?.size ?? sizeOf(child.part);
    const x = at.x + child.at.x;
    const y = at.y + child.at.y;
    const placed = { part: child.part, open: child.level !== null, depth, x, y, w: size.w, h: size.h };
    into.push(placed);
    corner.set(key, placed);
    if (child.level) {
      flatten(child.level, { x, y }, depth + 1, into, corner);
    }
  }
}

/** Places all visible boxes; open modules are laid out on their own and placed whole. */
export function* layoutGraph(view: Visible, open: ReadonlySet<string>): Generator<void, Layout> {
  const chain = new Map<string, string[]>();
  chains(view.parts, open, [], chain);
  const root = yield* placeLevel('', view.parts, open, edgesByLevel(view, chain));
  const placed: Placed[] = [];
  const byKey = new Map<string, Placed>();
  flatten(root, { x: 0, y: 0 }, 0, placed, byKey);
  yield;
  const routes = view.edges.map(([from, to]) => routeEdge(chain.get(from) ?? [], chain.get(to) ?? [], root, byKey));
  return { w: root.size.w, h: root.size.h, placed, routes };
}

/** Runs steps to the end at once. */
export function finishNow<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) {
      return step.value;
    }
  }
}

/** Runs steps in slices of a few milliseconds, so that a big layout does not freeze the page; null if stopped. */
export async function finishInSlices<T>(steps: Generator<void, T>, stopped: () => boolean): Promise<T | null> {
  for (;;) {
    const until = performance.now() + 8;
    do {
      const step = steps.next();
      if (step.done) {
        return step.value;
      }
    } while (performance.now() < until);
    await new Promise(resolve => setTimeout(resolve, 0));
    if (stopped()) {
      return null;
    }
  }
}
