import { describe, expect, it } from 'vitest';
import type { MemorySample } from '../messages.gen';
import { VERSION } from '../messages.gen';
import { EMPTY, Store, reduce, reduceBatch } from '../store';
import { readBatch } from '../validate';
import { NAMES, golden, graphOf, raw, stateOf } from './golden';

const SAMPLE = golden('memory').items.find((item): item is MemorySample => item.kind === 'memory.sample')!;

function at(time: number): MemorySample {
  return { ...SAMPLE, time };
}

describe('golden batches', () => {
  it.each(NAMES)('%s is read and reduced', name => {
    const read = readBatch(raw(name));
    expect(read).toHaveProperty('batch');
    expect(reduceBatch(EMPTY, golden(name))).not.toBe(EMPTY);
  });

  it('all kinds end up in the state', () => {
    const state = stateOf('graph_detail', 'memory');
    expect(state.graph?.nodes.length).toBeGreaterThan(5);
    expect(state.details.get(5)?.saved).toHaveLength(2);
    expect(state.samples).toHaveLength(91);
    expect(state.newest['memory.top']?.tensors).toHaveLength(5);
    expect(state.cells.map(each => each.run)).toEqual([3, 4]);
    const others = stateOf('others');
    expect(others.status?.training).toBe(true);
    expect(others.newest['amp.summary']?.casts).toBe(24);
    expect(others.newest['profile.table']?.rows).toHaveLength(1);
    expect(others.newest['cluster.state']?.ranks).toHaveLength(2);
    expect(others.newest['kernel.calls']?.providers).toHaveLength(3);
    expect(others.failure?.code).toBe('unknown-id');
  });
});

describe('what is refused', () => {
  const bad: [string, (batch: Record<string, unknown>) => unknown][] = [
    ['nothing', () => null],
    ['a list', () => []],
    ['a missing field', batch => ({ ...batch, items: undefined })],
    ['a field too many', batch => ({ ...batch, extra: 1 })],
    ['an unknown kind', batch => ({ ...batch, items: [{ kind: 'run.code', code: '1' }] })],
    ['a long text', batch => ({ ...batch, items: [{ kind: 'error', code: 'internal', text: 'x'.repeat(4001) }] })],
    ['a fraction for a whole number', batch => ({ ...batch, seq: 1.5 })],
    [
      'too many items',
      batch => ({ ...batch, items: new Array(2001).fill({ kind: 'error', code: 'internal', text: '' }) })
    ]
  ];

  it.each(bad)('%s', (_, change) => {
    expect(readBatch(change(golden('others') as unknown as Record<string, unknown>))).toHaveProperty('fault');
  });

  it('what is too large', () => {
    const history = { kind: 'memory.history', samples: new Array(2000).fill(SAMPLE) };
    const batch = { version: VERSION, seq: 1, dropped: 0, request: null, items: new Array(20).fill(history) };
    expect(readBatch(batch)).toEqual({ fault: expect.stringContaining('too large') as string });
  });

  it('another version is told apart from nonsense', () => {
    expect(readBatch({ ...golden('others'), version: VERSION + 1 })).toEqual({ version: VERSION + 1 });
  });

  it('counts characters as Python does', () => {
    const text = '𝒙'.repeat(4000);
    const batch = { ...golden('others'), items: [{ kind: 'error', code: 'internal', text }] };
    expect(readBatch(batch)).toHaveProperty('batch');
  });
});

describe('reduce', () => {
  it('gives new numbers to the nodes of a known graph', () => {
    const state = stateOf('graph_values');
    expect(state.graph?.step).toBe(4);
    expect(state.graph?.nodes.find(node => node.id === 2)?.freed).toBe(true);
    expect(state.graph?.nodes.map(node => node.value)).not.toEqual(graphOf('graph_mlp').nodes.map(node => node.value));
    expect(state.missed).toBe(false);
  });

  it('notes numbers for a graph it has not seen', () => {
    const values = golden('graph_values').items[1]!;
    const state = reduce(EMPTY, values);
    expect(state.missed).toBe(true);
    expect(reduce(state, golden('graph_values').items[0]!).missed).toBe(false);
  });

  it('keeps the newer graph when an older one comes late', () => {
    const state = stateOf('graph_transformer', 'graph_mlp');
    expect(state.graph?.graph).toBe(2);
  });

  it('forgets details with their graph', () => {
    expect(stateOf('graph_detail', 'graph_transformer').details.size).toBe(0);
  });

  it('orders samples by time, drops doubles and thins the old ones', () => {
    const late = [at(3), at(1), at(2), at(2)].reduce(reduce, EMPTY);
    expect(late.samples.map(each => each.time)).toEqual([1, 2, 3]);
    const history = { kind: 'memory.history' as const, samples: [at(0), at(2)] };
    expect(reduce(late, history).samples.map(each => each.time)).toEqual([0, 1, 2, 3]);
    const many = Array.from({ length: 9000 }, (_, index) => at(index)).reduce(reduce, EMPTY);
    expect(many.samples.length).toBeLessThanOrEqual(4000);
    expect(many.samples[0]?.time).toBe(0);
    expect(many.samples[many.samples.length - 1]?.time).toBe(8999);
  });

  it('starts anew with a new kernel session', () => {
    const state = stateOf('graph_mlp', 'others');
    const status = { ...state.status!, session: 'another' };
    const next = reduce({ ...state, link: 'live' }, status);
    expect(next.graph).toBeNull();
    expect(next.link).toBe('live');
  });

  it('keeps an error until the next answer', () => {
    const state = stateOf('others');
    const live = { ...golden('memory'), request: null };
    expect(reduceBatch(state, live).failure).not.toBeNull();
    expect(reduceBatch(state, { ...live, request: 7 }).failure).toBeNull();
  });
});

describe('Store', () => {
  it('tells listeners once a frame', () => {
    const waiting: (() => void)[] = [];
    const store = new Store({}, tell => waiting.push(tell));
    const seen: number[] = [];
    const stop = store.listen(state => seen.push(state.samples.length));
    for (let index = 0; index < 50; index++) {
      store.apply({ version: VERSION, seq: index, dropped: 0, request: null, items: [at(index)] });
    }
    expect(waiting).toHaveLength(1);
    waiting[0]?.();
    expect(seen).toEqual([50]);
    stop();
    store.patch({ link: 'live' });
    waiting[1]?.();
    expect(seen).toEqual([50]);
  });
});
