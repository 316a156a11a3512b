import { make, prepareCanvas } from '../dom';
import type { GraphSnapshot } from '../messages.gen';
import type { Theme } from '../theme';

const W = 84;
const H = 22;
const KEPT = 240;

/** The loss of the last steps as a small curve; a loss that is no number breaks it. */
export class LossCurve {
  readonly node = make('canvas', 'nbt-spark', '', { 'aria-hidden': 'true' });
  private steps: { step: number; loss: number }[] = [];

  /** Takes the newest step's loss; starts anew when steps start again. */
  update(graph: GraphSnapshot | null): void {
    const last = this.steps[this.steps.length - 1];
    if (graph === null || (last && graph.step < last.step)) {
      this.steps = [];
    }
    if (graph !== null && graph.step !== this.steps[this.steps.length - 1]?.step) {
      this.steps.push({ step: graph.step, loss: typeof graph.loss === 'number' ? graph.loss : NaN });
      this.steps = this.steps.slice(-KEPT);
    }
    this.node.hidden = this.steps.length < 2;
  }

  draw(theme: Theme): void {
    const context = this.node.hidden ? null : prepareCanvas(this.node, W, H);
    if (context === null) {
      return;
    }
    const known = this.steps.filter(each => !Number.isNaN(each.loss));
    const [low, high] = known.reduce(
      ([a, b], { loss }) => [Math.min(a, loss), Math.max(b, loss)],
      [Infinity, -Infinity]
    );
    const first = this.steps[0]?.step ?? 0;
    const span = Math.max(1, (this.steps[this.steps.length - 1]?.step ?? 0) - first);
    context.clearRect(0, 0, W, H);
    context.strokeStyle = theme.loss;
    context.lineWidth = 1.5;
    context.lineJoin = 'round';
    context.beginPath();
    let drawing = false;
    for (const { step, loss } of this.steps) {
      const x = 2 + ((step - first) / span) * (W - 4);
      const y = H - 3 - ((loss - low) / Math.max(1e-12, high - low)) * (H - 6);
      if (Number.isNaN(loss)) {
        drawing = false;
      } else if (drawing) {
        context.lineTo(x, y);
      } else {
        context.moveTo(x, y);
        drawing = true;
      }
    }
    context.stroke();
  }
}
