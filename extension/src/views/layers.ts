import { centres, order } from './order';
import type { Edge, Size } from './proper';
import { get, makeProper, withoutCycles } from './proper';

const GAP_Y = 34;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Flat {
  readonly w: number;
  readonly h: number;
  /** Top left corner of each box. */
  readonly at: Point[];
  /** Where each edge bends, source to target, between its ends. */
  readonly bends: Point[][];
}

/** Places boxes in layers, sources above what uses them; yields often, so that a caller can let the page breathe. */
export function* layoutFlat(sizes: readonly Size[], edges: readonly Edge[]): Generator<void, Flat> {
  const proper = makeProper(sizes, withoutCycles(sizes.length, edges));
  yield;
  const ordered = yield* order(proper);
  const centre = yield* centres(proper, ordered);
  const left = proper.width.reduce((least, w, at) => Math.min(least, get(centre, at) - w / 2), Infinity);
  const right = proper.width.reduce((most, w, at) => Math.max(most, get(centre, at) + w / 2), -Infinity);
  const middle = new Float64Array(proper.width.length);
  let y = 0;
  for (const layer of ordered) {
    const tall = layer.reduce((most, at) => Math.max(most, get(proper.height, at)), 0);
    layer.forEach(at => (middle[at] = y + tall / 2));
    y += tall + GAP_Y;
  }
  const at = sizes.map((size, index) => ({
    x: get(centre, index) - size.w / 2 - left,
    y: get(middle, index) - size.h / 2
  }));
  const bends = proper.chains.map((chain, index) => {
    const points = chain.map(bend => ({ x: get(centre, bend) - left, y: get(middle, bend) }));
    const [from, to] = edges[index] ?? [0, 0];
    return get(middle, from) <= get(middle, to) ? points : points.reverse();
  });
  return { w: sizes.length === 0 ? 0 : right - left, h: Math.max(0, y - GAP_Y), at, bends };
}
