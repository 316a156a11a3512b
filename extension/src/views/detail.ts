import { make, makeButton, setText } from '../dom';
import { formatBytes, formatPlace, formatReal, formatShape, isBroken } from '../format';
import type { Host } from '../host';
import type { GraphDetail, GraphNode, Place, SavedTensor } from '../messages.gen';
import type { Group, Part } from './groups';

type Row = readonly [string, string | HTMLElement];

function placeElement(place: Place | null, host: Host): HTMLElement | string {
  const text = formatPlace(place, host.tr);
  const reveal = host.reveal;
  if (place === null || text === '') {
    return '–';
  }
  const box = make('span');
  if (place.run !== null && reveal !== null) {
    const link = makeButton(text, host.tr('Show this cell'), () => reveal(place));
    link.className = 'nbt-link';
    box.append(link);
  } else {
    box.append(make('span', '', text));
  }
  if (place.source !== '') {
    box.append(make('span', 'nbt-source', place.source, { title: place.source }));
  }
  return box;
}

function shapes(node: Pick<GraphNode, 'shapes' | 'dtypes'>): string {
  return node.shapes.map((each, index) => `${formatShape(each)} ${node.dtypes[index] ?? ''}`.trim()).join(', ') || '–';
}

function numberElement(value: GraphNode['value']): HTMLElement {
  return make('span', isBroken(value) ? 'nbt-number nbt-broken' : 'nbt-number', formatReal(value));
}

function savedTable(saved: readonly SavedTensor[], host: Host): HTMLElement {
  const table = make('table', 'nbt-table');
  table.append(make('caption', '', host.tr('Saved for backward')));
  const head = make('tr');
  [host.tr('Name'), host.tr('Shape'), host.tr('Type'), host.tr('Bytes'), host.tr('Version')].forEach((each, index) =>
    head.append(make('th', index > 2 ? 'nbt-right' : '', each, { scope: 'col' }))
  );
  table.append(head);
  for (const each of saved) {
    const row = make('tr', 'nbt-saved');
    row.append(
      make('td', '', each.name),
      make('td', 'nbt-number', formatShape(each.shape)),
      make('td', '', each.dtype),
      make('td', 'nbt-number nbt-right', formatBytes(each.bytes)),
      make('td', 'nbt-number nbt-right', String(each.version))
    );
    table.append(row);
  }
  return table;
}

function nodeRows(node: GraphNode, detail: GraphDetail | undefined, host: Host): Row[] {
  const { tr } = host;
  const rows: Row[] = [
    [tr('Module'), [node.module || tr('top level'), node.module_type].filter(Boolean).join(' · ')],
    [tr('Output'), shapes(node)],
    [tr('Value'), make('span', 'nbt-number nbt-live')],
    [tr('Saved'), node.freed ? tr('%1, freed', formatBytes(node.saved_bytes)) : formatBytes(node.saved_bytes)],
    [tr('Made at'), placeElement(detail?.place ?? node.place, host)]
  ];
  if (detail && detail.forward_ms !== null) {
    rows.push([tr('Forward'), `${formatReal(detail.forward_ms)} ms`]);
  }
  if (detail && detail.backward_ms !== null) {
    rows.push([tr('Backward'), `${formatReal(detail.backward_ms)} ms`]);
  }
  if (detail && detail.grad_norm !== null) {
    rows.push([tr('Gradient norm'), numberElement(detail.grad_norm)]);
  }
  return rows;
}

