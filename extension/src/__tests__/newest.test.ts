import { describe, expect, it } from 'vitest';
import { STILL } from '../host';
import type { MemoryTop } from '../messages.gen';
import type { View } from '../panels';
import type { Kept, Newest } from '../store';
import { EMPTY, reduce } from '../store';
import { MemoryView } from '../views/memory';
import type { DrawnBy, Nothing } from '../views/newest';
import { drawNewest } from '../views/newest';
import { golden, stateOf } from './golden';

// @ts-expect-error -- a panel without the memory view leaves messages undrawn, which must not compile.
export type LeftOver = Nothing<Exclude<Kept, DrawnBy<Exclude<View, MemoryView>>>>;

describe('the newest message of a kind', () => {
  it('is kept in the state without a case of its own', () => {
    const top = golden('memory').items.find(item => item.kind === 'memory.top')!;
    const state = reduce(EMPTY, top);
    expect(state).toEqual({ ...EMPTY, newest: { 'memory.top': top } });
    expect(reduce(state, { ...top, count: 1 }).newest['memory.top']?.count).toBe(1);
  });

  it('is not kept when it is folded into another field', () => {
    expect(Object.keys(stateOf('memory').newest)).toEqual(['memory.top']);
  });

  it('is drawn once, and again when it has changed or is gone', () => {
    const seen: (number | undefined)[] = [];
    const draws = { 'memory.top': (top: MemoryTop | null) => void seen.push(top?.count) };
    const show = (newest: Newest, drawn: Newest): Newest => drawNewest(draws, newest, drawn);
    const { newest } = stateOf('memory');
    const drawn = show(newest, show(newest, show({}, {})));
    expect(seen).toEqual([212]);
    show({}, drawn);
    expect(seen).toEqual([212, undefined]);
  });
});

describe('kernel.calls', () => {
  it('is one line of text with a label, and gone with its message', () => {
    const root = document.createElement('div');
    const view = new MemoryView(root, STILL);
    const line = root.querySelector<HTMLElement>("[role='note']")!;
    view.update(EMPTY);
    expect(line.hidden).toBe(true);
    view.update(stateOf('others'));
    expect(line.hidden).toBe(false);
    expect(line.textContent).toBe('kernels: oneDNN 1,204 · numba 880 · NumPy 5,310');
    expect(line.getAttribute('aria-label')).toContain('oneDNN 1,204 (addmm 1,000, relu 204); numba 880 (<img src=x');
    expect(line.title.split('\n')[2]).toBe('NumPy 5,310');
    expect(root.querySelector('img')).toBeNull();
    view.update(EMPTY);
    expect(line.hidden).toBe(true);
    view.dispose();
  });
});
