import { make } from '../dom';
import { formatBytes, formatMicros, formatPlace } from '../format';
import type { Host } from '../host';
import type { ProfileTable } from '../messages.gen';
import type { State } from '../store';
import type { Draws } from './newest';
import { MessageView, makeCards, makeTable } from './table';

/** The newest profile by op, the most expensive first. */
export class ProfileView extends MessageView<'profile.table'> {
  readonly draws: Draws<'profile.table'> = { 'profile.table': profile => this.show(profile) };

  constructor(
    root: HTMLElement,
    private readonly host: Host
  ) {
    super(root);
  }

  override update(state: State): void {
    super.update(state);
    this.root.dataset['nbtorchRows'] = String(state.newest['profile.table']?.rows.length ?? 0);
  }

  protected override draw(profile: ProfileTable): HTMLElement[] {
    const { tr } = this.host;
    const rows = [...profile.rows].sort((a, b) => b.self_us - a.self_us);
    const most = Math.max(1e-9, rows[0]?.self_us ?? 0);
    const cells = rows.map(row => {
      const name = make('span', '', row.op, { title: formatPlace(row.place, tr) });
      const self = make('span', 'nbt-share nbt-pad', formatMicros(row.self_us));
      self.style.setProperty('--nbt-share', `${Math.round((100 * row.self_us) / most)}%`);
      return [name, String(row.calls), self, formatMicros(row.total_us), row.bytes > 0 ? formatBytes(row.bytes) : '–'];
    });
    const columns = [
      { title: tr('Op') },
      { title: tr('Calls'), number: true },
      { title: tr('Self'), number: true },
      { title: tr('Total'), number: true },
      { title: tr('Bytes'), number: true }
    ];
    const calls = rows.reduce((sum, row) => sum + row.calls, 0);
    const cards = [
      {
        name: profile.run === null ? tr('Time') : tr('Time of In [%1]', profile.run),
        value: formatMicros(profile.wall_us)
      },
      { name: tr('Op calls'), value: String(calls) }
    ];
    const title = profile.title === '' ? [] : [make('h3', 'nbt-title', profile.title)];
    return [...title, makeCards(cards), makeTable(columns, cells)];
  }
}
