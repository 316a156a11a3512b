import { make } from '../dom';
import { formatBytes, formatReal, shortDtype } from '../format';
import type { Host } from '../host';
import type { AmpSummary } from '../messages.gen';
import type { State } from '../store';
import type { Draws } from './newest';
import { MessageView, makeCards, makeTable } from './table';

/** What autocast did: which ops ran in which dtypes, what was cast, and how the loss scale fares. */
export class AmpView extends MessageView<'amp.summary'> {
  readonly draws: Draws<'amp.summary'> = { 'amp.summary': amp => this.show(amp) };

  constructor(
    root: HTMLElement,
    private readonly host: Host
  ) {
    super(root);
  }

  override update(state: State): void {
    super.update(state);
    this.root.dataset['nbtorchOps'] = String(state.newest['amp.summary']?.ops.length ?? 0);
  }

  protected override draw(amp: AmpSummary): HTMLElement[] {
    const { tr } = this.host;
    const cards = [
      { name: tr('Casts'), value: String(amp.casts) },
      { name: tr('Reused'), value: String(amp.cached_casts) },
      { name: tr('Bytes cast'), value: formatBytes(amp.cast_bytes) },
      { name: tr('Bytes saved'), value: formatBytes(amp.saved_bytes) }
    ];
    if (amp.scale !== null) {
      cards.push({ name: tr('Loss scale'), value: formatReal(amp.scale) });
    }
    const overflows = { name: tr('Overflows'), value: String(amp.overflows), broken: amp.overflows > 0 };
    const rows = [...amp.ops]
      .sort((a, b) => b.cast_bytes - a.cast_bytes)
      .map(op => [
        op.op,
        op.dtypes.map(each => `${shortDtype(each.dtype)} ×${each.count}`).join(', '),
        String(op.casts),
        formatBytes(op.cast_bytes)
      ]);
    const columns = [
      { title: tr('Op') },
      { title: tr('Ran in') },
      { title: tr('Casts'), number: true },
      { title: tr('Bytes'), number: true }
    ];
    const note = amp.emulated
      ? [make('p', 'nbt-soft nbt-note', tr('This machine computes low precision in float32 and rounds.'))]
      : [];
    return [makeCards([...cards, overflows]), ...note, makeTable(columns, rows)];
  }
}
