import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ICommandPalette } from '@jupyterlab/apputils';
import type { Words } from './format';
import type { NbtorchPanel, Tab } from './panels';
import { nbtorchIcon } from './panels';

/** The tabs that are always there have commands. */
type Shown = Extract<Tab, 'graph' | 'memory'>;

export const SHOW: Record<Shown, string> = { graph: 'nbtorch:show-graph', memory: 'nbtorch:show-memory' };

/** Adds the commands that open the panel at a tab. */
export function addCommands(
  app: JupyterFrontEnd,
  panel: NbtorchPanel,
  palette: ICommandPalette | null,
  tr: Words
): void {
  const labels: Record<Shown, string> = { graph: tr('Show nbtorch graph'), memory: tr('Show nbtorch memory') };
  for (const tab of ['graph', 'memory'] as const) {
    app.commands.addCommand(SHOW[tab], {
      label: labels[tab],
      icon: nbtorchIcon,
      describedBy: { args: { type: 'object', properties: {}, additionalProperties: false } },
      execute: () => {
        panel.showTab(tab);
        app.shell.activateById(panel.id);
      }
    });
    palette?.addItem({ command: SHOW[tab], category: 'nbtorch' });
  }
}
