/** An element with a class, text and attributes. Text is only ever text: names from the kernel never become markup. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  className = '',
  text = '',
  attributes: Record<string, string> = {}
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (className) {
    element.className = className;
  }
  if (text) {
    element.textContent = text;
  }
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  return element;
}

/** A small button for a toolbar. */
export function makeButton(text: string, label: string, press: () => void): HTMLButtonElement {
  const button = make('button', 'nbt-button', text, { type: 'button', title: label, 'aria-label': label });
  button.addEventListener('click', press);
  return button;
}

/** Sets an element's text only when it differs, so that screen readers and layout are left alone. */
export function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) {
    element.textContent = text;
  }
}

/** Calls `change` when JupyterLab's theme changes; returns how to stop. */
export function onThemeChange(change: () => void): () => void {
  const observer = new MutationObserver(() => {
    // The new stylesheet may be applied a moment after the attribute.
    change();
    setTimeout(change, 150);
  });
  observer.observe(document.body, {
    attributes: true,
    attributeFilter: ['data-jp-theme-name', 'data-jp-theme-light', 'class']
  });
  return () => observer.disconnect();
}

/** Sizes a canvas for the screen's pixel density; its context draws in CSS pixels. */
export function prepareCanvas(canvas: HTMLCanvasElement, w: number, h: number): CanvasRenderingContext2D | null {
  const density = window.devicePixelRatio || 1;
  const [width, height] = [Math.round(w * density), Math.round(h * density)];
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
    canvas.style.width = `${w}px`;
    canvas.style.height = `${h}px`;
  }
  const context = canvas.getContext('2d');
  context?.setTransform(density, 0, 0, density, 0, 0);
  return context;
}
