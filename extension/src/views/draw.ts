import type { Words } from '../format';
import { formatBytes, formatReal, formatShape, isBroken, shortDtype, shortOp } from '../format';
import type { GraphNode } from '../messages.gen';
import type { Theme } from '../theme';
import type { Camera } from './camera';
import type { Part } from './groups';
import type { Layout, Placed } from './layout';
import { HEADER } from './layout';
import type { Route } from './routes';

/** All that one frame needs. */
export interface Frame {
  readonly context: CanvasRenderingContext2D;
  readonly w: number;
  readonly h: number;
  readonly camera: Camera;
  readonly layout: Layout;
  readonly theme: Theme;
  /** The newest numbers of each node. */
  readonly nodes: ReadonlyMap<number, GraphNode>;
  /** Backward has freed some nodes and not others, so freed ones are told apart. */
  readonly freeing: boolean;
  readonly selected: string;
  readonly hovered: string;
  readonly tr: Words;
}

/** What a box says: its name and kind, its shape, its number. */
export interface Label {
  readonly title: string;
  readonly kind: string;
  readonly shape: string;
  readonly valueName: string;
  readonly value: string;
  readonly bytes: string;
  readonly broken: boolean;
  readonly freed: boolean;
  readonly colour: 'brand' | 'op' | 'parameter' | 'input' | 'loss';
}

function shapeOf(node: GraphNode): string {
  const shape = node.shapes[0];
  const dtype = node.dtypes[0];
  const more = node.shapes.length > 1 ? ` +${node.shapes.length - 1}` : '';
  return shape === undefined ? '' : `${formatShape(shape)}${dtype === undefined ? '' : ` ${shortDtype(dtype)}`}${more}`;
}

/** The texts of a box with its newest numbers. */
export function labelOf(part: Part, nodes: ReadonlyMap<number, GraphNode>, tr: Words): Label {
  const own = part.kind === 'group' ? part.output : part.node;
  const node = nodes.get(own.id) ?? own;
  const members = part.kind === 'group' ? part.members.map(each => nodes.get(each.id) ?? each) : [node];
  const ops = members.filter(each => each.role !== 'parameter').length;
  const bytes = members.reduce((sum, each) => sum + each.saved_bytes, 0);
  const holds = members.some(each => each.saved_bytes > 0);
  const title =
    part.kind === 'group' ? part.name : node.role === 'op' ? shortOp(node.op) : node.name || shortOp(node.op);
  const count = ops === 1 ? tr('1 op') : tr('%1 ops', ops);
  return {
    title,
    kind: part.kind === 'group' ? part.type || count : node.role === 'op' ? node.name : '',
    shape: shapeOf(node),
    valueName: node.value === null ? '' : node.value_name,
    value: node.value === null ? '' : formatReal(node.value),
    bytes: bytes > 0 ? formatBytes(bytes) : '',
    broken: members.some(each => isBroken(each.value)),
    freed: holds && members.every(each => each.freed || each.saved_bytes === 0),
    colour: part.kind === 'group' ? 'brand' : node.role
  };
}

const fitted = new Map<string, string>();

/** The text, cut with an ellipsis to the width under the context's font. */
function fit(context: CanvasRenderingContext2D, text: string, width: number): string {
  const key = `${context.font}|${Math.round(width)}|${text}`;
  const known = fitted.get(key);
  if (known !== undefined) {
    return known;
  }
  let cut = text;
  if (context.measureText(text).width > width) {
    let [low, high] = [0, text.length];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (context.measureText(`${text.slice(0, middle)}…`).width <= width) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    cut = low === 0 ? '' : `${text.slice(0, low)}…`;
  }
  if (fitted.size > 8000) {
    fitted.clear(); // numbers change each step, so old texts would pile up
  }
  fitted.set(key, cut);
  return cut;
}

function drawRoute(frame: Frame, route: Route): void {
  const { context, theme, selected, camera } = frame;
  const first = route.points[0];
  const last = route.points[route.points.length - 1];
  if (!first || !last) {
    return;
  }
  const near = selected !== '' && (route.from === selected || route.to === selected);
  context.strokeStyle = near ? theme.brand : theme.edge;
  context.lineWidth = (near ? 2 : 1.25) / Math.max(0.5, Math.min(1, camera.k));
  context.setLineDash(route.back ? [5, 4] : []);
  context.beginPath();
  context.moveTo(first.x, first.y);
  let from = first;
  const sign = route.back ? -1 : 1;
  for (const to of route.points.slice(1)) {
    const bend = Math.abs(to.x - from.x) < 0.5 ? 0 : sign * Math.max(12, Math.abs(to.y - from.y) / 2);
    context.bezierCurveTo(from.x, from.y + bend, to.x, to.y - bend, to.x, to.y);
    from = to;
  }
  context.stroke();
  context.setLineDash([]);
  if (camera.k > 0.3) {
    context.fillStyle = context.strokeStyle;
    context.beginPath();
    context.moveTo(last.x, last.y);
    context.lineTo(last.x - 4, last.y - 7 * sign);
    context.lineTo(last.x + 4, last.y - 7 * sign);
    context.fill();
  }
}

