import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Ask, Host } from '../host';
import { plainWords } from '../format';
import { formatBytes, formatPlace, formatReal, formatShape, shortOp } from '../format';
import type { Place } from '../messages.gen';
import { EMPTY, reduceBatch } from '../store';
import { AmpView } from '../views/amp';
import { ClusterView } from '../views/cluster';
import { GraphView } from '../views/graph';
import { MemoryView } from '../views/memory';
import { ProfileView } from '../views/profile';
import { formatSeconds, stack } from '../views/timeline';
import type { Name } from './golden';
import { golden, stateOf } from './golden';

let asked: Ask[] = [];
let revealed: Place[] = [];
let root: HTMLElement;

const host: Host = {
  ask: what => asked.push(what),
  reveal: place => revealed.push(place),
  tr: plainWords,
  wheel: 'free'
};

beforeEach(() => {
  asked = [];
  revealed = [];
  root = document.createElement('div');
  document.body.replaceChildren(root);
});

afterEach(() => vi.useRealTimers());

/** Lets a layout that works in slices finish. */
async function settle(): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, 30));
}

async function showGraph(...names: Name[]): Promise<GraphView> {
  const view = new GraphView(root, host);
  view.update(stateOf(...names));
  await settle();
  return view;
}

function item(key: string): HTMLElement {
  return root.querySelector<HTMLElement>(`[data-nbtorch-key='${key}']`)!;
}

function press(element: HTMLElement, key: string): void {
  element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
}

describe('GraphView', () => {
  it('says on its element what it shows', async () => {
    await showGraph('graph_mlp');
    expect(root.dataset).toMatchObject({
      nbtorchStep: '3',
      nbtorchNodes: '11',
      nbtorchBoxes: '5',
      nbtorchLoss: '0.6931'
    });
    expect(root.querySelector('.nbt-canvas')?.getAttribute('aria-label')).toContain('11 nodes');
  });

  it('shows new numbers without a new layout', async () => {
    const view = await showGraph('graph_mlp');
    const before = item('n:1');
    view.update(stateOf('graph_values'));
    expect(root.dataset['nbtorchStep']).toBe('4');
    expect(item('n:1')).toBe(before);
  });

  it('opens and closes modules by keys', async () => {
    await showGraph('graph_mlp');
    const module = item('m:fc1');
    module.click();
    expect(module.getAttribute('aria-expanded')).toBe('false');
    press(module, 'Enter');
    await settle();
    expect(root.dataset['nbtorchBoxes']).toBe('8');
    expect(item('m:fc1').getAttribute('aria-expanded')).toBe('true');
    press(item('m:fc1'), 'ArrowRight');
    expect(document.activeElement).toBe(item('n:2'));
    press(item('n:2'), 'ArrowLeft');
    expect(document.activeElement).toBe(item('m:fc1'));
    press(item('m:fc1'), 'ArrowLeft');
    await settle();
    expect(root.dataset['nbtorchBoxes']).toBe('5');
  });

  it('asks about a chosen node and shows the answer', async () => {
    const view = await showGraph('graph_mlp');
    press(item('m:fc1'), 'ArrowRight');
    root.querySelector<HTMLButtonElement>("[aria-label='Open all modules']")?.click();
    await settle();
    item('n:5').click();
    expect(asked).toContainEqual({ kind: 'request.detail', graph: 1, node: 5 });
    const pane = root.querySelector<HTMLElement>('.nbt-detail')!;
    expect(pane.dataset).toMatchObject({ nbtorchDetail: 'n:5', nbtorchAnswered: 'false' });
    view.update(stateOf('graph_detail'));
    expect(pane.dataset).toMatchObject({ nbtorchSaved: '2', nbtorchAnswered: 'true' });
    expect(pane.textContent).toContain('In [4], line 12');
    expect(pane.textContent).toContain('201 KB');
    pane.querySelector<HTMLButtonElement>('.nbt-link')?.click();
    expect(revealed[0]).toMatchObject({ run: 4, line: 12 });
  });

  it('writes only the number while values come, so that focus stays', async () => {
    const view = await showGraph('graph_mlp');
    item('n:11').click();
    const close = root.querySelector<HTMLElement>("[aria-label='Close details']")!;
    view.update(stateOf('graph_values'));
    expect(root.querySelector("[aria-label='Close details']")).toBe(close);
    expect(root.querySelector('.nbt-live')?.textContent).toBe('loss 1.6429');
  });

  it('never makes markup of names', async () => {
    await showGraph('graph_hostile');
    for (const key of ['m:<b>a</b>', 'm:a.b']) {
      item(key).click();
    }
    root.querySelector<HTMLButtonElement>("[aria-label='Open all modules']")?.click();
    await settle();
    item('n:1').click();
    expect(root.querySelectorAll('img, b, script')).toHaveLength(0);
    expect(root.textContent).toContain('<img src=x onerror=alert(1)>');
    expect(root.dataset['nbtorchLoss']).toBe('NaN');
    expect(root.textContent).toContain('4 more nodes are not shown');
  });

  it('leaves nothing behind', async () => {
    const view = await showGraph('graph_mlp');
    view.dispose();
    expect(root.childElementCount).toBe(0);
  });

  it('shows an empty state', () => {
    new GraphView(root, host).update(EMPTY);
    expect(root.dataset['nbtorchNodes']).toBe('0');
  });
});

