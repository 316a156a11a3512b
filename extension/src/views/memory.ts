import { make, makeButton, setText } from '../dom';
import { formatBytes, formatPlace, formatShape, shortDtype } from '../format';
import type { Host } from '../host';
import type { KernelCalls, MemoryCell, MemorySample, MemoryTop, TopTensor } from '../messages.gen';
import type { Newest, State } from '../store';
import type { Category } from '../theme';
import { CATEGORIES } from '../theme';
import type { Draws } from './newest';
import { drawNewest } from './newest';
import { Timeline } from './timeline';

/** How often the list of the largest tensors is asked for while it can be seen. */
const TOP_EVERY_MS = 3000;
const PROVIDERS = new Map([
  ['onednn', 'oneDNN'],
  ['numpy', 'NumPy'],
  ['cupy', 'CuPy']
]);
const COUNT = new Intl.NumberFormat('en-US');

/** Live memory: how much and of what kind, over time, in which tensors and by which cells. */
export class MemoryView {
  readonly draws: Draws<'memory.top' | 'kernel.calls'> = {
    'memory.top': top => this.showTop(top),
    'kernel.calls': calls => this.showCalls(calls)
  };

  private readonly cards = make('div', 'nbt-cards');
  private readonly bar = make('div', 'nbt-gauge', '', { role: 'img' });
  private readonly legend = make('ul', 'nbt-legend');
  private readonly timeline: Timeline;
  private readonly top = make('section', 'nbt-section');
  private readonly cells = make('section', 'nbt-section');
  private readonly calls = make('div', 'nbt-under nbt-number', '', { role: 'note' });
  private readonly values = new Map<string, HTMLElement>();
  private readonly parts = new Map<Category, { bar: HTMLElement; text: HTMLElement }>();
  private drawn: Newest = {};
  private shownCells: readonly MemoryCell[] = [];
  private timer = 0;

  constructor(
    private readonly root: HTMLElement,
    private readonly host: Host
  ) {
    root.classList.add('nbt-memory');
    this.timeline = new Timeline(host);
    this.makeCards();
    this.makeGauge();
    this.top.hidden = this.cells.hidden = this.calls.hidden = true;
    root.append(this.cards, this.bar, this.legend, this.timeline.node, this.top, this.cells, this.calls);
    this.timer = window.setInterval(() => this.askTop(), TOP_EVERY_MS);
    this.askTop();
  }

  dispose(): void {
    clearInterval(this.timer);
    this.timeline.dispose();
    this.root.replaceChildren();
  }

  update(state: State): void {
    const sample = state.samples[state.samples.length - 1];
    if (sample) {
      this.showSample(sample);
    }
    this.timeline.node.hidden = state.samples.length < 2;
    this.timeline.update(state.samples);
    this.drawn = drawNewest(this.draws, state.newest, this.drawn);
    if (state.cells !== this.shownCells) {
      this.shownCells = state.cells;
      this.showCells(state.cells);
    }
    this.root.dataset['nbtorchSamples'] = String(state.samples.length);
    this.root.dataset['nbtorchLive'] = String(sample?.live ?? '');
    this.root.dataset['nbtorchPeak'] = String(sample?.peak ?? '');
    this.root.dataset['nbtorchTop'] = String(state.newest['memory.top']?.tensors.length ?? 0);
  }

  private askTop(): void {
    if (this.root.isConnected && this.root.clientWidth > 0) {
      this.host.ask({ kind: 'request.top', limit: 20 });
    }
  }

  private words(category: Category): string {
    const { tr } = this.host;
    return {
      parameter: tr('Parameters'),
      optimizer: tr('Optimizer'),
      gradient: tr('Gradients'),
      activation: tr('Activations'),
      other: tr('Other')
    }[category];
  }

  private makeCards(): void {
    const { tr } = this.host;
    const all: [string, string, string][] = [
      ['live', tr('Live'), tr('Bytes of all live tensors')],
      ['peak', tr('Peak'), tr('The most that was live at once')],
      ['rss', tr('Process'), tr('Resident size of the kernel process')],
      ['pool', tr('Pool'), tr('Bytes that the allocator keeps for reuse')]
    ];
    for (const [key, name, title] of all) {
      const card = make('div', 'nbt-card', '', { title });
      const value = make('div', 'nbt-card-value nbt-number', '–');
      card.append(make('div', 'nbt-soft', name), value);
      this.values.set(key, value);
      this.cards.append(card);
    }
  }

  private makeGauge(): void {
    for (const category of CATEGORIES) {
      const bar = make('span', `nbt-band nbt-${category}`);
      const text = make('span', 'nbt-number', '–');
      const item = make('li');
      item.append(make('span', `nbt-swatch nbt-${category}`), make('span', '', this.words(category)), text);
      this.parts.set(category, { bar, text });
      this.bar.append(bar);
      this.legend.append(item);
    }
  }