function outline(context: CanvasRenderingContext2D, box: Placed, radius: number): void {
  context.beginPath();
  context.roundRect(box.x, box.y, box.w, box.h, radius);
}

function drawOpen(frame: Frame, box: Placed): void {
  const { context, theme, camera } = frame;
  outline(context, box, 8);
  context.fillStyle = theme.open;
  context.fill();
  context.lineWidth = box.part.key === frame.selected ? 2 : 1;
  context.strokeStyle = box.part.key === frame.selected ? theme.brand : theme.border;
  context.stroke();
  if (camera.k < 0.25 || box.part.kind !== 'group') {
    return;
  }
  context.textAlign = 'left';
  context.font = `600 12px ${theme.font}`;
  context.fillStyle = theme.soft;
  const type = box.part.type;
  const text = `▾ ${box.part.name}${type ? `  ${type}` : ''}`;
  context.fillText(fit(context, text, box.w - 20), box.x + 10, box.y + HEADER / 2 + 4);
}

function drawClosed(frame: Frame, box: Placed): void {
  const { context, theme, camera, tr } = frame;
  const label = labelOf(box.part, frame.nodes, tr);
  const selected = box.part.key === frame.selected;
  const freed = label.freed && frame.freeing;
  context.globalAlpha = freed ? 0.6 : 1;
  outline(context, box, 6);
  context.fillStyle =
    box.part.key === frame.hovered ? theme.boxHover : box.part.kind === 'group' ? theme.group : theme.box;
  context.fill();
  context.save();
  context.clip();
  context.fillStyle = label.broken ? theme.broken : theme[label.colour];
  context.fillRect(box.x, box.y, 4, box.h);
  context.restore();
  outline(context, box, 6);
  context.lineWidth = selected ? 2 : 1;
  context.strokeStyle = selected ? theme.brand : label.broken ? theme.broken : theme.border;
  context.setLineDash(freed ? [4, 3] : []);
  context.stroke();
  context.setLineDash([]);
  if (camera.k >= 0.22) {
    drawTexts(frame, box, label);
  }
  context.globalAlpha = 1;
}

function drawTexts({ context, theme, camera }: Frame, box: Placed, label: Label): void {
  const [left, right] = [box.x + 12, box.x + box.w - 10];
  const width = right - left;
  const both = (a: string, b: string, y: number, fontB: string, colourB: string): void => {
    const shownB = b === '' ? '' : (context.font = fontB) && fit(context, b, width * 0.62);
    const widthB = shownB === '' ? 0 : context.measureText(shownB).width + 8;
    context.textAlign = 'right';
    context.fillStyle = colourB;
    context.fillText(shownB, right, y);
    context.textAlign = 'left';
    context.font = y < box.y + 20 ? `600 12px ${theme.font}` : `11px ${theme.font}`;
    context.fillStyle = y < box.y + 20 ? theme.text : theme.soft;
    context.fillText(fit(context, a, width - widthB), left, y);
  };
  const small = `11px ${theme.font}`;
  const number = `600 11px ${theme.font}`;
  const value = label.broken ? theme.broken : theme.text;
  if (camera.k < 0.42) {
    both(label.title, '', box.y + 17, small, theme.soft);
  } else if (box.h < 50) {
    both(label.title, label.shape.split(' ')[0] ?? '', box.y + 15, small, theme.soft);
    both(label.valueName, label.value, box.y + 30, number, value);
  } else {
    both(label.title, label.kind, box.y + 17, small, theme.soft);
    both(label.shape, label.bytes, box.y + 33, small, theme.soft);
    both(label.valueName, label.value, box.y + 49, number, value);
  }
}

/** Draws the boxes and edges that the camera sees. */
export function drawGraph(frame: Frame): void {
  const { context, camera, w, h, layout } = frame;
  context.fillStyle = frame.theme.back;
  context.fillRect(0, 0, w, h);
  context.save();
  context.translate(camera.x, camera.y);
  context.scale(camera.k, camera.k);
  const [left, top] = [-camera.x / camera.k, -camera.y / camera.k];
  const [right, bottom] = [left + w / camera.k, top + h / camera.k];
  const seen = layout.placed.filter(
    box => box.x < right && box.x + box.w > left && box.y < bottom && box.y + box.h > top
  );
  seen.filter(box => box.open).forEach(box => drawOpen(frame, box));
  for (const route of layout.routes) {
    const ys = route.points.map(point => point.y);
    if (Math.min(...ys) < bottom && Math.max(...ys) > top) {
      drawRoute(frame, route);
    }
  }
  seen.filter(box => !box.open).forEach(box => drawClosed(frame, box));
  context.restore();
}
