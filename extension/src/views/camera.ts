import type { Layout } from './layout';

/** From layout to screen: x * k + camera.x. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly k: number;
}

const MIN_K = 0.03;
const MAX_K = 3;
const READABLE = 0.55;
const MARGIN = 16;

/** Shows the whole graph, or with `readable` as much as can still be read, from the top. */
export function fitCamera(layout: Layout, w: number, h: number, readable: boolean): Camera {
  const across = (w - 2 * MARGIN) / Math.max(1, layout.w);
  const all = Math.min(1, across, (h - 2 * MARGIN) / Math.max(1, layout.h));
  const k = readable && all < READABLE ? Math.min(1, Math.max(READABLE, across)) : Math.max(MIN_K, all);
  const top = layout.h * k > h - 2 * MARGIN ? MARGIN : (h - layout.h * k) / 2;
  return { k, x: (w - layout.w * k) / 2, y: top };
}

/** The camera after zooming by a factor about a point on screen. */
export function zoomCamera(camera: Camera, factor: number, x: number, y: number): Camera {
  const k = Math.min(MAX_K, Math.max(MIN_K, camera.k * factor));
  const change = k / camera.k;
  return { k, x: x - (x - camera.x) * change, y: y - (y - camera.y) * change };
}

export interface Hands {
  /** The camera moved by hand. */
  move(camera: Camera): void;
  /** The pointer is over this point of the layout, or over none. */
  hover(x: number, y: number, inside: boolean): void;
  press(x: number, y: number): void;
  doublePress(x: number, y: number): void;
}

/** Pans by dragging and zooms by the wheel; in a notebook's output only with Ctrl, as the page scrolls by the wheel. */
export function handleCanvas(canvas: HTMLCanvasElement, wheel: 'free' | 'ctrl', now: () => Camera, hands: Hands): void {
  let last: { x: number; y: number } | null = null;
  let dragged = false;
  const at = (event: MouseEvent): [number, number] => {
    const camera = now();
    const edge = canvas.getBoundingClientRect();
    return [(event.clientX - edge.left - camera.x) / camera.k, (event.clientY - edge.top - camera.y) / camera.k];
  };
  canvas.addEventListener('pointerdown', event => {
    last = { x: event.clientX, y: event.clientY };
    dragged = false;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', event => {
    hands.hover(...at(event), true);
    if (last === null) {
      return;
    }
    const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
    if (dragged || Math.hypot(dx, dy) > 4) {
      dragged = true;
      last = { x: event.clientX, y: event.clientY };
      const camera = now();
      hands.move({ ...camera, x: camera.x + dx, y: camera.y + dy });
    }
  });
  canvas.addEventListener('pointerup', event => {
    if (last !== null && !dragged) {
      hands.press(...at(event));
    }
    last = null;
  });
  canvas.addEventListener('pointercancel', () => (last = null));
  canvas.addEventListener('pointerleave', () => hands.hover(0, 0, false));
  canvas.addEventListener('dblclick', event => hands.doublePress(...at(event)));
  canvas.addEventListener(
    'wheel',
    event => {
      if (wheel === 'ctrl' && !event.ctrlKey && !event.metaKey) {
        return;
      }
      event.preventDefault();
      const edge = canvas.getBoundingClientRect();
      const factor = Math.exp(-Math.max(-60, Math.min(60, event.deltaY)) / 250);
      hands.move(zoomCamera(now(), factor, event.clientX - edge.left, event.clientY - edge.top));
    },
    { passive: false }
  );
}
