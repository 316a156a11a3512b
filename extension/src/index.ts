import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ILayoutRestorer } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';
import { SHOW, addCommands } from './commands';
import { Follower } from './follow';
import type { Words } from './format';
import { NbtorchPanel } from './panels';
import { StatusItem } from './status';

/** The side panel, its commands and the status item. Saved outputs are drawn by the renderer in mime.ts. */
const plugin: JupyterFrontEndPlugin<void> = {
  id: 'nbtorch:panel',
  description: 'Live autograd graph and memory of the active notebook.',
  autoStart: true,
  requires: [INotebookTracker],
  optional: [ITranslator, ICommandPalette, ILayoutRestorer, IStatusBar],
  activate: (
    app: JupyterFrontEnd,
    notebooks: INotebookTracker,
    translator: ITranslator | null,
    palette: ICommandPalette | null,
    restorer: ILayoutRestorer | null,
    statusBar: IStatusBar | null
  ) => {
    const bundle = (translator ?? nullTranslator).load('nbtorch');
    const tr: Words = (text, ...values) => bundle.__(text, ...values);
    const follower = new Follower(notebooks, `jupyterlab ${app.version}`);
    const panel = new NbtorchPanel(follower, tr);
    app.shell.add(panel, 'right', { rank: 900, type: 'nbtorch' });
    restorer?.add(panel, panel.id);
    addCommands(app, panel, palette, tr);
    const item = new StatusItem(follower, tr, () => void app.commands.execute(SHOW.memory));
    statusBar?.registerStatusItem('nbtorch:status', { item, align: 'left', rank: 90 });
  }
};

export default plugin;
