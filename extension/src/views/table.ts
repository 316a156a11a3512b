import { make } from '../dom';
import type { Kept, Messages, Newest, State } from '../store';
import type { Draws } from './newest';
import { drawNewest } from './newest';

export interface Column {
  readonly title: string;
  /** Numbers stand at the right. */
  readonly number?: boolean;
}

export interface Card {
  readonly name: string;
  readonly value: string;
  readonly broken?: boolean;
}

/** A table of texts; the first column takes the width that is left. */
export function makeTable(
  columns: readonly Column[],
  rows: readonly (readonly (string | HTMLElement)[])[]
): HTMLElement {
  const table = make('table', 'nbt-table');
  const head = make('tr');
  columns.forEach(each => head.append(make('th', each.number ? 'nbt-right' : '', each.title, { scope: 'col' })));
  table.append(head);
  for (const cells of rows) {
    const row = make('tr');
    cells.forEach((each, index) => {
      const right = columns[index]?.number ? 'nbt-number nbt-right' : '';
      const cell = make('td', index === 0 ? 'nbt-wide nbt-ellipsis' : right);
      cell.append(each);
      if (index === 0 && typeof each === 'string') {
        cell.title = each;
      }
      row.append(cell);
    });
    table.append(row);
  }
  return table;
}

/** Large numbers with their names. */
export function makeCards(cards: readonly Card[]): HTMLElement {
  const box = make('div', 'nbt-cards');
  for (const { name, value, broken } of cards) {
    const card = make('div', 'nbt-card');
    card.append(make('div', 'nbt-soft', name));
    card.append(make('div', `nbt-card-value nbt-number${broken ? ' nbt-broken' : ''}`, value));
    box.append(card);
  }
  return box;
}

/** A view that is made anew whenever its message changes. */
export abstract class MessageView<K extends Kept> {
  abstract readonly draws: Draws<K>;
  private drawn: Newest = {};

  constructor(protected readonly root: HTMLElement) {
    root.classList.add('nbt-memory');
  }

  dispose(): void {
    this.root.replaceChildren();
  }

  update(state: State): void {
    this.drawn = drawNewest(this.draws, state.newest, this.drawn);
  }

  protected show(message: Messages[K] | null): void {
    this.root.replaceChildren(...(message === null ? [] : this.draw(message)));
  }

  protected abstract draw(message: Messages[K]): HTMLElement[];
}
