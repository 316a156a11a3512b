import { describe, expect, it } from 'vitest';
import type { GraphNode } from '../messages.gen';
import type { Part } from '../views/groups';
import { MAX_BOXES, OPEN_BOXES, buildTree, countBoxes, inOrder, openAtFirst, visible } from '../views/groups';
import { layoutFlat } from '../views/layers';
import type { Layout, Placed } from '../views/layout';
import { finishInSlices, finishNow, layoutGraph } from '../views/layout';
import { Modules } from '../views/modules';
import { graphOf, makeNode } from './golden';

function allOpen(nodes: readonly GraphNode[]): { layout: Layout; boxes: Placed[] } {
  const modules = new Modules();
  modules.setNodes(nodes);
  modules.setAll(true);
  const layout = finishNow(layoutGraph(modules.visible(), modules.open));
  return { layout, boxes: layout.placed.filter(box => !box.open) };
}

function overlap(a: Placed, b: Placed): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

function overlaps(boxes: readonly Placed[]): number {
  return boxes.reduce((sum, box, index) => sum + boxes.slice(index + 1).filter(other => overlap(box, other)).length, 0);
}

describe('modules', () => {
  it('are closed until asked for, innermost ones always', () => {
    const { nodes } = graphOf('graph_transformer');
    const parts = buildTree(nodes);
    const open = openAtFirst(parts);
    const boxes = visible(parts, open).boxes;
    expect(boxes.length).toBeLessThanOrEqual(OPEN_BOXES);
    expect(boxes.length).toBeLessThan(nodes.length);
    expect(open.has('m:head')).toBe(false);
    expect(parts.map(part => part.key)).toContain('m:encoder.layers');
  });

  it('show every node once when all are open', () => {
    const { nodes } = graphOf('graph_transformer');
    const { boxes } = allOpen(nodes);
    expect(boxes.map(box => box.part.key).sort()).toEqual(nodes.map(node => `n:${node.id}`).sort());
  });

  it('keep what the user opened when the graph is made anew', () => {
    const modules = new Modules();
    modules.setNodes(graphOf('graph_transformer').nodes);
    modules.toggle('m:head');
    modules.setNodes(graphOf('graph_transformer').nodes.map(node => ({ ...node, id: node.id + 1000 })));
    expect(modules.open.has('m:head')).toBe(true);
  });

  it('never show more boxes than a page can take', () => {
    const flat = Array.from({ length: 3000 }, (_, id) => makeNode(id, '', id > 0 ? [id - 1] : []));
    expect(visible(buildTree(flat), new Set()).boxes).toHaveLength(MAX_BOXES);
    const modules = new Modules();
    modules.setNodes(flat.map(node => ({ ...node, module: 'big' })));
    expect(modules.toggle('m:big')).toBe(false);
    expect(modules.visible().boxes).toHaveLength(1);
  });

  it('take hostile names as names', () => {
    const parts = buildTree(graphOf('graph_hostile').nodes);
    expect(parts.map(part => part.key).sort()).toEqual(['m:<b>a</b>', 'm:__proto__.constructor', 'm:a.b']);
    expect(countBoxes(parts, new Set())).toBe(3);
  });

  it('stand for what leaves them, in whatever order nodes are sent', () => {
    const { nodes } = graphOf('graph_transformer');
    const outputs = (list: readonly GraphNode[]): [string, number][] => {
      const found: [string, number][] = [];
      const walk = (parts: readonly Part[]): void =>
        parts.forEach(part => {
          if (part.kind === 'group') {
            found.push([part.key, part.output.id]);
            walk(part.parts);
          }
        });
      walk(buildTree(list));
      return found.sort(([a], [b]) => (a < b ? -1 : 1));
    };
    expect(outputs([...nodes].reverse())).toEqual(outputs(nodes));
    const block = nodes.filter(node => node.module === 'encoder.layers.0' && node.op === 'AddBackward0');
    expect(new Map(outputs(nodes)).get('m:encoder.layers.0')).toBe(block[1]?.id);
    expect(inOrder([...nodes].reverse())[0]?.role).not.toBe('loss');
  });
});

