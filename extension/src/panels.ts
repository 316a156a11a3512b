import { LabIcon } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { make, setText } from './dom';
import type { Words } from './format';
import type { Follower } from './follow';
import type { Host } from './host';
import { VERSION } from './messages.gen';
import type { Kept, State } from './store';
import { EMPTY } from './store';
import { AmpView } from './views/amp';
import { ClusterView } from './views/cluster';
import { GraphView } from './views/graph';
import { MemoryView } from './views/memory';
import type { DrawnBy, Nothing } from './views/newest';
import { ProfileView } from './views/profile';
import iconSvg from './icon';

export type Tab = 'graph' | 'memory' | 'amp' | 'profile' | 'cluster';

export const nbtorchIcon = new LabIcon({ name: 'nbtorch:panel', svgstr: iconSvg });

export type View = GraphView | MemoryView | AmpView | ProfileView | ClusterView;

/** A message that the store does not fold and no view draws is named here by the compiler. */
export type Undrawn = Nothing<Exclude<Kept, DrawnBy<View>>>;

interface Page {
  readonly tab: HTMLButtonElement;
  readonly body: HTMLElement;
  readonly view: View;
}

/** The side panel: the graph and memory of the active notebook's kernel. */
export class NbtorchPanel extends Widget {
  private readonly pages = new Map<Tab, Page>();
  private readonly notice = make('div', 'nbt-empty', '', { role: 'status' });
  private readonly foot = make('div', 'nbt-foot');
  private readonly state = make('span', 'nbt-state');
  private readonly dropped = make('span', 'nbt-soft');
  private stop: () => void = () => undefined;
  private tab: Tab = 'graph';

  constructor(
    private readonly follower: Follower,
    private readonly tr: Words
  ) {
    super();
    this.id = 'nbtorch-panel';
    this.addClass('nbt-root');
    this.addClass('nbt-panel');
    this.title.icon = nbtorchIcon;
    this.title.caption = tr('nbtorch: graph and memory');
    const host: Host = {
      ask: what => this.follower.current?.ask(what),
      reveal: place => void this.follower.reveal(place),
      tr,
      wheel: 'free'
    };
    const tabs = make('div', 'nbt-tabs', '', { role: 'tablist', 'data-lm-suppress-shortcuts': 'true' });
    this.node.append(tabs, this.notice);
    this.addPage(tabs, 'graph', tr('Graph'), body => new GraphView(body, host));
    this.addPage(tabs, 'memory', tr('Memory'), body => new MemoryView(body, host));
    this.addPage(tabs, 'amp', tr('AMP'), body => new AmpView(body, host));
    this.addPage(tabs, 'profile', tr('Profile'), body => new ProfileView(body, host));
    this.addPage(tabs, 'cluster', tr('Cluster'), body => new ClusterView(body, host));
    this.foot.append(this.state, make('span', 'nbt-space'), this.dropped);
    this.node.append(this.foot);
    tabs.addEventListener('keydown', event => this.onTabKey(event));
    follower.changed.connect(() => this.connect());
    this.connect();
    this.show_(this.tab);
  }

  override dispose(): void {
    this.stop();
    this.pages.forEach(page => page.view.dispose());
    super.dispose();
  }

  /** Brings a tab to the front of the panel. */
  showTab(tab: Tab): void {
    this.show_(tab);
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.follower.setLooking(true);
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this.follower.setLooking(false);
  }

  private addPage(tabs: HTMLElement, key: Tab, name: string, makeView: (body: HTMLElement) => View): void {
    const tab = make('button', 'nbt-tab', name, {
      type: 'button',
      role: 'tab',
      id: `nbt-tab-${key}`,
      'aria-controls': `nbt-page-${key}`
    });
    const body = make('div', 'nbt-page', '', { role: 'tabpanel', id: `nbt-page-${key}`, 'aria-labelledby': tab.id });
    tab.addEventListener('click', () => this.show_(key));
    tabs.append(tab);
    this.node.append(body);
    this.pages.set(key, { tab, body, view: makeView(body) });
  }

