import { centres, order } from './order';
import type { Edge, Ports, Size } from './proper';
import { get, makeProper, withoutCycles } from './proper';

const GAP_Y = 34;
const GAP_PORT = 16;

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
export function* layoutFlat(
  sizes: readonly Size[],
  edges: readonly Edge[],
  ports: Ports = { entry: -1, exit: -1 }
): Generator<void, Flat> {
  const proper = makeProper(sizes, withoutCycles(sizes.length, edges), ports);
  yield;
  const ordered = yield* order(proper);
  const centre = yield* centres(proper, ordered);
  const left = proper.width.reduce((least, w, at) => Math.min(least, get(centre, at) - w / 2), Infinity);
  const right = proper.width.reduce((most, w, at) => Math.max(most, get(centre, at) + w / 2), -Infinity);
  const middle = new Float64Array(proper.width.length);
  const half = new Float64Array(proper.width.length); // half the height of the layer
  let y = 0;
  let above = 0; // height of the layer above
  for (const layer of ordered) {
    const tall = layer.reduce((most, at) => Math.max(most, get(proper.height, at)), 0);
    y += above === 0 || tall === 0 ? (y === 0 && above === 0 ? 0 : GAP_PORT) : GAP_Y;
    for (const at of layer) {
      middle[at] = y + tall / 2;
      half[at] = tall / 2;
    }
    y += tall;
    above = tall;
  }
  const at = sizes.map((size, index) => ({
    x: get(centre, index) - size.w / 2 - left,
    y: get(middle, index) - size.h / 2
  }));
  const bends = proper.chains.map((chain, index) => {
    // Straight past the whole height of the layer, so that lines keep clear of tall boxes beside them.
    const points = chain.flatMap(bend =>
      [-1, 1].map(side => ({ x: get(centre, bend) - left, y: get(middle, bend) + side * get(half, bend) }))
    );
    const [from, to] = edges[index] ?? [0, 0];
    return get(middle, from) <= get(middle, to) ? points : points.reverse();
  });
  return { w: sizes.length === 0 ? 0 : right - left, h: y, at, bends };
}