  private showSample(sample: MemorySample): void {
    const numbers: Record<string, number | null> = {
      live: sample.live,
      peak: sample.peak,
      rss: sample.rss,
      pool: sample.pool
    };
    this.values.forEach((element, key) => {
      const value = numbers[key] ?? null;
      setText(element, value === null ? '–' : formatBytes(value));
      element.parentElement?.toggleAttribute('hidden', value === null);
    });
    const whole = Math.max(1, sample.peak, sample.live);
    this.parts.forEach(({ bar, text }, category) => {
      bar.style.width = `${(100 * Math.max(0, sample.by[category])) / whole}%`;
      setText(text, formatBytes(sample.by[category]));
    });
    this.bar.setAttribute(
      'aria-label',
      this.host.tr('%1 of a peak of %2 are live', formatBytes(sample.live), formatBytes(sample.peak))
    );
  }

  private showTop(top: MemoryTop | null): void {
    const { tr } = this.host;
    this.top.hidden = top === null;
    if (top === null) {
      return;
    }
    const table = make('table', 'nbt-table');
    table.append(this.header([tr('Tensor'), tr('Bytes')]));
    const most = top.tensors[0]?.bytes ?? 1;
    top.tensors.forEach(each => table.append(this.tensorRow(each, most)));
    this.top.replaceChildren(this.title(tr('Largest tensors'), tr('of %1 alive', top.count)), table);
  }

  private tensorRow(tensor: TopTensor, most: number): HTMLElement {
    const row = make('tr');
    const cell = make('td', 'nbt-wide');
    const name = make('div', 'nbt-ellipsis');
    name.append(
      make('span', `nbt-swatch nbt-${tensor.category}`),
      make('span', '', tensor.name || this.words(tensor.category)),
      make('span', 'nbt-source', `${formatShape(tensor.shape)} ${shortDtype(tensor.dtype)}`)
    );
    const kind =
      tensor.device === 'cpu' ? this.words(tensor.category) : `${this.words(tensor.category)}, ${tensor.device}`;
    const under = make('div', 'nbt-ellipsis nbt-under');
    under.append(make('span', '', kind), ...this.placeOf(tensor));
    cell.append(name, under);
    const bytes = make('td', 'nbt-number nbt-right nbt-share', formatBytes(tensor.bytes));
    bytes.style.setProperty('--nbt-share', `${Math.round((100 * tensor.bytes) / Math.max(1, most))}%`);
    row.append(cell, bytes);
    return row;
  }

  private placeOf({ place }: TopTensor): HTMLElement[] {
    const text = formatPlace(place, this.host.tr);
    const reveal = this.host.reveal;
    if (place === null || text === '') {
      return [];
    }
    const code = place.source === '' ? [] : [make('span', 'nbt-source', place.source, { title: place.source })];
    if (place.run === null || reveal === null) {
      return [make('span', '', ` · ${text}`), ...code];
    }
    const link = makeButton(text, this.host.tr('Show this cell'), () => reveal(place));
    link.className = 'nbt-link';
    return [make('span', '', ' · '), link, ...code];
  }

  private showCells(cells: readonly MemoryCell[]): void {
    const { tr } = this.host;
    this.cells.hidden = cells.length === 0;
    const table = make('table', 'nbt-table');
    table.append(this.header([tr('Cell'), tr('Peak'), tr('Change'), tr('After')]));
    for (const each of [...cells].reverse().slice(0, 12)) {
      const row = make('tr');
      const name = make('td', 'nbt-wide');
      const code = make('div', 'nbt-ellipsis nbt-under');
      code.append(make('span', 'nbt-code', each.label, { title: each.label }));
      name.append(make('div', '', tr('In [%1]', each.run)), code);
      const sign = each.delta > 0 ? '+' : '';
      row.append(
        name,
        make('td', 'nbt-number nbt-right', formatBytes(each.peak)),
        make('td', 'nbt-number nbt-right', `${sign}${formatBytes(each.delta)}`),
        make('td', 'nbt-number nbt-right', formatBytes(each.alive))
      );
      table.append(row);
    }
    this.cells.replaceChildren(this.title(tr('Cells'), ''), table);
  }

  /** Who computed: calls by provider, and the busiest kernels for those who point at it or listen. */
  private showCalls(calls: KernelCalls | null): void {
    const { tr } = this.host;
    const all = (calls?.providers ?? []).map(({ provider, calls, busiest }) => {
      const text = `${PROVIDERS.get(provider) ?? provider} ${COUNT.format(calls)}`;
      const more = busiest.map(each => `${each.name} ${COUNT.format(each.calls)}`).join(', ');
      return { text, whole: more === '' ? text : `${text} (${more})` };
    });
    this.calls.hidden = all.length === 0;
    setText(this.calls, tr('kernels: %1', all.map(each => each.text).join(' · ')));
    this.calls.title = all.map(each => each.whole).join('\n');
    const spoken = all.map(each => each.whole).join('; ');
    this.calls.setAttribute('aria-label', tr('Kernel calls answered so far: %1', spoken));
  }

  private title(text: string, more: string): HTMLElement {
    const title = make('h3', 'nbt-title', text);
    title.append(make('span', 'nbt-soft', more));
    return title;
  }

  private header(names: string[]): HTMLElement {
    const row = make('tr');
    names.forEach((each, index) => row.append(make('th', index === 0 ? '' : 'nbt-right', each, { scope: 'col' })));
    return row;
  }
}
