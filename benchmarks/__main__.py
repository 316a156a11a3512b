"""`python -m benchmarks [step|op|import]`: nbtorch beside torch, stepping in turn."""
import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys

from .workloads import STEPS

OPS = ("add", "mul", "matmul", "relu")


class Worker:
    """A framework in a process of its own."""

    def __init__(self, framework, threads):
        env = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        self.process = subprocess.Popen([sys.executable, "-m", "benchmarks.worker", framework, str(threads)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)

    def ask(self, **command):
        """Send one command and wait for its answer."""
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the benchmark process of {self.process.args[3]} ended with {self.process.wait()}")
        return json.loads(line)

    def close(self):
        """Let the process end."""
        self.process.stdin.close()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()


def quartiles(values):
    """Median, lower and upper quartile."""
    values = sorted(values)
    if len(values) < 4:
        return statistics.median(values), values[0], values[-1]
    q = statistics.quantiles(values, n=4)
    return statistics.median(values), q[0], q[2]


def compare(setup, rounds, times, threads):
    """Run `setup` in both frameworks and step them in turn; returns a dict of figures."""
    with Worker("nbtorch", threads) as ours:
        ours.ask(**setup)
        cold = ours.ask(do="run", times=1)["seconds"]
        ours.ask(do="run", times=times)
        if importlib.util.find_spec("torch") is None:
            own = [ours.ask(do="run", times=times)["seconds"] for _ in range(rounds)]
            return {"ours": statistics.median(own), "cold": cold, "peak": ours.ask(do="facts")["peak"]}
        with Worker("torch", threads) as theirs:
            theirs.ask(**setup)
            theirs.ask(do="run", times=times + 1)
            pairs, values = [], []
            for _ in range(rounds):
                a, b = ours.ask(do="run", times=times), theirs.ask(do="run", times=times)
                pairs.append((a["seconds"], b["seconds"]))
                values.append((a["value"], b["value"]))
            median, low, high = quartiles([a / b for a, b in pairs])
            return {"ours": statistics.median(a for a, _ in pairs), "theirs": statistics.median(b for _, b in pairs),
                    "ratio": median, "low": low, "high": high, "cold": cold, "values": values[-1],
                    "peak": ours.ask(do="facts")["peak"], "their_peak": theirs.ask(do="facts")["peak"]}


def show(name, f, unit, scale):
    """One row of the report."""
    if "ratio" not in f:
        print(f"{name:24}{f['ours'] * scale:10.2f} {unit}   (torch is not installed: no ratio)")
        return
    print(f"{name:24}{f['ours'] * scale:10.2f}{f['theirs'] * scale:10.2f} {unit}"
          f"{f['ratio']:8.2f}  [{f['low']:.2f}-{f['high']:.2f}]"
          f"   cold {f['cold']:6.2f} s   peak {f['peak'] / 2**20:5.0f} / {f['their_peak'] / 2**20:5.0f} MiB", flush=True)


def steps(options):
    """Optimizer steps of the workloads."""
    clock = "CPU" if options.threads == 1 else "wall"
    print(f"steps, {options.threads} thread(s), {clock} time{'':>8}ours     torch       ratio  [spread]")
    for model in options.models:
        for low in (False, True) if options.low else (False,):
            figures = compare({"do": "step", "model": model, "low": low}, options.rounds, options.times, options.threads)
            show(model + (" bf16" if low else ""), figures, "ms", 1e3)


def ops(options):
    """Small ops, forward and backward."""
    print("16x16 forward + backward, CPU time      ours     torch       ratio  [spread]")
    for name in OPS:
        show(name, compare({"do": "op", "op": name}, options.rounds, 2000, 1), "us", 1e6)


def imports(options):
    """Import time and memory, each in fresh processes in turn."""
    code = ("import time, sys; t = time.process_time(); import {0}; e = time.process_time() - t\n"
            "import resource; print(e, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)")
    found = {}
    for _ in range(options.rounds):
        for name in ("nbtorch", "torch"):
            if importlib.util.find_spec(name) is not None:
                text = subprocess.run([sys.executable, "-c", code.format(name)], capture_output=True, text=True, check=True)
                found.setdefault(name, []).append(tuple(map(float, text.stdout.split())))
    medians = {n: (statistics.median(t for t, _ in v), statistics.median(m for _, m in v)) for n, v in found.items()}
    for name, (seconds, mib) in medians.items():
        print(f"import {name:10}{seconds:8.3f} s CPU {mib:8.0f} MiB")
    if len(medians) == 2:
        a, b = medians["nbtorch"], medians["torch"]
        print(f"ratio: time {a[0] / b[0]:.2f}, memory {a[1] / b[1]:.2f}")


def main():
    """Parse the command line and print the reports asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("what", nargs="?", choices=("step", "op", "import", "all"), default="all")
    parser.add_argument("--models", nargs="+", choices=STEPS, default=["mlp", "convnet"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--times", type=int, default=5, help="steps per turn")
    parser.add_argument("--low", action="store_true", help="also under bfloat16 autocast")
    options = parser.parse_args()
    for name, run in (("step", steps), ("op", ops), ("import", imports)):
        if options.what in (name, "all"):
            run(options)


if __name__ == "__main__":
    main()
