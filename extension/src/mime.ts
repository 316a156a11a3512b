import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import { make } from './dom';
import { STILL } from './host';
import { VERSION } from './messages.gen';
import type { State } from './store';
import { EMPTY, reduceBatch } from './store';
import { readBatch } from './validate';
import { GraphView } from './views/graph';
import { MemoryView } from './views/memory';

const GRAPH = 'application/vnd.nbtorch.graph.v1+json';
const MEMORY = 'application/vnd.nbtorch.memory.v1+json';

type View = GraphView | MemoryView;

/** A saved batch as a cell's output, drawn by the same view as the live panel. */
class BatchOutput extends Widget implements IRenderMime.IRenderer {
  private view: View | null = null;

  constructor(private readonly mimeType: string) {
    super();
    this.addClass('nbt-root');
    this.addClass('nbt-output');
  }

  renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const read = readBatch(model.data[this.mimeType]);
    if ('batch' in read) {
      this.draw(reduceBatch({ ...EMPTY, link: 'saved' }, read.batch));
    } else {
      this.clear();
      const text =
        'version' in read
          ? `This output was made by another version of nbtorch (messages ${read.version}, this page reads ${VERSION}).`
          : 'This nbtorch output cannot be read.';
      this.node.replaceChildren(make('p', 'nbt-empty', text));
    }
    return Promise.resolve();
  }

  protected override onCloseRequest(message: Message): void {
    this.clear();
    super.onCloseRequest(message);
  }

  override dispose(): void {
    this.clear();
    super.dispose();
  }

  private clear(): void {
    this.view?.dispose();
    this.view = null;
  }

  private draw(state: State): void {
    if (this.view === null) {
      const body = make('div', 'nbt-page');
      this.node.replaceChildren(body);
      this.view = this.mimeType === GRAPH ? new GraphView(body, STILL) : new MemoryView(body, STILL);
    }
    this.view.update(state);
  }
}

function rendererOf(mimeType: string, id: string, name: string): IRenderMime.IExtension {
  return {
    id,
    description: `Draws ${mimeType}.`,
    rendererFactory: {
      safe: true,
      mimeTypes: [mimeType],
      createRenderer: options => new BatchOutput(options.mimeType)
    },
    rank: 0,
    dataType: 'json',
    fileTypes: [{ name, mimeTypes: [mimeType], extensions: [`.${name}.json`] }]
  };
}

const extensions = [
  rendererOf(GRAPH, 'nbtorch:graph-output', 'nbtorch-graph'),
  rendererOf(MEMORY, 'nbtorch:memory-output', 'nbtorch-memory')
];

export default extensions;
