import type { Kernel } from '@jupyterlab/services';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { DATA_TARGET, KernelLink, RPC_TARGET } from '../comm';
import type { Batch } from '../messages.gen';
import { VERSION } from '../messages.gen';
import { FakeComm, FakeKernel } from './fake';
import { golden } from './golden';

let kernel: FakeKernel;

function makeLink(): KernelLink {
  return new KernelLink(kernel as unknown as Kernel.IKernelConnection, 'test');
}

function message(data: unknown): unknown {
  return { content: { data } };
}

function status(session: string, dataComm: string, request: number | null = null): Batch {
  return {
    version: VERSION,
    seq: 1,
    dropped: 0,
    request,
    items: [{ kind: 'status', session, nbtorch: '0.1.0', training: true, step: 1, run: 1, data_comm: dataComm }]
  };
}

async function turn(): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, 0));
}

async function connect(link: KernelLink): Promise<FakeComm> {
  link.wake();
  await turn();
  const rpc = kernel.of(RPC_TARGET)[kernel.of(RPC_TARGET).length - 1]!;
  rpc.start();
  await turn();
  return rpc;
}

beforeEach(() => {
  sessionStorage.clear();
  kernel = new FakeKernel();
});

describe('KernelLink', () => {
  it('says nothing to a kernel until someone looks', async () => {
    makeLink();
    await turn();
    expect(kernel.comms).toHaveLength(0);
    expect(kernel.targets.has(DATA_TARGET)).toBe(true);
  });

  it('opens the request comm only once its subshell runs, then says hello', async () => {
    const link = makeLink();
    link.wake();
    await turn();
    const rpc = kernel.of(RPC_TARGET)[0]!;
    expect(rpc.log).toEqual([]);
    rpc.start();
    await turn();
    expect(rpc.log).toEqual(['open', { kind: 'request.hello', request: 1, version: VERSION, client: 'test' }]);
    expect(link.store.state.link).toBe('waiting');
  });

  it('does not wait for a subshell that the kernel or the settings lack', async () => {
    kernel.supportsSubshells = false;
    makeLink().wake();
    await turn();
    expect(kernel.of(RPC_TARGET)[0]?.log[0]).toBe('open');
  });

  it('reads data from a comm of the kernel and answers from its own', async () => {
    const link = makeLink();
    const rpc = await connect(link);
    rpc.onMsg(message(status('s', '', 1)));
    expect(link.store.state.link).toBe('live');
    const data = new FakeComm(DATA_TARGET, 'data-1');
    kernel.targets.get(DATA_TARGET)?.(data, message({}));
    data.onMsg(message(golden('graph_mlp')));
    expect(link.store.state.graph?.step).toBe(3);
    link.ask({ kind: 'request.detail', graph: 1, node: 5 });
    expect(rpc.sent[1]).toEqual({ kind: 'request.detail', graph: 1, node: 5, request: 2 });
    expect(data.log).toEqual([]);
  });

  it('attaches to the data comm that the kernel names, once', async () => {
    const rpc = await connect(makeLink());
    rpc.onMsg(message(status('s', 'data-7', 1)));
    rpc.onMsg(message(status('s', 'data-7', 2)));
    expect(kernel.of(DATA_TARGET).map(comm => [comm.commId, comm.log])).toEqual([['data-7', []]]);
  });

  it('hears data after a reload in the middle of a cell, while no request is answered', () => {
    makeLink();
    kernel.targets.get(DATA_TARGET)?.(new FakeComm(DATA_TARGET, 'data-1'), message({}));
    kernel = new FakeKernel();
    kernel.info = new Promise(() => undefined);
    const link = makeLink();
    link.wake();
    const data = kernel.of(DATA_TARGET)[0]!;
    expect(data.commId).toBe('data-1');
    expect(data.log).toEqual([]);
    data.onMsg(message(golden('graph_mlp')));
    expect(link.store.state.link).toBe('live');
  });

  it('drops everything when the kernel restarts, and greets the new one', async () => {
    const link = makeLink();
    const rpc = await connect(link);
    rpc.onMsg(message(status('s', 'data-7', 1)));
    kernel.statusChanged.emit('restarting');
    expect(rpc.isDisposed).toBe(true);
    expect(link.store.state).toMatchObject({ link: 'waiting', status: null });
    expect(sessionStorage.length).toBe(0);
    kernel.statusChanged.emit('idle');
    await turn();
    expect(kernel.of(RPC_TARGET)).toHaveLength(2);
  });

  it('tells that nbtorch is absent, and asks again when a cell names it', async () => {
    const link = makeLink();
    const rpc = await connect(link);
    rpc.onClose(message({}));
    expect(link.store.state.link).toBe('absent');
    kernel.iopubMessage.emit({ header: { msg_type: 'execute_input' }, content: { code: 'x = 1' } });
    kernel.statusChanged.emit('idle');
    await turn();
    expect(kernel.of(RPC_TARGET)).toHaveLength(1);
    kernel.iopubMessage.emit({ header: { msg_type: 'execute_input' }, content: { code: '%load_ext nbtorch' } });
    kernel.statusChanged.emit('idle');
    await turn();
    expect(kernel.of(RPC_TARGET)).toHaveLength(2);
  });

  it('asks again when nbtorch was loaded after the hello that found it absent', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    const link = makeLink();
    link.wake();
    await Promise.resolve();
    await Promise.resolve();
    const rpc = kernel.of(RPC_TARGET)[0]!;
    rpc.start();
    kernel.iopubMessage.emit({ header: { msg_type: 'execute_input' }, content: { code: 'import nbtorch' } });
    kernel.statusChanged.emit('idle');
    await vi.advanceTimersByTimeAsync(100);
    rpc.onClose(message({}));
    expect(kernel.of(RPC_TARGET)).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1000);
    vi.useRealTimers();
    expect(kernel.of(RPC_TARGET)).toHaveLength(2);
  });

  it('greets when the kernel opens its data comm by itself', async () => {
    makeLink();
    kernel.targets.get(DATA_TARGET)?.(new FakeComm(DATA_TARGET, 'data-1'), message(status('s', 'data-1')));
    await turn();
    expect(kernel.of(RPC_TARGET)).toHaveLength(1);
  });

  it('tells another version and refuses nonsense', async () => {
    const link = makeLink();
    const rpc = await connect(link);
    rpc.onMsg(message({ ...status('s', ''), items: [{ kind: 'nonsense' }] }));
    expect(link.store.state.failure?.text).toContain('Refused');
    rpc.onMsg(message({ ...status('s', ''), version: VERSION + 1 }));
    expect(link.store.state).toMatchObject({ link: 'version', kernelVersion: VERSION + 1 });
  });

  it('asks for a snapshot when it missed one', async () => {
    const link = makeLink();
    const rpc = await connect(link);
    rpc.onMsg(message({ ...golden('graph_values'), request: 1, items: golden('graph_values').items.slice(1) }));
    expect(rpc.sent[1]).toMatchObject({ kind: 'request.snapshot' });
  });

  it('leaves a second connection of the page to the same kernel alone', async () => {
    kernel.handleComms = false;
    const link = makeLink();
    link.wake();
    await turn();
    expect(kernel.comms).toHaveLength(0);
    link.dispose();
  });

  it('hangs up when nobody looks, and comes back', async () => {
    const link = makeLink();
    const rpc = await connect(link);
    rpc.onMsg(message(status('s', 'data-7', 1)));
    link.rest();
    expect(rpc.log).toContain('close');
    expect(link.store.state.link).toBe('none');
    await connect(link);
    expect(kernel.of(RPC_TARGET)).toHaveLength(2);
  });

  it('can be disposed of', async () => {
    const link = makeLink();
    const rpc = await connect(link);
    link.dispose();
    expect(rpc.isDisposed).toBe(true);
    expect(kernel.targets.size).toBe(0);
  });
});
