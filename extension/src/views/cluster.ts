import { make } from '../dom';
import { formatBytes } from '../format';
import type { Host } from '../host';
import type { ClusterState, Rank } from '../messages.gen';
import type { State } from '../store';
import type { Draws } from './newest';
import { MessageView, makeCards, makeTable } from './table';

/** The workers of the cluster and what each is doing. */
export class ClusterView extends MessageView<'cluster.state'> {
  readonly draws: Draws<'cluster.state'> = { 'cluster.state': cluster => this.show(cluster) };

  constructor(
    root: HTMLElement,
    private readonly host: Host
  ) {
    super(root);
  }

  override update(state: State): void {
    super.update(state);
    this.root.dataset['nbtorchRanks'] = String(state.newest['cluster.state']?.ranks.length ?? 0);
  }

  protected override draw(cluster: ClusterState): HTMLElement[] {
    const { tr } = this.host;
    const dead = cluster.ranks.filter(rank => rank.state === 'dead').length;
    const cards = [
      { name: tr('Ranks'), value: String(cluster.ranks.length) },
      { name: tr('Lost'), value: String(dead), broken: dead > 0 },
      { name: tr('Backend'), value: cluster.backend || '–' }
    ];
    const columns = [
      { title: tr('Rank') },
      { title: tr('State') },
      { title: tr('Step'), number: true },
      { title: tr('Live'), number: true }
    ];
    return [
      makeCards(cards),
      makeTable(
        columns,
        cluster.ranks.map(rank => this.row(rank))
      )
    ];
  }

  private row(rank: Rank): (string | HTMLElement)[] {
    const { tr } = this.host;
    const words: Record<Rank['state'], string> = {
      starting: tr('starting'),
      idle: tr('idle'),
      busy: tr('busy'),
      waiting: tr('waiting'),
      dead: tr('lost')
    };
    const name = make('span', '', [String(rank.rank), rank.host, rank.note].filter(Boolean).join(' · '));
    const state = make('span', `nbt-rank nbt-rank-${rank.state}`, words[rank.state]);
    return [
      name,
      state,
      rank.step === null ? '–' : String(rank.step),
      rank.live === null ? '–' : formatBytes(rank.live)
    ];
  }
}
