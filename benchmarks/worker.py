"""One framework in one process: reads JSON commands on stdin, answers each with one JSON line."""
import importlib
import json
import os
import sys
import time


def rss():
    """Peak resident bytes of this process (0 where the platform does not say)."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def op_case(T, name):
    """Forward and backward of one 16×16 op with a gradient."""
    T.manual_seed(0)
    a, b = T.randn(16, 16), T.randn(16, 16)
    a.requires_grad_()
    b.requires_grad_()
    g = T.ones(16, 16)
    call = {"add": lambda: a + b, "mul": lambda: a * b, "matmul": lambda: a @ b, "relu": lambda: a.relu()}[name]

    def run():
        a.grad = b.grad = None
        call().backward(g)
    return run


def main():
    """Serve commands until stdin closes."""
    framework, threads, watch = sys.argv[1], int(sys.argv[2]), sys.argv[3:] == ["watched"]
    t0 = time.perf_counter()
    T = importlib.import_module(framework)
    imported = time.perf_counter() - t0
    T.set_num_threads(threads)
    clock = time.process_time if threads == 1 else time.perf_counter
    run = None
    for line in sys.stdin:
        command = json.loads(line)
        if command["do"] == "step":
            from benchmarks.workloads import step_of
            _, run = step_of(T, command["model"], command.get("low", False))
            answer = {"ready": True}
        elif command["do"] == "op":
            run = op_case(T, command["op"])
            answer = {"ready": True}
        elif command["do"] == "run":
            t0 = clock()
            for _ in range(command["times"]):
                last = run()
            answer = {"seconds": (clock() - t0) / command["times"],
                      "value": float(last.item()) if last is not None else None}
        else:
            answer = {"imported": imported, "peak": rss(), "version": T.__version__, "pid": os.getpid()}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