describe('MemoryView', () => {
  it('shows the newest sample, the largest tensors and the cells', () => {
    const view = new MemoryView(root, host);
    view.update(stateOf('memory'));
    expect(root.dataset).toMatchObject({ nbtorchSamples: '91', nbtorchTop: '5' });
    expect(root.textContent).toContain('342 MB');
    expect(root.textContent).toContain('encoder.weight');
    expect(root.textContent).toContain('for x, y in data:');
    expect(root.querySelector('.nbt-gauge')?.getAttribute('aria-label')).toContain('of a peak of 342 MB');
    root.querySelector<HTMLButtonElement>('.nbt-link')?.click();
    expect(revealed[0]?.run).toBe(3);
    view.dispose();
  });

  it('asks for the largest tensors only while it can be seen', () => {
    vi.useFakeTimers();
    const view = new MemoryView(root, host);
    vi.advanceTimersByTime(10_000);
    expect(asked).toHaveLength(0);
    Object.defineProperty(root, 'clientWidth', { value: 300 });
    vi.advanceTimersByTime(3_000);
    expect(asked).toEqual([{ kind: 'request.top', limit: 20 }]);
    view.dispose();
    vi.advanceTimersByTime(10_000);
    expect(asked).toHaveLength(1);
  });

  it('stacks categories', () => {
    const { samples } = stateOf('memory');
    const data = stack(samples, samples[0]!.time);
    expect(data).toHaveLength(8);
    samples.forEach((sample, index) => expect(data[5]?.[index]).toBe(sample.live));
  });
});

describe('views of finished work', () => {
  it('shows what autocast did', () => {
    new AmpView(root, host).update(stateOf('others'));
    expect(root.textContent).toContain('bf16 ×12');
    expect(root.textContent).toContain('65536.0');
  });

  it('shows a profile', () => {
    new ProfileView(root, host).update(stateOf('others'));
    expect(root.textContent).toContain('813 µs');
    expect(root.textContent).toContain('Time of In [5]1.20 ms');
  });

  it('shows the ranks and who is lost', () => {
    const view = new ClusterView(root, host);
    view.update(stateOf('others'));
    expect(root.dataset['nbtorchRanks']).toBe('2');
    expect(root.querySelector('.nbt-rank-dead')?.textContent).toBe('lost');
    const table = root.querySelector('table');
    view.update(stateOf('memory'));
    expect(table?.isConnected).toBe(false);
  });
});

describe('formats', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [1000, '1.00 KB'],
    [999_600, '1.00 MB'],
    [52_000_000, '52.0 MB'],
    [-1500, '−1.50 KB']
  ])('%d bytes is %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

  it.each([
    [null, '–'],
    ['nan' as const, 'NaN'],
    ['-inf' as const, '−∞'],
    [0.69314718, '0.6931'],
    [-12.3456, '−12.346'],
    [1e-7, '1.00e−7'],
    [1e20, '1.00e+20']
  ])('%s is shown as %s', (value, text) => expect(formatReal(value)).toBe(text));

  it('shapes, ops, places and times', () => {
    expect(formatShape([])).toBe('scalar');
    expect(formatShape([32, 64])).toBe('32×64');
    expect(shortOp('AddmmBackward0')).toBe('Addmm');
    expect(formatPlace({ run: null, file: 'a.py', line: 3, source: '' }, plainWords)).toBe('a.py, line 3');
    expect(formatPlace({ run: 2, file: '', line: null, source: '' }, plainWords)).toBe('In [2]');
    expect(formatPlace(null, plainWords)).toBe('');
    expect([5, 65, 3720].map(formatSeconds)).toEqual(['5 s', '1:05', '1 h 02']);
  });
});

describe('a saved output', () => {
  it('needs no kernel', () => {
    const state = reduceBatch({ ...EMPTY, link: 'saved' }, golden('graph_detail'));
    expect(state.details.size).toBe(1);
    expect(state.link).toBe('saved');
  });
});
