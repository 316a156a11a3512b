import type { Kept, Messages, Newest } from '../store';

/** What a view does with the newest message of each kind that it draws; null when it is gone. */
export type Draws<K extends Kept> = { readonly [P in K]: (message: Messages[P] | null) => void };

/** The kinds that a view draws. */
export type DrawnBy<V> = V extends { readonly draws: infer D } ? keyof D : never;

/** Compiles for nothing but `never`: whatever is left over is named in the error. */
export type Nothing<T extends never> = T;

/** Has a view draw what changed; returns what it has drawn. */
export function drawNewest<K extends Kept>(draws: Draws<K>, newest: Newest, drawn: Newest): Newest {
  for (const kind of Object.keys(draws) as K[]) {
    if (newest[kind] !== drawn[kind]) {
      draws[kind](newest[kind] ?? null);
    }
  }
  return newest;
}
