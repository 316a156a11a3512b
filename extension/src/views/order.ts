import type { Proper } from './proper';
import { GAP_X, get } from './proper';

const SWEEPS = 8;

/** Number of edge crossings between two neighbouring layers' orders. */
function crossings(upper: readonly number[], rank: ArrayLike<number>, down: readonly number[][], size: number): number {
  const tree = new Int32Array(size + 1);
  let total = 0;
  let placed = 0;
  for (const at of upper) {
    const targets = (down[at] ?? []).map(to => get(rank, to)).sort((a, b) => a - b);
    for (const target of targets) {
      let before = 0;
      for (let index = target + 1; index > 0; index -= index & -index) {
        before += get(tree, index);
      }
      total += placed - before;
    }
    for (const target of targets) {
      for (let index = target + 1; index <= size; index += index & -index) {
        tree[index] = get(tree, index) + 1;
      }
      placed += 1;
    }
  }
  return total;
}

/** Orders each layer by the mean place of its neighbours, sweeping down and up, and keeps the best order seen. */
export function* order({ layers, up, down, width }: Proper): Generator<void, number[][]> {
  let current = layers.map(each => [...each]);
  let best = current;
  let least = Infinity;
  const rank = new Float64Array(width.length);
  const number = (layer: readonly number[]): void => layer.forEach((at, index) => (rank[at] = index));
  current.forEach(number);
  for (let sweep = 0; sweep < SWEEPS && least > 0; sweep++) {
    const towards = sweep % 2 === 0 ? up : down;
    const indices = current.map((_, index) => index);
    for (const index of sweep % 2 === 0 ? indices : indices.reverse()) {
      const layer = current[index] ?? [];
      const mean = new Map<number, number>();
      for (const at of layer) {
        const near = towards[at] ?? [];
        mean.set(
          at,
          near.length === 0 ? get(rank, at) : near.reduce((sum, to) => sum + get(rank, to), 0) / near.length
        );
      }
      layer.sort((a, b) => (mean.get(a) ?? 0) - (mean.get(b) ?? 0));
      number(layer);
    }
    const crossed = current.reduce(
      (sum, layer, index) => sum + crossings(layer, rank, down, (current[index + 1] ?? []).length),
      0
    );
    if (crossed < least) {
      least = crossed;
      best = current.map(each => [...each]);
    }
    current = current.map(each => [...each]);
    yield;
  }
  return best;
}

/** Centres nearest to the wished ones (least squares) that keep the order and the gaps: pools adjacent violators. */
function spread(wish: readonly number[], weight: readonly number[], gap: readonly number[]): number[] {
  const blocks: { sum: number; weight: number; count: number }[] = [];
  let offset = 0;
  const offsets = wish.map((_, index) => (offset += get(gap, index)));
  wish.forEach((each, index) => {
    const heavy = get(weight, index);
    blocks.push({ sum: (each - get(offsets, index)) * heavy, weight: heavy, count: 1 });
    for (;;) {
      const last = blocks[blocks.length - 1];
      const before = blocks[blocks.length - 2];
      if (!last || !before || before.sum / before.weight <= last.sum / last.weight) {
        break;
      }
      blocks.pop();
      before.sum += last.sum;
      before.weight += last.weight;
      before.count += last.count;
    }
  });
  const values = blocks.flatMap(each => new Array<number>(each.count).fill(each.sum / each.weight));
  return values.map((each, index) => each + get(offsets, index));
}

/** Centre of each box: each layer is drawn towards its neighbours, bends hardest, so that long edges run straight. */
export function* centres(proper: Proper, ordered: readonly number[][]): Generator<void, Float64Array> {
  const { width, up, down, height } = proper;
  const centre = new Float64Array(width.length);
  const gaps = ordered.map(layer =>
    layer.map((at, index) => (index === 0 ? 0 : (get(width, at) + get(width, get(layer, index - 1))) / 2 + GAP_X))
  );
  const settle = (index: number, towards: readonly number[][] | null): void => {
    const layer = ordered[index] ?? [];
    const wish = layer.map(at => {
      const near = towards === null ? [...(up[at] ?? []), ...(down[at] ?? [])] : (towards[at] ?? []);
      return near.length === 0 ? get(centre, at) : near.reduce((sum, to) => sum + get(centre, to), 0) / near.length;
    });
    const weight = layer.map(at => (height[at] === 0 ? 6 : 1));
    spread(wish, weight, gaps[index] ?? []).forEach((value, place) => (centre[get(layer, place)] = value));
  };
  const down_ = ordered.map((_, index) => index);
  const up_ = [...down_].reverse();
  for (const [indices, towards] of [
    [down_, up],
    [up_, down],
    [down_, up],
    [up_, null],
    [down_, null],
    [up_, null]
  ] as const) {
    indices.forEach(index => settle(index, towards));
    yield;
  }
  return centre;
}
