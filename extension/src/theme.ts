/** Colours and fonts as they are now; read anew whenever something is drawn after a theme change. */
export interface Theme {
  readonly back: string;
  readonly box: string;
  readonly boxHover: string;
  readonly group: string;
  readonly open: string;
  readonly border: string;
  readonly text: string;
  readonly soft: string;
  readonly edge: string;
  readonly brand: string;
  readonly op: string;
  readonly parameter: string;
  readonly input: string;
  readonly loss: string;
  readonly broken: string;
  readonly font: string;
  readonly mono: string;
}

/** Reads the theme's variables from an element inside `.nbt-root`. */
export function readTheme(element: Element): Theme {
  const style = getComputedStyle(element);
  const read = (name: string, otherwise: string): string => style.getPropertyValue(name).trim() || otherwise;
  return {
    back: read('--nbt-back', '#ffffff'),
    box: read('--nbt-box', '#ffffff'),
    boxHover: read('--nbt-box-hover', '#f5f5f5'),
    group: read('--nbt-group', '#eef4fb'),
    open: read('--nbt-open', '#fafafa'),
    border: read('--nbt-border', '#bdbdbd'),
    text: read('--jp-ui-font-color1', '#212121'),
    soft: read('--jp-ui-font-color2', '#616161'),
    edge: read('--nbt-edge', '#9e9e9e'),
    brand: read('--jp-brand-color1', '#1976d2'),
    op: read('--nbt-op', '#78909c'),
    parameter: read('--nbt-parameter', '#2e9e6b'),
    input: read('--nbt-input', '#8e6bbf'),
    loss: read('--nbt-loss', '#e07b00'),
    broken: read('--jp-error-color1', '#d32f2f'),
    font: read('--jp-ui-font-family', 'system-ui, sans-serif'),
    mono: read('--jp-code-font-family', 'monospace')
  };
}

/** The colours of memory categories, bottom band first. */
export const CATEGORIES = ['parameter', 'optimizer', 'gradient', 'activation', 'other'] as const;

export type Category = (typeof CATEGORIES)[number];

const CATEGORY_COLOURS: Record<Category, string> = {
  parameter: '#2e9e6b',
  optimizer: '#8e6bbf',
  gradient: '#e07b00',
  activation: '#2f86d6',
  other: '#8a949c'
};

/** A category's colour under the current theme. */
export function categoryColour(element: Element, category: Category): string {
  const own = getComputedStyle(element).getPropertyValue(`--nbt-${category}`).trim();
  return own || CATEGORY_COLOURS[category];
}