function groupRows(group: Group, nodes: ReadonlyMap<number, GraphNode>, host: Host): Row[] {
  const { tr } = host;
  const members = group.members.map(node => nodes.get(node.id) ?? node);
  const parameters = members.filter(node => node.role === 'parameter');
  const elements = parameters.reduce(
    (sum, node) => sum + (node.shapes[0]?.reduce((product, size) => product * size, 1) ?? 0),
    0
  );
  const saving = members.filter(node => node.saved_bytes > 0);
  const bytes = saving.reduce((sum, node) => sum + node.saved_bytes, 0);
  const freed = saving.length > 0 && saving.every(node => node.freed);
  const output = nodes.get(group.output.id) ?? group.output;
  return [
    [tr('Module'), [group.path, group.type].filter(Boolean).join(' · ')],
    [
      tr('Holds'),
      tr(
        '%1 ops, %2 parameters (%3 values)',
        members.length - parameters.length,
        parameters.length,
        elements.toLocaleString()
      )
    ],
    [tr('Output'), shapes(output)],
    [tr('Value'), make('span', 'nbt-number nbt-live')],
    [tr('Saved'), freed ? tr('%1, freed', formatBytes(bytes)) : formatBytes(bytes)],
    [tr('Made at'), placeElement(output.place, host)]
  ];
}

/** What the pane shows: a box, and the kernel's answer about it if there is one. */
export interface Shown {
  readonly part: Part;
  readonly open: boolean;
  readonly detail: GraphDetail | undefined;
  readonly failure: string;
}

export interface DetailHands {
  toggle(key: string): void;
  close(): void;
}

/** The pane under the graph: what is known about the chosen box. */
export class DetailPane {
  readonly node = make('div', 'nbt-detail');
  private shown: Shown | null = null;

  constructor(
    private readonly host: Host,
    private readonly hands: DetailHands
  ) {
    this.node.hidden = true;
  }

  /** Shows a box. While only its numbers change, only they are written, so that focus and selection stay. */
  show(shown: Shown | null, nodes: ReadonlyMap<number, GraphNode>): void {
    const old = this.shown;
    this.shown = shown;
    this.node.hidden = shown === null;
    if (shown === null) {
      delete this.node.dataset['nbtorchDetail'];
      return;
    }
    const same = old?.part === shown.part && old.open === shown.open && old.detail === shown.detail;
    if (!same || old.failure !== shown.failure) {
      this.build(shown, nodes);
    }
    const own = shown.part.kind === 'group' ? shown.part.output : shown.part.node;
    const node = nodes.get(own.id) ?? own;
    const value = this.node.querySelector<HTMLElement>('.nbt-live');
    if (value) {
      setText(value, `${node.value_name} ${formatReal(node.value)}`.trim());
      value.classList.toggle('nbt-broken', isBroken(node.value));
    }
  }

  private build({ part, open, detail, failure }: Shown, nodes: ReadonlyMap<number, GraphNode>): void {
    const { host, hands } = this;
    const node = part.kind === 'node' ? (nodes.get(part.node.id) ?? part.node) : null;
    const head = make('div', 'nbt-detail-head');
    head.append(make('strong', '', part.kind === 'group' ? part.name : node?.name || node?.op || ''));
    if (node && node.name !== '') {
      head.append(make('span', 'nbt-soft', node.op));
    }
    head.append(make('span', 'nbt-space'));
    if (part.kind === 'group') {
      const words = open ? host.tr('Close module') : host.tr('Open module');
      head.append(makeButton(words, words, () => hands.toggle(part.key)));
    }
    head.append(makeButton('✕', host.tr('Close details'), () => hands.close()));
    const list = make('dl', 'nbt-facts');
    const rows = part.kind === 'group' ? groupRows(part, nodes, host) : node ? nodeRows(node, detail, host) : [];
    for (const [name, value] of rows) {
      const cell = make('dd');
      cell.append(value);
      list.append(make('dt', '', name), cell);
    }
    const saved = detail && detail.saved.length > 0 ? [savedTable(detail.saved, host)] : [];
    const failed = failure === '' ? [] : [make('p', 'nbt-failure', failure, { role: 'alert' })];
    this.node.replaceChildren(head, list, ...saved, ...failed);
    this.node.dataset['nbtorchDetail'] = part.key;
    this.node.dataset['nbtorchSaved'] = String(detail?.saved.length ?? 0);
    this.node.dataset['nbtorchAnswered'] = String(detail !== undefined);
  }
}
