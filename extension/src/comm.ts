import type { Kernel, KernelMessage } from '@jupyterlab/services';
import type { JSONObject } from '@lumino/coreutils';
import type { Ask } from './host';
import type { Batch, Hello } from './messages.gen';
import { VERSION } from './messages.gen';
import { EMPTY, Store } from './store';
import { readBatch } from './validate';

/** Opened and written by the kernel only: a comm's requests go to the shell that last sent on it, so it needs its own. */
export const DATA_TARGET = 'nbtorch.data';
/** Opened here, in a subshell, so that requests are answered while a cell runs. */
export const RPC_TARGET = 'nbtorch.rpc';

const SUBSHELL_WAIT_MS = 5000;
const SNAPSHOT_EVERY_MS = 1000;
/** When to ask again after a cell that may load nbtorch began; it may go on to train for an hour. */
const RETRY_MS = [1000, 3000, 8000];

/** What JupyterLab's comms offer beyond their interface. */
interface SubshellComm {
  readonly subshellStarted?: Promise<void>;
  readonly commsOverSubshells?: string;
}

function storageKey(kernel: Kernel.IKernelConnection): string {
  return `nbtorch:data:${kernel.id}`;
}

/** Waits until requests on the comm go to a subshell; without this its open would wait for the running cell. */
async function subshellReady(kernel: Kernel.IKernelConnection, comm: Kernel.IComm): Promise<void> {
  const { subshellStarted, commsOverSubshells } = comm as unknown as SubshellComm;
  if (kernel.supportsSubshells && subshellStarted && commsOverSubshells !== 'disabled') {
    // It never resolves if the kernel fails to start one, and then a late answer is better than none.
    await Promise.race([subshellStarted, new Promise(resolve => setTimeout(resolve, SUBSHELL_WAIT_MS))]);
  }
}

/** The two comms of one kernel, and the state that comes over them. Says nothing to a kernel until woken. */
export class KernelLink {
  readonly store = new Store();
  private data: Kernel.IComm | null = null;
  private rpc: Kernel.IComm | null = null;
  private awake = false;
  private greeting = false;
  private greetWhenIdle = false;
  private requests = 0;
  private lastSnapshot = 0;
  private disposed = false;

  constructor(
    readonly kernel: Kernel.IKernelConnection,
    private readonly client: string
  ) {
    if (!kernel.handleComms) {
      return; // another connection of this page to the same kernel has the comms
    }
    kernel.registerCommTarget(DATA_TARGET, this.onDataOpen);
    kernel.statusChanged.connect(this.onStatus);
    kernel.iopubMessage.connect(this.onIOPub);
    const known = sessionStorage.getItem(storageKey(kernel));
    if (known !== null) {
      // After a reload in the middle of a cell no request is answered before its end, but data still comes.
      this.attachById(known);
    }
  }

  dispose(): void {
    this.rest();
    this.disposed = true;
    if (!this.kernel.isDisposed) {
      this.kernel.removeCommTarget(DATA_TARGET, this.onDataOpen);
      this.kernel.statusChanged.disconnect(this.onStatus);
      this.kernel.iopubMessage.disconnect(this.onIOPub);
    }
    this.drop();
  }

  /** Says hello to the kernel, once someone looks. */
  wake(): void {
    if (!this.awake) {
      this.awake = true;
      void this.greet();
    }
  }

  /** Nobody looks: hangs up, so that the kernel stops observing, which costs the training time. */
  rest(): void {
    this.awake = this.greetWhenIdle = false;
    if (this.rpc !== null && !this.rpc.isDisposed && !this.kernel.isDisposed) {
      this.rpc.onClose = () => undefined;
      this.rpc.close();
    }
    this.drop();
    this.store.patch({ link: 'none' });
  }

  /** Sends a request; without a connection it is dropped, as views ask again. */
  ask(what: Ask): void {
    this.requests += 1;
    if (this.rpc !== null && !this.rpc.isDisposed && !this.greeting) {
      this.rpc.send({ ...what, request: this.requests });
    }
  }

