import schema from '../schema/messages.schema.json';
import type { Batch } from './messages.gen';
import { VERSION } from './messages.gen';

/** The part of JSON schema that nbtorch/events/schema.py writes. */
interface Rule {
  $ref?: string;
  anyOf?: Rule[];
  const?: string;
  enum?: string[];
  type?: string;
  maxLength?: number;
  maxItems?: number;
  items?: Rule;
  properties?: Record<string, Rule>;
  required?: string[];
}

/** A batch with more values than this is refused; the largest graph the kernel may send has about half. */
const MAX_VALUES = 400_000;
const TOO_LARGE = 'batch is too large';
let visited = 0;

const definitions = schema.definitions as unknown as Record<string, Rule>;

type Fields = Record<string, unknown>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function resolve(rule: Rule): Rule {
  const name = rule.$ref?.slice('#/definitions/'.length);
  return name === undefined ? rule : (definitions[name] ?? {});
}

function hasType(value: unknown, type: string | undefined): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isFields(value);
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

/** Where and how the value breaks the rule, or '' if it does not. */
function fault(value: unknown, raw: Rule, where: string): string {
  const rule = resolve(raw);
  visited += 1;
  if (visited > MAX_VALUES) {
    return TOO_LARGE;
  }
  if (rule.anyOf) {
    return unionFault(value, rule.anyOf, where);
  }
  const words = rule.enum ?? (rule.const === undefined ? undefined : [rule.const]);
  if (words) {
    return words.some(word => word === value) ? '' : `${where} is not an allowed word`;
  }
  if (!hasType(value, rule.type)) {
    return `${where} is not of type ${rule.type ?? 'any'}`;
  }
  if (typeof value === 'string') {
    // Python counts code points and JavaScript counts code units, so count as Python does.
    const long = value.length > (rule.maxLength ?? Infinity) && Array.from(value).length > (rule.maxLength ?? Infinity);
    return long ? `${where} is too long` : '';
  }
  if (Array.isArray(value)) {
    return listFault(value, rule, where);
  }
  return isFields(value) ? objectFault(value, rule, where) : '';
}

function unionFault(value: unknown, options: Rule[], where: string): string {
  if (isFields(value)) {
    const kind = value['kind'];
    const named = options.find(each => kind !== undefined && resolve(each).properties?.['kind']?.const === kind);
    if (named) {
      return fault(value, named, where);
    }
  }
  return options.some(each => fault(value, each, where) === '') ? '' : `${where} is none of the allowed types`;
}

function listFault(value: unknown[], rule: Rule, where: string): string {
  if (value.length > (rule.maxItems ?? Infinity)) {
    return `${where} has too many items`;
  }
  for (let index = 0; index < value.length && rule.items; index++) {
    const found = fault(value[index], rule.items, `${where}[${index}]`);
    if (found) {
      return found;
    }
  }
  return '';
}

function objectFault(value: Fields, rule: Rule, where: string): string {
  const properties = rule.properties ?? {};
  for (const name of rule.required ?? []) {
    if (!Object.hasOwn(value, name)) {
      return `${where}.${name} is missing`;
    }
  }
  for (const [name, each] of Object.entries(value)) {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const found = own ? fault(each, own, `${where}.${name}`) : `${where} has an unknown field`;
    if (found) {
      return found;
    }
  }
  return '';
}

export type Read = { batch: Batch } | { version: number } | { fault: string };

/** Reads what a comm or a saved output holds: a batch, or why it is none. */
export function readBatch(data: unknown): Read {
  if (isFields(data) && Number.isInteger(data['version']) && data['version'] !== VERSION) {
    return { version: data['version'] as number };
  }
  visited = 0;
  const found = fault(data, { $ref: '#/definitions/Batch' }, 'batch');
  return found ? { fault: visited > MAX_VALUES ? TOO_LARGE : found } : { batch: data as Batch };
}
