import type { Words } from './format';
import { plainWords } from './format';
import type { DetailRequest, Place, SnapshotRequest, TopRequest } from './messages.gen';

/** A request without its number, which the link gives. */
export type Ask = Omit<DetailRequest, 'request'> | Omit<SnapshotRequest, 'request'> | Omit<TopRequest, 'request'>;

/** What a view may ask of where it lives: a panel, an output, a widget. Views know no more of their host. */
export interface Host {
  /** Sends a request to the kernel; does nothing in a saved output. */
  ask(what: Ask): void;
  /** Shows the user the code at a place; null where that is impossible. */
  readonly reveal: ((place: Place) => void) | null;
  readonly tr: Words;
  /** Whether the mouse wheel zooms freely or only with Ctrl held. */
  readonly wheel: 'free' | 'ctrl';
}

/** The host of saved outputs: there is no kernel to ask. */
export const STILL: Host = { ask: () => undefined, reveal: null, tr: plainWords, wheel: 'ctrl' };
