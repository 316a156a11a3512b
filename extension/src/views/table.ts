import { make } from '../dom';

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
export abstract class MessageView<M> {
  private shown: M | null = null;

  constructor(protected readonly root: HTMLElement) {
    root.classList.add('nbt-memory');
  }

  dispose(): void {
    this.root.replaceChildren();
  }

  protected show(message: M | null): void {
    if (message !== this.shown) {
      this.shown = message;
      this.root.replaceChildren(...(message === null ? [] : this.draw(message)));
    }
  }

  protected abstract draw(message: M): HTMLElement[];
}
