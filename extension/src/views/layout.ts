import type { Part, Visible } from './groups';
import type { Point } from './layers';
import { layoutFlat } from './layers';
import type { Size } from './proper';

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

export interface Route {
  readonly from: string;
  readonly to: string;
  readonly points: readonly Point[];
  readonly back: boolean;
}

export interface Layout {
  readonly w: number;
  readonly h: number;
  /** Open modules before what they hold, so drawing in order is right. */
  readonly placed: readonly Placed[];
  readonly routes: readonly Route[];
}

export const BOX: Size = { w: 176, h: 58 };
export const PILL: Size = { w: 128, h: 38 };
const PAD = 14;
export const HEADER = 26;

interface Level {
  readonly size: Size;
  readonly children: Map<string, { at: Point; level: Level | null; part: Part }>;
  readonly bends: Map<string, readonly Point[]>;
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

function shared(a: readonly string[], b: readonly string[]): number {
  let depth = 0;
  while (depth < a.length && a[depth] === b[depth]) {
    depth += 1;
  }
  return depth;
}

/** The edges of each open module, between its direct children; the key of the outermost level is ''. */
function edgesByLevel(view: Visible, chain: ReadonlyMap<string, string[]>): Map<string, Set<string>> {
  const levels = new Map<string, Set<string>>();
  for (const [from, to] of view.edges) {
    const a = chain.get(from) ?? [];
    const b = chain.get(to) ?? [];
    const depth = shared(a, b);
    const key = depth === 0 ? '' : (a[depth - 1] ?? '');
    const set = levels.get(key) ?? new Set();
    set.add(`${a[depth]}\n${b[depth]}`);
    levels.set(key, set);
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
    inner.push(part.kind === 'group' && open.has(part.key) ? yield* placeLevel(part.key, part.parts, open, levels) : null);
  }
  const sizes = parts.map((part, index) => inner[index]?.size ?? sizeOf(part));
  const indexOf = new Map(parts.map((part, index) => [part.key, index]));
  const pairs = [...(levels.get(key) ?? [])];
  const edges = pairs.map(pair => {
    const [from, to] = pair.split('\n');
    return [indexOf.get(from ?? '') ?? 0, indexOf.get(to ?? '') ?? 0] as const;
  });
  const flat = yield* layoutFlat(sizes, edges);
  const [left, top] = key === '' ? [0, 0] : [PAD, HEADER + PAD / 2];
  const move = (point: Point): Point => ({ x: point.x + left, y: point.y + top });
  const children = new Map(
    parts.map((part, index) => [
      part.key,
      { at: move(flat.at[index] ?? { x: 0, y: 0 }), level: inner[index] ?? null, part }
    ])
  );
  const size = key === '' ? flat : { w: Math.max(flat.w + 2 * PAD, BOX.w), h: flat.h + top + PAD };
  return { size, children, bends: new Map(pairs.map((pair, index) => [pair, (flat.bends[index] ?? []).map(move)])) };
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

function middle(box: Placed | undefined): number {
  return box ? box.x + box.w / 2 : 0;
}

/** The line from box to box: out of the modules that hold the source, along the bends, into the target's. */
function route(a: string[], b: string[], root: Level, placed: ReadonlyMap<string, Placed>): Route {
  const depth = shared(a, b);
  let level: Level | null = root;
  for (const key of a.slice(0, depth)) {
    level = level?.children.get(key)?.level ?? null;
  }
  const source = placed.get(a[a.length - 1] ?? '');
  const target = placed.get(b[b.length - 1] ?? '');
  const outer = depth === 0 ? undefined : placed.get(a[depth - 1] ?? '');
  const bends = level?.bends.get(`${a[depth]}\n${b[depth]}`) ?? [];
  const points: Point[] = [{ x: middle(source), y: (source?.y ?? 0) + (source?.h ?? 0) }];
  for (const key of a.slice(depth, -1).reverse()) {
    const module = placed.get(key);
    points.push({ x: middle(source), y: (module?.y ?? 0) + (module?.h ?? 0) });
  }
  points.push(...bends.map(bend => ({ x: bend.x + (outer?.x ?? 0), y: bend.y + (outer?.y ?? 0) })));
  for (const key of b.slice(depth, -1)) {
    points.push({ x: middle(target), y: placed.get(key)?.y ?? 0 });
  }
  points.push({ x: middle(target), y: target?.y ?? 0 });
  const back = (target?.y ?? 0) < (source?.y ?? 0);
  return { from: source?.part.key ?? '', to: target?.part.key ?? '', points, back };
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
  const routes = view.edges.map(([from, to]) => route(chain.get(from) ?? [], chain.get(to) ?? [], root, byKey));
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
