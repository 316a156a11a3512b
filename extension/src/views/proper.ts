/* All of this is iterative, since autograd graphs are thousands of layers deep. */

export interface Size {
  readonly w: number;
  readonly h: number;
}

export type Edge = readonly [number, number];

export const GAP_X = 22;
const DUMMY_W = 8;
/** Bends for edges longer than this would cost more boxes than the graph has. */
const MAX_BENDS = 6000;

function lists(count: number): number[][] {
  return Array.from({ length: count }, () => []);
}

export function get(list: ArrayLike<number>, index: number): number {
  return list[index] ?? 0;
}

/** Edges with those that would close a cycle turned round. */
export function withoutCycles(count: number, edges: readonly Edge[]): Edge[] {
  const out = lists(count);
  edges.forEach(([from], index) => out[from]?.push(index));
  const state = new Uint8Array(count); // 0 new, 1 on the path, 2 done
  const turned = new Set<number>();
  for (let root = 0; root < count; root++) {
    const path: [number, number][] = state[root] === 0 ? [[root, 0]] : [];
    while (path.length > 0) {
      const top = path[path.length - 1] as [number, number];
      const [at, next] = top;
      state[at] = 1;
      const edge = out[at]?.[next];
      if (edge === undefined) {
        state[at] = 2;
        path.pop();
        continue;
      }
      top[1] += 1;
      const to = get(edges[edge] ?? [0, 0], 1);
      if (state[to] === 1) {
        turned.add(edge);
      } else if (state[to] === 0) {
        path.push([to, 0]);
      }
    }
  }
  return edges.map((edge, index) => (turned.has(index) ? ([edge[1], edge[0]] as const) : edge));
}

/** Layer of each box: below all its sources, and as near to what uses it as that allows. */
function layerOf(count: number, edges: readonly Edge[]): number[] {
  const ins = lists(count);
  const outs = lists(count);
  for (const [from, to] of edges) {
    outs[from]?.push(to);
    ins[to]?.push(from);
  }
  const waiting = ins.map(each => each.length);
  const order = waiting.flatMap((each, index) => (each === 0 ? [index] : []));
  const layer = new Array<number>(count).fill(0);
  for (let head = 0; head < order.length; head++) {
    const at = get(order, head);
    for (const to of outs[at] ?? []) {
      layer[to] = Math.max(get(layer, to), get(layer, at) + 1);
      waiting[to] = get(waiting, to) - 1;
      if (waiting[to] === 0) {
        order.push(to);
      }
    }
  }
  for (const at of order.reverse()) {
    const after = outs[at] ?? [];
    if (after.length > 0 && after.length >= (ins[at]?.length ?? 0)) {
      layer[at] = after.reduce((least, to) => Math.min(least, get(layer, to) - 1), Infinity);
    }
  }
  return layer;
}

/** The points where edges enter an open module from above and leave it below: boxes without height, or -1. */
export interface Ports {
  readonly entry: number;
  readonly exit: number;
}

/** Layers with the ports in layers of their own, first and last. */
function layersWithPorts(count: number, edges: readonly Edge[], { entry, exit }: Ports): number[] {
  const inner = edges.filter(([from, to]) => from !== entry && to !== exit);
  const layer = layerOf(count, inner).map(each => each + (entry < 0 ? 0 : 1));
  if (entry >= 0) {
    layer[entry] = 0;
  }
  if (exit >= 0) {
    layer[exit] = layer.reduce((most, each, at) => (at === exit ? most : Math.max(most, each)), -1) + 1;
  }
  return layer;
}

/** Boxes and bends as one graph whose edges join neighbouring layers only. */
export interface Proper {
  readonly layers: number[][];
  readonly up: number[][];
  readonly down: number[][];
  readonly width: number[];
  readonly height: number[];
  /** Bends of each edge, from the upper end. */
  readonly chains: number[][];
}

/** Layers the boxes, and breaks long edges into bends so that they run round boxes. */
export function makeProper(sizes: readonly Size[], edges: readonly Edge[], ports: Ports): Proper {
  const layer = layersWithPorts(sizes.length, edges, ports);
  const layers = lists(layer.reduce((most, each) => Math.max(most, each + 1), 0));
  layer.forEach((each, index) => layers[each]?.push(index));
  const width = sizes.map(each => each.w);
  const height = sizes.map(each => each.h);
  const up = lists(sizes.length);
  const down = lists(sizes.length);
  let bends = 0;
  const chains = edges.map(([from, to]) => {
    const chain: number[] = [];
    const span = get(layer, to) - get(layer, from);
    let last = from;
    if (bends + span <= MAX_BENDS) {
      for (let at = get(layer, from) + 1; at < get(layer, to); at++) {
        const bend = width.push(DUMMY_W) - 1;
        height.push(0);
        up.push([last]);
        down.push([]);
        down[last]?.push(bend);
        layers[at]?.push(bend);
        chain.push(bend);
        last = bend;
      }
      bends += chain.length;
    }
    down[last]?.push(to);
    up[to]?.push(last);
    return chain;
  });
  return { layers, up, down, width, height, chains };
}
