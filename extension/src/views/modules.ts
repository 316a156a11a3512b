import type { GraphNode } from '../messages.gen';
import type { Group, Part, Visible } from './groups';
import { MAX_BOXES, buildTree, countBoxes, openAtFirst, visible } from './groups';

/** Which modules of a graph are open. Choices outlive the graph, as each new step may bring a new one. */
export class Modules {
  private parts: Part[] = [];
  private chosen = new Map<string, boolean>();
  private openKeys: ReadonlySet<string> = new Set();

  get open(): ReadonlySet<string> {
    return this.openKeys;
  }

  setNodes(nodes: readonly GraphNode[]): void {
    this.parts = buildTree(nodes);
    const open = openAtFirst(this.parts);
    this.chosen.forEach((isOpen, key) => (isOpen ? open.add(key) : open.delete(key)));
    this.openKeys = countBoxes(this.parts, open) > MAX_BOXES ? openAtFirst(this.parts) : open;
  }

  visible(): Visible {
    return visible(this.parts, this.openKeys);
  }

  /** Opens or closes one module; false if there would be too many boxes. */
  toggle(key: string): boolean {
    const open = new Set(this.openKeys);
    const opening = !open.delete(key);
    if (opening) {
      open.add(key);
    }
    return this.accept(open, [key], opening);
  }

  /** Opens or closes all modules; false if there would be too many boxes. */
  setAll(opening: boolean): boolean {
    const keys = allGroups(this.parts).map(group => group.key);
    return this.accept(new Set(opening ? keys : []), keys, opening);
  }

  private accept(open: ReadonlySet<string>, keys: readonly string[], opening: boolean): boolean {
    if (opening && countBoxes(this.parts, open) > MAX_BOXES) {
      return false;
    }
    keys.forEach(key => this.chosen.set(key, opening));
    this.openKeys = open;
    return true;
  }
}

function allGroups(parts: readonly Part[]): Group[] {
  return parts.flatMap(part => (part.kind === 'group' ? [part, ...allGroups(part.parts)] : []));
}
