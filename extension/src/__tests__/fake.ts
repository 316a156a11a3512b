import type { Kernel } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';

export type Data = Record<string, unknown>;

/** A comm that notes what is done to it, in order. */
export class FakeComm {
  readonly log: (string | Data)[] = [];
  isDisposed = false;
  onMsg: (message: unknown) => void = () => undefined;
  onClose: (message: unknown) => void = () => undefined;
  start: () => void = () => undefined;
  readonly subshellStarted = new Promise<void>(resolve => (this.start = resolve));
  commsOverSubshells = 'perCommTarget';

  constructor(
    readonly targetName: string,
    readonly commId: string
  ) {}

  open(): void {
    this.log.push('open');
  }

  send(data: Data): void {
    this.log.push(data);
  }

  close(): void {
    this.log.push('close');
    this.isDisposed = true;
  }

  dispose(): void {
    this.isDisposed = true;
  }

  get sent(): Data[] {
    return this.log.filter((each): each is Data => typeof each !== 'string');
  }
}

/** A kernel connection with only what links use. */
export class FakeKernel {
  readonly id = 'kernel-1';
  handleComms = true;
  isDisposed = false;
  supportsSubshells = true;
  info = Promise.resolve({});
  readonly statusChanged = new Signal<this, Kernel.Status>(this);
  readonly iopubMessage = new Signal<this, unknown>(this);
  readonly comms: FakeComm[] = [];
  readonly targets = new Map<string, (comm: FakeComm, message: unknown) => void>();

  createComm(target: string, id = `comm-${this.comms.length}`): FakeComm {
    const comm = new FakeComm(target, id);
    this.comms.push(comm);
    return comm;
  }

  hasComm(id: string): boolean {
    return this.comms.some(comm => comm.commId === id);
  }

  registerCommTarget(target: string, callback: (comm: FakeComm, message: unknown) => void): void {
    this.targets.set(target, callback);
  }

  removeCommTarget(target: string): void {
    this.targets.delete(target);
  }

  of(target: string): FakeComm[] {
    return this.comms.filter(comm => comm.targetName === target);
  }
}
