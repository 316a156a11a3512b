import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { Kernel } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import { Signal } from '@lumino/signaling';
import { KernelLink } from './comm';
import type { Place } from './messages.gen';

/** How long the panel may be hidden before its kernels are left alone. */
const REST_MS = 10_000;

/** Follows the active notebook's kernel; keeps the state of the others until their kernel is gone. */
export class Follower implements IDisposable {
  private readonly links = new Map<Kernel.IKernelConnection, KernelLink>();
  private readonly watched = new WeakSet<NotebookPanel>();
  private readonly changedSignal = new Signal<this, KernelLink | null>(this);
  private link: KernelLink | null = null;
  private looking = false;
  private resting = 0;
  isDisposed = false;

  constructor(
    private readonly notebooks: INotebookTracker,
    private readonly client: string
  ) {
    notebooks.currentChanged.connect(() => this.follow());
    notebooks.widgetAdded.connect((_, panel) => this.watch(panel));
    notebooks.forEach(panel => this.watch(panel));
    this.follow();
  }

  /** Emitted with the link of the kernel that is now followed, or null. */
  get changed(): ISignal<this, KernelLink | null> {
    return this.changedSignal;
  }

  get current(): KernelLink | null {
    return this.link;
  }

  /** Someone looks, or no longer: kernels are only spoken to when someone does. */
  setLooking(looking: boolean): void {
    this.looking = looking;
    clearTimeout(this.resting);
    if (looking) {
      this.link?.wake();
    } else {
      this.resting = window.setTimeout(() => this.links.forEach(link => link.rest()), REST_MS);
    }
  }

  /** Scrolls to the cell that made something; false if its run is no longer shown. */
  reveal(place: Place): boolean {
    const notebook = this.notebooks.currentWidget?.content;
    const index = notebook?.widgets.findIndex(cell => {
      const count: unknown = cell.model.sharedModel.toJSON()['execution_count'];
      return place.run !== null && count === place.run;
    });
    if (!notebook || index === undefined || index < 0) {
      return false;
    }
    notebook.activeCellIndex = index;
    void notebook.scrollToItem(index, 'smart');
    return true;
  }

  dispose(): void {
    this.isDisposed = true;
    this.links.forEach(link => link.dispose());
    this.links.clear();
    Signal.clearData(this);
  }

  private watch(panel: NotebookPanel): void {
    if (!this.watched.has(panel)) {
      this.watched.add(panel);
      panel.sessionContext.kernelChanged.connect(() => this.follow());
    }
  }

  private follow(): void {
    const kernel = this.notebooks.currentWidget?.sessionContext.session?.kernel ?? null;
    const link = kernel === null || kernel.isDisposed ? null : (this.links.get(kernel) ?? this.add(kernel));
    if (link !== null && this.looking) {
      link.wake();
    }
    if (link !== this.link) {
      this.link = link;
      this.changedSignal.emit(link);
    }
  }

  private add(kernel: Kernel.IKernelConnection): KernelLink {
    const link = new KernelLink(kernel, this.client);
    this.links.set(kernel, link);
    kernel.disposed.connect(() => {
      link.dispose();
      this.links.delete(kernel);
      this.follow();
    });
    return link;
  }
}
