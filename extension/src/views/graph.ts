import { make, makeButton, setText } from '../dom';
import { formatReal, isBroken } from '../format';
import type { Host } from '../host';
import type { GraphNode } from '../messages.gen';
import type { State } from '../store';
import type { Theme } from '../theme';
import { DetailPane } from './detail';
import type { Visible } from './groups';
import { MAX_BOXES } from './groups';
import type { Placed } from './layout';
import { Scene } from './scene';
import { LossCurve } from './spark';

/** The autograd graph: modules as boxes that open, with numbers that follow the training step. */
export class GraphView {
  private readonly step = make('span', 'nbt-number', '–');
  private readonly loss = make('span', 'nbt-number', '–');
  private readonly title = make('span', 'nbt-soft nbt-graph-title');
  private readonly notice = make('div', 'nbt-notice', '', { role: 'status' });
  private readonly curve = new LossCurve();
  private readonly scene: Scene;
  private readonly pane: DetailPane;
  private state: State | null = null;
  private graphId: number | null = null;
  private nodes: ReadonlyMap<number, GraphNode> = new Map();
  private spoken = 0;
  private told = 0;
  private message = '';

  constructor(
    private readonly root: HTMLElement,
    private readonly host: Host
  ) {
    root.classList.add('nbt-graph');
    const stage = make('div', 'nbt-stage');
    this.scene = new Scene(stage, host, {
      selected: box => this.selected(box),
      placed: view => this.placed(view),
      refused: () => this.tell(host.tr('That would show more than %1 boxes. Close other modules first.', MAX_BOXES)),
      drawn: theme => this.drawn(theme)
    });
    this.pane = new DetailPane(host, {
      toggle: key => this.scene.toggle(key),
      close: () => this.scene.select(undefined)
    });
    stage.append(this.notice);
    stage.append(this.makeButtons());
    root.append(this.makeBar(), stage, this.pane.node);
  }

  dispose(): void {
    clearTimeout(this.told);
    this.scene.dispose();
    this.root.replaceChildren();
  }

  /** Draws a state; a new structure is laid out first, new numbers alone are only drawn. */
  update(state: State): void {
    this.state = state;
    const graph = state.graph;
    this.nodes = new Map((graph?.nodes ?? []).map(node => [node.id, node]));
    setText(this.step, graph ? String(graph.step) : '–');
    setText(this.loss, graph ? formatReal(graph.loss) : '–');
    this.loss.classList.toggle('nbt-broken', graph !== null && isBroken(graph.loss));
    // A graph drawn on its own, outside of training, has neither step nor loss.
    const still = state.link === 'saved' && graph !== null && graph.loss === null;
    this.root.classList.toggle('nbt-still', still);
    setText(this.title, graph?.title ?? '');
    this.curve.update(graph);
    this.scene.setValues(this.nodes);
    if ((graph?.graph ?? null) !== this.graphId) {
      this.graphId = graph?.graph ?? null;
      this.scene.setGraph(graph?.nodes ?? []);
    }
    // A screen reader cannot follow twenty numbers a second, nor need the page.
    if (performance.now() - this.spoken > 500) {
      this.spoken = performance.now();
      this.scene.speak();
    }
    this.showPane(this.scene.chosen);
    this.mark();
  }

  private makeBar(): HTMLElement {
    const { tr } = this.host;
    const bar = make('div', 'nbt-bar');
    const stat = (name: string, value: HTMLElement): HTMLElement => {
      const box = make('span', 'nbt-stat');
      box.append(make('span', 'nbt-soft', name), value);
      return box;
    };
    bar.append(stat(tr('Step'), this.step), stat(tr('Loss'), this.loss), this.curve.node, this.title);
    return bar;
  }

  private makeButtons(): HTMLElement {
    const { tr } = this.host;
    const buttons = make('div', 'nbt-buttons', '', { role: 'toolbar', 'aria-label': tr('Graph view') });
    buttons.append(
      makeButton('⊟', tr('Close all modules'), () => this.scene.setAll(false)),
      makeButton('⊞', tr('Open all modules'), () => this.scene.setAll(true)),
      makeButton('−', tr('Zoom out'), () => this.scene.zoom(1 / 1.3)),
      makeButton('+', tr('Zoom in'), () => this.scene.zoom(1.3)),
      makeButton('⤢', tr('Show the whole graph'), () => this.scene.fit(false))
    );
    return buttons;
  }

  private selected(box: Placed | undefined): void {
    if (box?.part.kind === 'node' && this.graphId !== null) {
      this.host.ask({ kind: 'request.detail', graph: this.graphId, node: box.part.node.id });
    }
    this.showPane(box);
  }

  private showPane(box: Placed | undefined): void {
    const detail = box?.part.kind === 'node' ? this.state?.details.get(box.part.node.id) : undefined;
    this.pane.show(
      box ? { part: box.part, open: box.open, detail, failure: this.state?.failure?.text ?? '' } : null,
      this.nodes
    );
  }

  private placed(view: Visible): void {
    this.root.dataset['nbtorchBoxes'] = String(view.boxes.length);
    this.root.dataset['nbtorchEdges'] = String(view.edges.length);
    this.mark();
  }

  private tell(text: string): void {
    clearTimeout(this.told);
    this.message = text;
    this.told = window.setTimeout(() => {
      this.message = '';
      this.mark();
    }, 5000);
    this.mark();
  }

  /** Says on the element what is shown, for readers of the page and for tests. */
  private mark(): void {
    const graph = this.state?.graph;
    this.root.dataset['nbtorchGraph'] = String(graph?.graph ?? '');
    this.root.dataset['nbtorchStep'] = String(graph?.step ?? '');
    this.root.dataset['nbtorchNodes'] = String(graph?.nodes.length ?? 0);
    this.root.dataset['nbtorchLoss'] = graph ? formatReal(graph.loss) : '';
    const label = graph ? this.host.tr('Autograd graph, %1 nodes', graph.nodes.length) : '';
    this.scene.canvas.setAttribute('aria-label', label);
    const cut = graph ? graph.total_nodes - graph.nodes.length : 0;
    setText(this.notice, this.message || (cut > 0 ? this.host.tr('%1 more nodes are not shown', cut) : ''));
  }

  private drawn(theme: Theme): void {
    this.curve.draw(theme);
    this.root.dataset['nbtorchDrawn'] = String(this.state?.graph?.step ?? '');
  }
}