  private onTabKey(event: KeyboardEvent): void {
    if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') {
      const tabs = [...this.pages.keys()].filter(key => !this.pages.get(key)?.tab.hidden);
      const step = event.key === 'ArrowRight' ? 1 : tabs.length - 1;
      this.show_(tabs[(tabs.indexOf(this.tab) + step) % tabs.length] ?? 'graph');
      this.pages.get(this.tab)?.tab.focus();
      event.preventDefault();
    }
  }

  private show_(tab: Tab): void {
    this.tab = tab;
    this.pages.forEach((page, key) => {
      page.tab.setAttribute('aria-selected', String(key === tab));
      page.tab.tabIndex = key === tab ? 0 : -1;
    });
    this.draw(this.follower.current?.store.state ?? EMPTY);
  }

  private connect(): void {
    this.stop();
    const store = this.follower.current?.store;
    this.stop = store ? store.listen(state => this.draw(state)) : () => undefined;
    this.draw(store?.state ?? EMPTY);
  }

  private draw(state: State): void {
    // These tabs are there once there is something in them.
    const has: Partial<Record<Tab, boolean>> = {
      amp: state.newest['amp.summary'] !== undefined,
      profile: state.newest['profile.table'] !== undefined,
      cluster: state.newest['cluster.state'] !== undefined
    };
    this.pages.forEach((page, key) => (page.tab.hidden = has[key] === false));
    if (has[this.tab] === false) {
      this.show_('graph');
      return;
    }
    const notice = this.noticeFor(state);
    this.notice.hidden = notice === null;
    this.notice.replaceChildren(...(notice ?? []));
    this.pages.forEach((page, key) => {
      page.body.hidden = key !== this.tab || notice !== null;
      page.view.update(state);
    });
    this.drawFoot(state);
    this.node.dataset['nbtorchLink'] = state.link;
    this.node.dataset['nbtorchTab'] = this.tab;
    this.node.dataset['nbtorchSession'] = state.status?.session ?? '';
    this.node.dataset['nbtorchStep'] = String(state.graph?.step ?? '');
    this.node.dataset['nbtorchNodes'] = String(state.graph?.nodes.length ?? 0);
    this.node.dataset['nbtorchSamples'] = String(state.samples.length);
  }

  private drawFoot(state: State): void {
    const { tr } = this;
    const { status } = state;
    this.foot.hidden = state.link !== 'live';
    this.state.classList.toggle('nbt-busy', status?.training ?? false);
    const step = status?.step ?? null;
    const words = status?.training ? (step === null ? tr('Training') : tr('Training, step %1', step)) : tr('Idle');
    setText(this.state, status ? words : tr('Connected'));
    this.state.title = status ? `nbtorch ${status.nbtorch}` : '';
    setText(this.dropped, state.dropped > 0 ? tr('%1 skipped', state.dropped) : '');
    this.dropped.title = tr('The kernel made more updates than are sent in a second; the newest are shown');
  }

  /** What to say instead of the page, or null if there is something to show. */
  private noticeFor(state: State): HTMLElement[] | null {
    const { tr } = this;
    const say = (title: string, text: string, code = ''): HTMLElement[] => [
      make('h3', '', title),
      make('p', '', text),
      ...(code ? [make('pre', '', code)] : [])
    ];
    switch (state.link) {
      case 'none':
        return say(tr('No notebook'), tr('Open a notebook that uses nbtorch to see its graph and memory here.'));
      case 'absent':
        return say(
          tr('nbtorch is not loaded'),
          tr('Run this in the notebook to see its graph and memory here:'),
          '%load_ext nbtorch'
        );
      case 'version':
        return say(
          tr('Different versions'),
          tr(
            'The kernel sends messages of version %1, this panel reads version %2. Update the older of the two, restart the kernel and reload the page.',
            state.kernelVersion ?? 0,
            VERSION
          )
        );
      case 'waiting':
        return say(tr('Connecting…'), tr('If a cell is running, this may wait until it is done.'));
      default:
        return this.emptyFor(state, say);
    }
  }

  private emptyFor(state: State, say: (title: string, text: string) => HTMLElement[]): HTMLElement[] | null {
    const { tr } = this;
    if (this.tab === 'graph' && state.graph === null) {
      return say(
        tr('No graph yet'),
        tr(
          'Run a forward pass on tensors that require gradients. The graph of each step appears here while the cell runs.'
        )
      );
    }
    if (this.tab === 'memory' && state.samples.length === 0) {
      return say(tr('No memory samples yet'), tr('Live tensor bytes appear here while cells run.'));
    }
    return null;
  }
}
