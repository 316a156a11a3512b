import uPlot from 'uplot';
import { make, onThemeChange, setText } from '../dom';
import { formatBytes } from '../format';
import type { Host } from '../host';
import type { MemorySample } from '../messages.gen';
import { CATEGORIES, categoryColour, readTheme } from '../theme';

const HEIGHT = 190;

/** Cumulated bytes per category, so that bands stack; then the peak and the process's own size. */
export function stack(samples: readonly MemorySample[], start: number): uPlot.AlignedData {
  const bands = CATEGORIES.map((_, index) =>
    samples.map(({ by }) => CATEGORIES.slice(0, index + 1).reduce((sum, name) => sum + by[name], 0))
  );
  return [
    samples.map(each => each.time - start),
    ...bands,
    samples.map(each => each.peak),
    samples.map(each => each.rss)
  ];
}

/** Seconds as "12 s", "3:05" or "2 h 10". */
export function formatSeconds(seconds: number): string {
  if (seconds < 60) {
    return `${Number.isInteger(seconds) ? seconds : seconds.toFixed(1)} s`;
  }
  const whole = Math.round(seconds);
  return whole < 3600
    ? `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
    : `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, '0')}`;
}

/** Live bytes by category over time; drag to zoom, double-click to see all. */
export class Timeline {
  readonly node = make('div', 'nbt-timeline');
  private readonly area = make('div', 'nbt-plot');
  private readonly readout = make('div', 'nbt-readout nbt-number');
  private readonly stops: (() => void)[] = [];
  private plot: uPlot | null = null;
  private samples: readonly MemorySample[] = [];
  private withRss = false;
  private zoomed = false;

  constructor(private readonly host: Host) {
    const box = make('label', 'nbt-check');
    const input = make('input', '', '', { type: 'checkbox' });
    input.addEventListener('change', () => {
      this.withRss = input.checked;
      this.rebuild();
    });
    box.append(input, make('span', '', host.tr('Process size')));
    box.title = host.tr('The resident size of the kernel process, which holds more than tensors');
    const foot = make('div', 'nbt-plot-foot');
    foot.append(this.readout, box);
    this.node.append(this.area, foot);
    this.stops.push(onThemeChange(() => this.rebuild()));
    const sizes = new ResizeObserver(() => this.resize());
    sizes.observe(this.area);
    this.stops.push(() => sizes.disconnect());
  }

  dispose(): void {
    this.stops.forEach(stop => stop());
    this.plot?.destroy();
    this.plot = null;
  }

  update(samples: readonly MemorySample[]): void {
    if (samples === this.samples) {
      return;
    }
    this.samples = samples;
    if (samples.length === 0) {
      this.plot?.destroy();
      this.plot = null;
    } else if (this.plot === null) {
      this.rebuild();
    } else {
      this.plot.setData(this.data(), !this.zoomed);
    }
    this.area.setAttribute('aria-label', this.host.tr('Memory over time, %1 samples', samples.length));
  }

  private data(): uPlot.AlignedData {
    return stack(this.samples, this.samples[0]?.time ?? 0);
  }

  private resize(): void {
    const width = this.area.clientWidth;
    if (this.plot === null) {
      this.rebuild();
    } else if (width > 0 && width !== this.plot.width) {
      this.plot.setSize({ width, height: HEIGHT });
    }
  }

  private rebuild(): void {
    this.plot?.destroy();
    this.plot = null;
    const width = this.area.clientWidth;
    if (width > 0 && this.samples.length > 0) {
      this.zoomed = false;
      this.plot = new uPlot(this.options(width), this.data(), this.area);
    }
  }

  private options(width: number): uPlot.Options {
    const theme = readTheme(this.node);
    const axis: uPlot.Axis = {
      stroke: theme.soft,
      font: `11px ${theme.font}`,
      grid: { stroke: theme.border, width: 0.5 },
      ticks: { show: false }
    };
    const bands = CATEGORIES.map((name, index) => {
      const colour = categoryColour(this.node, name);
      return {
        label: name,
        stroke: colour,
        width: 1,
        fill: index === 0 ? `${colour}bb` : undefined,
        points: { show: false }
      };
    });
    return {
      width,
      height: HEIGHT,
      legend: { show: false },
      padding: [8, 8, 0, 0],
      scales: { x: { time: false }, y: { range: (_, __, high) => [0, Math.max(1, high * 1.14)] } },
      cursor: { drag: { x: true, y: false }, points: { show: false } },
      axes: [
        { ...axis, size: 28, gap: 4, values: (_, ticks) => ticks.map(formatSeconds) },
        { ...axis, size: 62, gap: 4, space: 34, values: (_, ticks) => ticks.map(formatBytes) }
      ],
      bands: CATEGORIES.slice(1).map((name, index) => ({
        series: [index + 2, index + 1],
        fill: `${categoryColour(this.node, name)}bb`
      })),
      series: [
        {},
        ...bands,
        { label: 'peak', stroke: theme.broken, width: 1, dash: [5, 4], points: { show: false } },
        { label: 'rss', stroke: theme.text, width: 1, show: this.withRss, points: { show: false } }
      ],
      hooks: {
        setCursor: [plot => this.read(plot)],
        setSelect: [plot => (this.zoomed = plot.select.width > 0)],
        draw: [plot => this.drawCells(plot, theme.soft, theme.font)],
        ready: [plot => plot.over.addEventListener('dblclick', () => (this.zoomed = false))]
      }
    };
  }

  /** Marks where another cell began. */
  private drawCells(plot: uPlot, colour: string, font: string): void {
    const density = window.devicePixelRatio || 1;
    const { ctx: context, bbox } = plot;
    const start = this.samples[0]?.time ?? 0;
    let free = -Infinity;
    context.save();
    context.fillStyle = colour;
    context.textAlign = 'left';
    context.textBaseline = 'alphabetic';
    context.font = `${10 * density}px ${font}`;
    this.samples.forEach((each, index) => {
      const x = plot.valToPos(each.time - start, 'x', true);
      const fresh = each.run !== null && each.run !== this.samples[index - 1]?.run;
      if (fresh && x >= bbox.left && x <= bbox.left + bbox.width && x > free) {
        const text = this.host.tr('In [%1]', each.run ?? 0);
        const end = x + context.measureText(text).width + 8 * density;
        context.fillRect(x, bbox.top, density, bbox.height);
        if (end < bbox.left + bbox.width) {
          context.fillText(text, x + 4 * density, bbox.top + 10 * density);
        }
        free = end;
      }
    });
    context.restore();
  }

  private read(plot: uPlot): void {
    const sample =
      plot.cursor.idx === null || plot.cursor.idx === undefined ? undefined : this.samples[plot.cursor.idx];
    const time = sample ? formatSeconds(sample.time - (this.samples[0]?.time ?? 0)) : '';
    setText(this.readout, sample ? `${time} · ${formatBytes(sample.live)}` : '');
  }
}
