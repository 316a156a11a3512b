import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Batch, GraphNode, GraphSnapshot } from '../messages.gen';
import type { State } from '../store';
import { EMPTY, reduceBatch } from '../store';

const FOLDER = join(__dirname, '..', '..', '..', 'tests', 'notebook', 'golden');

/** The names of the batches that Python's tests write and check. */
export const NAMES = [
  'graph_mlp',
  'graph_transformer',
  'graph_values',
  'graph_hostile',
  'graph_detail',
  'memory',
  'others'
] as const;

export type Name = (typeof NAMES)[number];

export function raw(name: Name | 'requests'): unknown {
  return JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8'));
}

export function golden(name: Name): Batch {
  return raw(name) as Batch;
}

export function stateOf(...names: Name[]): State {
  return names.map(golden).reduce(reduceBatch, EMPTY);
}

export function graphOf(name: Name): GraphSnapshot {
  const graph = stateOf(name).graph;
  if (graph === null) {
    throw new Error(`${name} holds no graph`);
  }
  return graph;
}

/** A node for layouts made up in tests. */
export function makeNode(id: number, module: string, inputs: number[]): GraphNode {
  return {
    id,
    op: 'Op',
    role: 'op',
    name: '',
    module,
    module_type: '',
    place: null,
    shapes: [],
    dtypes: [],
    saved_bytes: 0,
    freed: false,
    value: null,
    value_name: '',
    inputs
  };
}
