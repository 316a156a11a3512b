import { make, setText } from '../dom';
import type { Words } from '../format';
import type { GraphNode } from '../messages.gen';
import { labelOf } from './draw';
import type { Placed } from './layout';

export interface OutlineHands {
  select(key: string): void;
  toggle(key: string, open: boolean): void;
  activate(key: string): void;
}

/** The boxes as a tree that keyboards and screen readers can walk; it says what the canvas shows. */
export class Outline {
  readonly node: HTMLUListElement;
  private placed: readonly Placed[] = [];
  private items = new Map<string, HTMLLIElement>();
  private current = '';

  constructor(
    private readonly tr: Words,
    private readonly hands: OutlineHands
  ) {
    this.node = make('ul', 'nbt-outline', '', {
      role: 'tree',
      'aria-label': tr('Graph outline'),
      'data-lm-suppress-shortcuts': 'true'
    });
    this.node.addEventListener('keydown', event => this.onKey(event));
    this.node.addEventListener('click', event => {
      const key = event.target instanceof HTMLElement ? event.target.dataset['nbtorchKey'] : undefined;
      if (key !== undefined) {
        this.focus(key);
        this.hands.select(key);
      }
    });
  }

  /** Rebuilds the tree for a new layout. */
  setLayout(placed: readonly Placed[], nodes: ReadonlyMap<number, GraphNode>): void {
    const hadFocus = this.node.contains(document.activeElement);
    this.placed = placed;
    this.items = new Map(
      placed.map(box => [
        box.part.key,
        make('li', 'nbt-outline-item', '', {
          role: 'treeitem',
          tabindex: '-1',
          'aria-level': String(box.depth + 1),
          'data-nbtorch-key': box.part.key,
          style: `padding-left: ${8 + 12 * box.depth}px`,
          ...(box.part.kind === 'group' ? { 'aria-expanded': String(box.open) } : {})
        })
      ])
    );
    this.node.replaceChildren(...this.items.values());
    this.setValues(nodes);
    this.mark(this.items.has(this.current) ? this.current : (placed[0]?.part.key ?? ''));
    if (hadFocus) {
      this.items.get(this.current)?.focus({ preventScroll: true });
    }
  }

  /** Renews the texts, which hold each box's number. */
  setValues(nodes: ReadonlyMap<number, GraphNode>): void {
    for (const box of this.placed) {
      const item = this.items.get(box.part.key);
      const label = labelOf(box.part, nodes, this.tr);
      if (item) {
        const value = label.value === '' ? '' : `${label.valueName} ${label.value}`.trim();
        setText(item, [label.title, label.kind, label.shape, value].filter(each => each !== '').join(', '));
      }
    }
  }

  /**
   * Moves the focus to a box without scrolling the page. After a click on the canvas the outline stays unseen: browsers
   * call a focus visible that scripts take from an editor, and it would cover what was clicked.
   */
  focus(key: string, seen = true): void {
    this.node.classList.toggle('nbt-unseen', !seen);
    this.mark(key);
    this.items.get(key)?.focus({ preventScroll: true });
  }

  private mark(key: string): void {
    const before = this.items.get(this.current);
    before?.setAttribute('tabindex', '-1');
    before?.removeAttribute('aria-selected');
    this.current = key;
    const item = this.items.get(key);
    item?.setAttribute('tabindex', '0');
    item?.setAttribute('aria-selected', 'true');
  }

  private move(index: number): void {
    const box = this.placed[Math.max(0, Math.min(this.placed.length - 1, index))];
    if (box) {
      this.focus(box.part.key);
      this.items.get(box.part.key)?.scrollIntoView({ block: 'nearest' });
      this.hands.select(box.part.key);
    }
  }

  private onKey(event: KeyboardEvent): void {
    this.node.classList.remove('nbt-unseen');
    const index = this.placed.findIndex(box => box.part.key === this.current);
    const box = this.placed[index];
    const moves: Record<string, () => void> = {
      ArrowDown: () => this.move(index + 1),
      ArrowUp: () => this.move(index - 1),
      Home: () => this.move(0),
      End: () => this.move(this.placed.length - 1),
      ArrowRight: () =>
        box && !box.open && box.part.kind === 'group' ? this.hands.toggle(box.part.key, true) : this.move(index + 1),
      ArrowLeft: () => (box?.open ? this.hands.toggle(box.part.key, false) : this.move(this.parentOf(index))),
      Enter: () => box && this.hands.activate(box.part.key),
      ' ': () => box && this.hands.activate(box.part.key)
    };
    const act = Object.hasOwn(moves, event.key) ? moves[event.key] : undefined;
    if (act && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      event.stopPropagation();
      act();
    }
  }

  private parentOf(index: number): number {
    const depth = this.placed[index]?.depth ?? 0;
    for (let at = index - 1; at >= 0; at--) {
      if ((this.placed[at]?.depth ?? 0) < depth) {
        return at;
      }
    }
    return index;
  }
}
