import type { GraphNode, Place } from './messages.gen';

/** A number as the kernel sends it: NaN and infinity are words, as JSON has none. */
export type Real = GraphNode['value'];

/** Translates a text; `%1` stands for the first value. */
export type Words = (text: string, ...values: (string | number)[]) => string;

/** For hosts without translations. */
export const plainWords: Words = (text, ...values) =>
  text.replace(/%(\d)/g, (_, index: string) => String(values[Number(index) - 1] ?? ''));

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];

/** 1_234_567 as "1.23 MB"; decimal units, as the kernel's tables have them. */
export function formatBytes(bytes: number): string {
  let value = Math.abs(bytes);
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${bytes < 0 ? '−' : ''}${value.toFixed(digits)} ${UNITS[unit] ?? ''}`;
}

/** Four significant digits at a steady width, so that numbers that change each step do not jump. */
export function formatReal(value: Real): string {
  if (value === null) {
    return '–';
  }
  if (typeof value === 'string') {
    return value === 'nan' ? 'NaN' : value === 'inf' ? '∞' : '−∞';
  }
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) {
    return value.toExponential(2).replace('-', '−').replace('e-', 'e−');
  }
  const digits = size >= 1000 ? 1 : size >= 100 ? 2 : size >= 10 ? 3 : 4;
  return value.toFixed(digits).replace('-', '−');
}

/** Whether a number is lost: NaN or infinite. */
export function isBroken(value: Real): boolean {
  return typeof value === 'string';
}

/** Microseconds as "812 µs", "8.12 ms" or "1.25 s". */
export function formatMicros(micros: number): string {
  const [value, unit] = micros < 999.5 ? [micros, 'µs'] : micros < 999_500 ? [micros / 1e3, 'ms'] : [micros / 1e6, 's'];
  return `${value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)} ${unit}`;
}

/** A shape as "32×64"; a scalar is "scalar". */
export function formatShape(shape: number[]): string {
  return shape.length === 0 ? 'scalar' : shape.join('×');
}

const SHORT: Record<string, string> = {
  float16: 'f16',
  float32: 'f32',
  float64: 'f64',
  bfloat16: 'bf16',
  complex64: 'c64',
  complex128: 'c128',
  int64: 'i64',
  int32: 'i32',
  int16: 'i16',
  int8: 'i8',
  uint8: 'u8'
};

/** A dtype as boxes show it. */
export function shortDtype(dtype: string): string {
  return Object.hasOwn(SHORT, dtype) ? (SHORT[dtype] ?? dtype) : dtype;
}

/** An op's name without what autograd adds to it. */
export function shortOp(op: string): string {
  return op.replace(/Backward\d*$/, '') || op;
}

/** A place as "In [4], line 7" or "model.py, line 7"; '' if unknown. */
export function formatPlace(place: Place | null, tr: Words): string {
  if (place === null) {
    return '';
  }
  const where = place.run !== null ? tr('In [%1]', place.run) : place.file;
  return place.line === null ? where : tr('%1, line %2', where, place.line);
}
