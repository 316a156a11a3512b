import { make, onThemeChange, prepareCanvas } from '../dom';
import type { Host } from '../host';
import type { GraphNode } from '../messages.gen';
import type { Theme } from '../theme';
import { readTheme } from '../theme';
import type { Camera } from './camera';
import { fitCamera, handleCanvas, zoomCamera } from './camera';
import { drawGraph } from './draw';
import type { Visible } from './groups';
import type { Layout, Placed } from './layout';
import { finishInSlices, layoutGraph } from './layout';
import { Modules } from './modules';
import { Outline } from './outline';

const NOTHING: Layout = { w: 0, h: 0, placed: [], routes: [] };

export interface SceneHands {
  /** The user chose a box, or none. */
  selected(box: Placed | undefined): void;
  /** Boxes were placed anew. */
  placed(view: Visible): void;
  refused(): void;
  drawn(theme: Theme): void;
}

/** The canvas with its boxes, and the outline that says the same to keyboards and screen readers. */
export class Scene {
  readonly canvas = make('canvas', 'nbt-canvas', '', { role: 'img' });
  private readonly outline: Outline;
  private readonly stops: (() => void)[] = [];
  private readonly modules = new Modules();
  private layout = NOTHING;
  private nodes: ReadonlyMap<number, GraphNode> = new Map();
  private camera: Camera = { x: 0, y: 0, k: 1 };
  private freeing = false;
  private moved = false;
  private selected = '';
  private hovered = '';
  private theme: Theme | null = null;
  private run = 0;
  private frame = 0;

  constructor(
    private readonly stage: HTMLElement,
    private readonly host: Host,
    private readonly hands: SceneHands
  ) {
    this.outline = new Outline(host.tr, {
      select: key => this.select(this.find(key)),
      toggle: key => this.toggle(key),
      activate: key => this.activate(this.find(key))
    });
    stage.append(this.canvas, this.outline.node);
    handleCanvas(this.canvas, host.wheel, () => this.camera, {
      move: camera => this.look(camera, true),
      hover: (x, y, inside) => this.hover(inside ? this.boxAt(x, y) : undefined),
      press: (x, y) => this.press(this.boxAt(x, y)),
      doublePress: (x, y) => this.activate(this.boxAt(x, y))
    });
    this.stops.push(onThemeChange(() => this.restyle()));
    const sizes = new ResizeObserver(() => (this.moved ? this.refresh() : this.fit(true)));
    sizes.observe(stage);
    this.stops.push(() => sizes.disconnect());
  }

  dispose(): void {
    this.run += 1;
    cancelAnimationFrame(this.frame);
    this.stops.forEach(stop => stop());
  }

  /** Takes a new structure and lays it out. What was chosen stays so, if it is there: last batches are often smaller. */
  setGraph(nodes: readonly GraphNode[]): void {
    const part = this.chosen?.part;
    const same = part?.kind === 'node' ? nodes.find(node => node.id === part.node.id) : undefined;
    this.modules.setNodes(nodes);
    if (part?.kind === 'node' && (same?.op !== part.node.op || same.name !== part.node.name)) {
      this.select(undefined);
    }
    void this.place('').then(() => this.hands.selected(this.chosen));
  }

  /** Takes new numbers and draws them in the next frame. */
  setValues(nodes: ReadonlyMap<number, GraphNode>): void {
    this.nodes = nodes;
    const saving = [...nodes.values()].filter(node => node.saved_bytes > 0);
    this.freeing = saving.some(node => !node.freed);
    this.refresh();
  }

  /** Brings the outline's texts up to date. */
  speak(): void {
    this.outline.setValues(this.nodes);
  }

  /** The chosen box, where it is now. */
  get chosen(): Placed | undefined {
    return this.find(this.selected);
  }

  toggle(key: string): void {
    if (this.modules.toggle(key)) {
      void this.place(key).then(() => this.hands.selected(this.chosen));
    } else {
      this.hands.refused();
    }
  }

