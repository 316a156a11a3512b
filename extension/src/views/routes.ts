import type { Level, Placed } from './layout';
import type { Point } from './layers';

/** A line from box to box; one that closes a cycle runs back, upwards. */
export interface Route {
  readonly from: string;
  readonly to: string;
  readonly points: readonly Point[];
  readonly back: boolean;
}

/** The ports of an open module, among the keys of its children. */
export const ENTRY = '<';
export const EXIT = '>';

/** The key of an edge inside one open module. */
export function pairKey(from: string, to: string): string {
  return `${from}\n${to}`;
}

type Boxes = ReadonlyMap<string, Placed>;

/** An open module that an edge passes through, and the child by which it does. */
interface Passage {
  readonly level: Level;
  readonly box: Placed;
  readonly child: string;
}

function passages(start: Level, chain: readonly string[], boxes: Boxes): Passage[] {
  const found: Passage[] = [];
  let level: Level | null = start;
  chain.slice(0, -1).forEach((key, index) => {
    const box = boxes.get(key);
    level = level?.children.get(key)?.level ?? null;
    if (level && box) {
      found.push({ level, box, child: chain[index + 1] ?? '' });
    }
  });
  return found;
}

function shift(points: readonly Point[] | undefined, box: Placed | undefined): Point[] {
  return (points ?? []).map(({ x, y }) => ({ x: x + (box?.x ?? 0), y: y + (box?.y ?? 0) }));
}

function middle(box: Placed, bottom: boolean): Point {
  return { x: box.x + box.w / 2, y: box.y + (bottom ? box.h : 0) };
}

function leave({ level, box, child }: Passage): Point[] {
  return [...shift(level.bends.get(pairKey(child, EXIT)), box), middle(box, true)];
}

function enter({ level, box, child }: Passage): Point[] {
  return [middle(box, false), ...shift(level.bends.get(pairKey(ENTRY, child)), box)];
}

/** The line between two boxes, each given by the modules around it and its own key, outermost first. */
export function routeEdge(a: readonly string[], b: readonly string[], root: Level, boxes: Boxes): Route {
  let depth = 0;
  let level = root;
  while (depth < a.length && a[depth] === b[depth]) {
    level = level.children.get(a[depth] ?? '')?.level ?? level;
    depth += 1;
  }
  const from = a[a.length - 1] ?? '';
  const to = b[b.length - 1] ?? '';
  const [source, target] = [boxes.get(from), boxes.get(to)];
  if (!source || !target) {
    return { from, to, points: [], back: false };
  }
  const back = target.y < source.y;
  const outer = depth === 0 ? undefined : boxes.get(a[depth - 1] ?? '');
  const bends = shift(level.bends.get(pairKey(a[depth] ?? '', b[depth] ?? '')), outer);
  const points = [
    middle(source, !back),
    ...(back ? [] : passages(level, a.slice(depth), boxes).reverse().flatMap(leave)),
    ...bends,
    ...(back ? [] : passages(level, b.slice(depth), boxes).flatMap(enter)),
    middle(target, back)
  ];
  return { from, to, points, back };
}
