import type { GraphNode } from '../messages.gen';

/** One node of the graph in the tree of modules. */
export interface Leaf {
  readonly kind: 'node';
  readonly key: string;
  readonly node: GraphNode;
}

/** A module, or several that hold nothing but one another. */
export interface Group {
  readonly kind: 'group';
  readonly key: string;
  readonly path: string;
  readonly name: string;
  readonly type: string;
  readonly parts: Part[];
  /** All nodes below, in graph order. */
  readonly members: GraphNode[];
  /** The node whose output leaves the module; its number stands for the module's. */
  readonly output: GraphNode;
}

export type Part = Leaf | Group;

/** The tree of modules and the boxes that an expansion leaves visible. */
export interface Visible {
  readonly parts: Part[];
  /** Which box each node id is drawn in. */
  readonly boxOf: ReadonlyMap<number, string>;
  readonly edges: readonly (readonly [string, string])[];
  readonly boxes: readonly Part[];
}

/** Never draw more boxes than a reader and a frame can take. */
export const MAX_BOXES = 1500;
/** How many boxes a graph opens with. */
export const OPEN_BOXES = 26;

interface Draft {
  path: string;
  parts: Map<string, Draft | GraphNode>;
  members: GraphNode[];
}

function isDraft(part: Draft | GraphNode): part is Draft {
  return 'parts' in part;
}

function draft(path: string): Draft {
  return { path, parts: new Map(), members: [] };
}

function finish(part: Draft | GraphNode, used: ReadonlySet<number>, above: string): Part {
  if (!isDraft(part)) {
    return { kind: 'node', key: `n:${part.id}`, node: part };
  }
  let inner = part;
  for (;;) {
    const only: Draft | GraphNode | undefined = inner.parts.size === 1 ? [...inner.parts.values()][0] : undefined;
    if (only === undefined || !isDraft(only)) {
      break;
    }
    inner = only;
  }
  const own = inner.members.filter(node => node.module === inner.path && node.module_type !== '');
  const ops = inner.members.filter(node => node.role === 'op' || node.role === 'loss');
  const leaving = ops.filter(node => used.has(node.id));
  const output = leaving[leaving.length - 1] ?? ops[ops.length - 1] ?? inner.members[inner.members.length - 1];
  return {
    kind: 'group',
    key: `m:${inner.path}`,
    path: inner.path,
    name: above === '' ? inner.path : inner.path.slice(above.length + 1),
    type: own[own.length - 1]?.module_type ?? '',
    parts: [...inner.parts.values()].map(each => finish(each, used, inner.path)),
    members: inner.members,
    output: output as GraphNode
  };
}

/** Ids of nodes whose output is used in another module: they are what a collapsed module gives. */
function leavingIds(nodes: readonly GraphNode[]): Set<number> {
  const byId = new Map(nodes.map(node => [node.id, node]));
  const leaving = new Set<number>();
  for (const node of nodes) {
    for (const id of node.inputs) {
      const source = byId.get(id);
      if (source && source.module !== node.module && !node.module.startsWith(`${source.module}.`)) {
        leaving.add(id);
      }
    }
  }
  return leaving;
}

/** The nodes with each after its inputs; kernels send them in either direction. A cycle is cut where it is met. */
export function inOrder(nodes: readonly GraphNode[]): GraphNode[] {
  const byId = new Map(nodes.map(node => [node.id, node]));
  const state = new Map<number, 'open' | 'done'>();
  const ordered: GraphNode[] = [];
  for (const root of nodes) {
    const path: [GraphNode, number][] = state.has(root.id) ? [] : [[root, 0]];
    while (path.length > 0) {
      const top = path[path.length - 1] as [GraphNode, number];
      const [node, next] = top;
      state.set(node.id, 'open');
      const id = node.inputs[next];
      if (id === undefined) {
        state.set(node.id, 'done');
        ordered.push(node);
        path.pop();
        continue;
      }
      top[1] += 1;
      const source = byId.get(id);
      if (source && !state.has(id)) {
        path.push([source, 0]);
      }
    }
  }
  return ordered;
}

/** The nodes as a tree by module path, from inputs to loss. */
export function buildTree(unordered: readonly GraphNode[]): Part[] {
  const nodes = inOrder(unordered);
  const root = draft('');
  for (const node of nodes) {
    let at = root;
    for (const name of node.module.split('.').filter(each => each !== '')) {
      const path = at.path === '' ? name : `${at.path}.${name}`;
      const key = `m:${name}`;
      const known = at.parts.get(key);
      const next: Draft = known !== undefined && isDraft(known) ? known : draft(path);
      at.parts.set(key, next);
      at = next;
      at.members.push(node);
    }
    at.parts.set(`n:${node.id}`, node);
  }
  const used = leavingIds(nodes);
  return [...root.parts.values()].map(each => finish(each, used, ''));
}

function groupsOf(parts: readonly Part[]): Group[] {
  return parts.filter((part): part is Group => part.kind === 'group');
}

/** The modules to open at first: whole levels, as long as the boxes stay few; innermost modules stay closed. */
export function openAtFirst(parts: readonly Part[], budget = OPEN_BOXES): Set<string> {
  const open = new Set<string>();
  let count = parts.length;
  let level = groupsOf(parts);
  for (;;) {
    const outer = level.filter(group => groupsOf(group.parts).length > 0);
    const more = outer.reduce((sum, group) => sum + group.parts.length - 1, 0);
    if (outer.length === 0 || count + more > budget) {
      return open;
    }
    outer.forEach(group => open.add(group.key));
    count += more;
    level = outer.flatMap(group => groupsOf(group.parts));
  }
}

/** How many boxes would be drawn with these modules open. */
export function countBoxes(parts: readonly Part[], open: ReadonlySet<string>): number {
  return parts.reduce(
    (sum, part) => sum + (part.kind === 'group' && open.has(part.key) ? countBoxes(part.parts, open) : 1),
    0
  );
}

function place(parts: readonly Part[], open: ReadonlySet<string>, boxOf: Map<number, string>, boxes: Part[]): void {
  for (const part of parts) {
    if (part.kind === 'group' && open.has(part.key)) {
      place(part.parts, open, boxOf, boxes);
      continue;
    }
    boxes.push(part);
    const inside = part.kind === 'group' ? part.members : [part.node];
    inside.forEach(node => boxOf.set(node.id, part.key));
  }
}

/** What is drawn when these modules are open: boxes, and one edge per pair of boxes that are joined. */
export function visible(parts: Part[], open: ReadonlySet<string>): Visible {
  const shown = countBoxes(parts, open) > MAX_BOXES ? parts.slice(-MAX_BOXES) : parts;
  const boxOf = new Map<number, string>();
  const boxes: Part[] = [];
  place(shown, open, boxOf, boxes);
  const edges: [string, string][] = [];
  const seen = new Set<string>();
  for (const box of boxes) {
    for (const node of box.kind === 'group' ? box.members : [box.node]) {
      for (const id of node.inputs) {
        const from = boxOf.get(id);
        const pair = `${from}\n${box.key}`;
        if (from !== undefined && from !== box.key && !seen.has(pair)) {
          seen.add(pair);
          edges.push([from, box.key]);
        }
      }
    }
  }
  return { parts: shown, boxOf, edges, boxes };
}