  setAll(opening: boolean): void {
    if (this.modules.setAll(opening)) {
      this.moved = false;
      void this.place('');
    } else {
      this.hands.refused();
    }
  }

  select(box: Placed | undefined): void {
    this.selected = box?.part.key ?? '';
    if (box) {
      this.bringIntoView(box);
    }
    this.hands.selected(box);
    this.refresh();
  }

  zoom(factor: number): void {
    this.look(zoomCamera(this.camera, factor, this.stage.clientWidth / 2, this.stage.clientHeight / 2), true);
  }

  /** Shows the whole graph, or with `readable` what can be read of it. */
  fit(readable: boolean): void {
    this.moved = false;
    this.look(fitCamera(this.layout, this.stage.clientWidth, this.stage.clientHeight, readable), false);
  }

  /** Lays the visible boxes out, keeping the box of `anchor` where it is on screen. */
  private async place(anchor: string): Promise<void> {
    const run = ++this.run;
    const view = this.modules.visible();
    const layout = await finishInSlices(layoutGraph(view, this.modules.open), () => run !== this.run);
    if (layout === null || run !== this.run) {
      return;
    }
    const before = this.find(anchor);
    this.layout = layout;
    const after = this.find(anchor);
    if (before && after) {
      const { x, y, k } = this.camera;
      const dx = before.x + before.w / 2 - after.x - after.w / 2;
      this.camera = { k, x: x + dx * k, y: y + (before.y - after.y) * k };
    } else if (!this.moved) {
      this.fit(true);
    }
    this.outline.setLayout(layout.placed, this.nodes);
    this.hands.placed(view);
    this.refresh();
  }

  private activate(box: Placed | undefined): void {
    if (box?.part.kind === 'group') {
      this.toggle(box.part.key);
    } else {
      this.select(box);
    }
  }

  private press(box: Placed | undefined): void {
    if (box) {
      this.outline.focus(box.part.key, false);
    }
    this.select(box);
  }

  private bringIntoView(box: Placed): void {
    const { x, y, k } = this.camera;
    const [w, h] = [this.stage.clientWidth, this.stage.clientHeight];
    const [left, top] = [box.x * k + x, box.y * k + y];
    if (left + box.w * k < 20 || left > w - 20 || top + box.h * k < 10 || top > h - 20) {
      const [cx, cy] = [box.x + box.w / 2, box.y + Math.min(box.h, 60) / 2];
      this.look({ k, x: w / 2 - cx * k, y: h / 2 - cy * k }, true);
    }
  }

  private hover(box: Placed | undefined): void {
    const key = box?.part.key ?? '';
    if (key !== this.hovered) {
      this.hovered = key;
      this.canvas.style.cursor = key === '' ? 'grab' : 'pointer';
      const path = box?.part.kind === 'group' ? box.part.path : '';
      this.canvas.title = path === '' ? '' : this.host.tr('%1: double-click to open or close', path);
      this.refresh();
    }
  }

  private find(key: string): Placed | undefined {
    return key === '' ? undefined : this.layout.placed.find(box => box.part.key === key);
  }

  /** The innermost box at a point of the layout; inner boxes come after what holds them. */
  private boxAt(x: number, y: number): Placed | undefined {
    return this.layout.placed.findLast(box => x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.h);
  }

  private look(camera: Camera, byHand: boolean): void {
    this.camera = camera;
    this.moved ||= byHand;
    this.refresh();
  }

  private restyle(): void {
    this.theme = null;
    this.refresh();
  }

  private refresh(): void {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    const [w, h] = [this.stage.clientWidth, this.stage.clientHeight];
    const context = w > 0 && h > 0 ? prepareCanvas(this.canvas, w, h) : null;
    if (context === null) {
      return;
    }
    const theme = (this.theme ??= readTheme(this.stage));
    const { camera, layout, nodes, freeing, selected, hovered } = this;
    drawGraph({ context, w, h, camera, layout, theme, nodes, freeing, selected, hovered, tr: this.host.tr });
    this.hands.drawn(theme);
  }
}