  private async greet(): Promise<void> {
    if (this.greeting || this.disposed || !this.kernel.handleComms) {
      return;
    }
    this.greeting = true;
    if (this.store.state.link !== 'live') {
      this.store.patch({ link: 'waiting' });
    }
    try {
      await this.kernel.info; // tells whether there are subshells
      const comm = this.kernel.createComm(RPC_TARGET);
      this.rpc = comm;
      comm.onMsg = message => this.receive(message);
      comm.onClose = () => this.onRpcClose(comm);
      await subshellReady(this.kernel, comm);
      if (this.rpc === comm && !comm.isDisposed) {
        comm.open();
        const hello: Hello = { kind: 'request.hello', request: ++this.requests, version: VERSION, client: this.client };
        comm.send(hello as unknown as JSONObject);
      }
    } catch (error) {
      if (this.kernel.isDisposed) {
        this.store.patch({ link: 'none' }); // the kernel went away meanwhile
      } else {
        throw error;
      }
    } finally {
      this.greeting = false;
    }
  }

  private readonly onDataOpen = (comm: Kernel.IComm, open: KernelMessage.ICommOpenMsg): void => {
    this.attach(comm);
    this.read(open.content.data);
    if (this.rpc === null) {
      this.awake = true;
      void this.greet();
    }
  };

  private attachById(id: string): void {
    if (id !== '' && this.data?.commId !== id && !this.kernel.hasComm(id)) {
      this.attach(this.kernel.createComm(DATA_TARGET, id));
    }
  }

  private attach(comm: Kernel.IComm): void {
    this.data = comm;
    sessionStorage.setItem(storageKey(this.kernel), comm.commId);
    comm.onMsg = message => {
      if (this.data === comm) {
        this.receive(message);
      }
    };
    comm.onClose = () => {
      if (this.data === comm) {
        this.data = null;
        sessionStorage.removeItem(storageKey(this.kernel));
      }
    };
  }

  private receive(message: KernelMessage.ICommMsgMsg): void {
    this.read(message.content.data);
  }

  private read(data: unknown): void {
    const read = readBatch(data);
    if ('batch' in read) {
      this.accept(read.batch);
    } else if ('version' in read) {
      this.store.patch({ link: 'version', kernelVersion: read.version });
    } else if (typeof data === 'object' && data !== null && Object.keys(data).length > 0) {
      this.store.patch({ failure: { kind: 'error', code: 'internal', text: `Refused a message: ${read.fault}` } });
    }
  }

  private accept(batch: Batch): void {
    this.store.apply(batch);
    if (this.store.state.link !== 'live') {
      this.store.patch({ link: 'live' });
    }
    for (const item of batch.items) {
      if (item.kind === 'status') {
        this.attachById(item.data_comm);
      }
    }
    const now = Date.now();
    if (this.store.state.missed && now - this.lastSnapshot > SNAPSHOT_EVERY_MS) {
      this.lastSnapshot = now;
      this.ask({ kind: 'request.snapshot' });
    }
  }

  /** The kernel closes the comm of a target it does not have. */
  private onRpcClose(comm: Kernel.IComm): void {
    if (this.rpc === comm) {
      this.rpc = null;
      this.store.patch({ link: 'absent' });
    }
  }

  private readonly onStatus = (_: Kernel.IKernelConnection, status: Kernel.Status): void => {
    if (status === 'restarting' || status === 'autorestarting') {
      this.drop();
      this.store.patch({ ...EMPTY, link: this.awake ? 'waiting' : 'none' });
      this.greetWhenIdle = this.awake;
    } else if (status === 'idle' && this.greetWhenIdle && this.rpc === null) {
      this.greetWhenIdle = false;
      void this.greet();
    }
  };

  /** A cell that names nbtorch may have loaded it, so it is worth asking again when it is done. */
  private readonly onIOPub = (_: Kernel.IKernelConnection, message: KernelMessage.IIOPubMessage): void => {
    // Also while an earlier hello is on its way: it may get there before nbtorch does.
    if (this.awake && this.store.state.link !== 'live' && message.header.msg_type === 'execute_input') {
      const { code } = message.content as KernelMessage.IExecuteInputMsg['content'];
      if (code.includes('nbtorch')) {
        this.greetWhenIdle = true;
        RETRY_MS.forEach(wait => setTimeout(() => this.retry(), wait));
      }
    }
  };

  private retry(): void {
    if (this.awake && this.rpc === null && !this.kernel.isDisposed) {
      void this.greet();
    }
  }

  private drop(): void {
    const comms = [this.data, this.rpc];
    this.data = this.rpc = null;
    comms.forEach(comm => comm?.dispose());
    if (!this.disposed) {
      sessionStorage.removeItem(storageKey(this.kernel));
    }
  }
}
