import { Widget } from '@lumino/widgets';
import { setText } from './dom';
import type { Words } from './format';
import { formatBytes } from './format';
import type { Follower } from './follow';
import type { State } from './store';
import { EMPTY } from './store';

/** "nbtorch 1.2 GB · step 41" in the status bar; nothing for kernels without nbtorch. */
export class StatusItem extends Widget {
  private stop: () => void = () => undefined;

  constructor(
    private readonly follower: Follower,
    private readonly tr: Words,
    open: () => void
  ) {
    super({ node: document.createElement('button') });
    this.addClass('nbt-status');
    this.node.title = tr('Show nbtorch memory');
    this.node.addEventListener('click', open);
    follower.changed.connect(() => this.connect());
    this.connect();
  }

  override dispose(): void {
    this.stop();
    super.dispose();
  }

  private connect(): void {
    this.stop();
    const store = this.follower.current?.store;
    this.stop = store ? store.listen(state => this.draw(state)) : () => undefined;
    this.draw(store?.state ?? EMPTY);
  }

  private draw(state: State): void {
    const sample = state.samples[state.samples.length - 1];
    const step = state.status?.step ?? state.graph?.step ?? null;
    const ranks = state.newest['cluster.state']?.ranks.length ?? 0;
    const parts = [
      `nbtorch${sample ? ` ${formatBytes(sample.live)}` : ''}`,
      ...(step === null ? [] : [this.tr('step %1', step)]),
      ...(ranks > 1 ? [this.tr('%1 ranks', ranks)] : [])
    ];
    setText(this.node, state.link === 'live' ? parts.join(' · ') : '');
    this.node.hidden = state.link !== 'live';
  }
}