describe('layout', () => {
  it.each(['graph_mlp', 'graph_transformer', 'graph_hostile'] as const)('%s: boxes do not overlap', name => {
    const { boxes } = allOpen(graphOf(name).nodes);
    expect(overlaps(boxes)).toBe(0);
  });

  it('keeps boxes inside the modules that hold them', () => {
    const { layout } = allOpen(graphOf('graph_transformer').nodes);
    const byKey = new Map(layout.placed.map(box => [box.part.key, box]));
    for (const box of layout.placed) {
      for (const part of box.part.kind === 'group' ? box.part.parts : []) {
        const inner = byKey.get(part.key)!;
        expect(inner.x).toBeGreaterThanOrEqual(box.x);
        expect(inner.y).toBeGreaterThan(box.y);
        expect(inner.x + inner.w).toBeLessThanOrEqual(box.x + box.w + 1e-6);
        expect(inner.y + inner.h).toBeLessThanOrEqual(box.y + box.h + 1e-6);
      }
    }
  });

  it('draws edges downwards, from box to box', () => {
    const { layout } = allOpen(graphOf('graph_transformer').nodes);
    const byKey = new Map(layout.placed.map(box => [box.part.key, box]));
    expect(layout.routes.length).toBeGreaterThan(100);
    for (const route of layout.routes) {
      const [source, target] = [byKey.get(route.from)!, byKey.get(route.to)!];
      expect(source.y + source.h).toBeLessThanOrEqual(target.y);
      expect(route.points[0]).toEqual({ x: source.x + source.w / 2, y: source.y + source.h });
      expect(route.points[route.points.length - 1]).toEqual({ x: target.x + target.w / 2, y: target.y });
      route.points
        .slice(1)
        .forEach((point, index) => expect(point.y).toBeGreaterThanOrEqual(route.points[index]!.y - 1e-6));
    }
  });

  it('leads edges past boxes, not behind them', () => {
    const { layout, boxes } = allOpen(graphOf('graph_transformer').nodes);
    let behind = 0;
    for (const route of layout.routes) {
      for (const { x, y } of route.points.slice(1, -1)) {
        behind += boxes.filter(box => x > box.x && x < box.x + box.w && y > box.y && y < box.y + box.h).length;
      }
    }
    expect(behind).toBe(0);
  });

  it('draws an edge that closes a cycle upwards', () => {
    const { layout } = allOpen(graphOf('graph_hostile').nodes);
    const back = layout.routes.filter(route => route.back);
    expect(back).toHaveLength(1);
    expect(back[0]!.points[0]!.y).toBeGreaterThan(back[0]!.points[back[0]!.points.length - 1]!.y);
  });

  it('lays out ten thousand layers without recursion, and soon', () => {
    const count = 10_000;
    const sizes = new Array(count).fill({ w: 100, h: 40 }) as { w: number; h: number }[];
    const edges = Array.from({ length: count - 1 }, (_, index) => [index, index + 1] as const);
    const start = performance.now();
    const flat = finishNow(layoutFlat(sizes, edges));
    expect(performance.now() - start).toBeLessThan(3000);
    expect(flat.at[count - 1]!.y).toBeGreaterThan(flat.at[0]!.y);
  });

  it('lays out as many boxes as may be shown', () => {
    const nodes = Array.from({ length: MAX_BOXES }, (_, id) =>
      makeNode(
        id,
        '',
        [id - 1, id - 7].filter(each => each >= 0)
      )
    );
    const start = performance.now();
    const { boxes } = allOpen(nodes);
    expect(performance.now() - start).toBeLessThan(3000);
    expect(overlaps(boxes.slice(0, 200))).toBe(0);
  });

  it('works in slices and stops when told', async () => {
    const modules = new Modules();
    modules.setNodes(graphOf('graph_transformer').nodes);
    const sliced = await finishInSlices(layoutGraph(modules.visible(), modules.open), () => false);
    expect(sliced).toEqual(finishNow(layoutGraph(modules.visible(), modules.open)));
    const long = (function* (): Generator<void, number> {
      for (;;) {
        yield;
      }
    })();
    expect(await finishInSlices(long, () => true)).toBeNull();
  });
});
