"""What computes: `nbtorch.show_config()`."""
import sys

from .backend import registry


def config():
    """{"numpy": version, "providers": {name: in use or why not}, "calls": {provider: {kernel: calls}}, "threads": ...}."""
    import numpy
    state = registry.provider_state()
    providers = {name: "in use" if package is not None else f"not used: {reason}"
                 for name, (package, reason) in state.items()}
    from .backend import threads
    return {"python": sys.version.split()[0], "numpy": numpy.__version__, "providers": {**providers, "numpy": "in use"},
            "threads": threads.describe(), "calls": registry.counts()}


def show_config(calls=True):
    """Print (and return as text) which kernel providers are in use and why others are not, the thread budget, and how
    many calls each provider answered so far."""
    facts = config()
    lines = [f"nbtorch on Python {facts['python']}, NumPy {facts['numpy']}", "kernel providers, in the order they are asked:"]
    for name, text in facts["providers"].items():
        count = sum(facts["calls"].get(name, {}).values())
        lines.append(f"  {name:8} {text}" + (f", {count} calls" if calls and count else ""))
        if calls:
            top = sorted(facts["calls"].get(name, {}).items(), key=lambda item: -item[1])
            if top:
                lines.append("           " + ", ".join(f"{k} {n}" for k, n in top[:8]) + (", ..." if len(top) > 8 else ""))
    lines.append("threads: " + ", ".join(f"{k}: {v}" for k, v in facts["threads"].items()))
    text = "\n".join(lines)
    print(text)
    return text
