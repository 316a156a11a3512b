"""A profile as a Chrome trace: JSON that Perfetto and chrome://tracing read. No host name, no absolute paths."""

import gzip
import json


def entries(events, pid=0):
    """The trace's events as dicts; `ts` and `dur` in microseconds."""
    found = [{"ph": "M", "pid": pid, "tid": 0, "ts": 0, "name": "process_name", "args": {"name": "nbtorch"}}]
    total = 0
    for event in events:
        if event.name == "[memory]":
            total += event.self_cpu_memory_usage
            found.append(
                {
                    "ph": "i",
                    "s": "t",
                    "cat": "cpu_instant_event",
                    "name": "[memory]",
                    "pid": pid,
                    "tid": event.thread,
                    "ts": event.time_range.start,
                    "args": {
                        "Bytes": event.self_cpu_memory_usage,
                        "Device Id": -1,
                        "Device Type": 0,
                        "Total Allocated": total,
                    },
                }
            )
            continue
        args = {"External id": event.id, "Sequence number": event.sequence_nr}
        if event.input_shapes:
            args.update({"Input Dims": event.input_shapes, "Input type": event.input_dtypes})
        if event.flops:
            args["Flops"] = event.flops
        if event.stack:
            args["Call stack"] = ";".join(event.stack)
        if event.module:
            args["Module"] = event.module
        found.append(
            {
                "ph": "X",
                "cat": event.kind,
                "name": event.name,
                "pid": pid,
                "tid": event.thread,
                "ts": event.time_range.start,
                "dur": event.cpu_time_total,
                "args": args,
            }
        )
    return found


def document(events, **flags):
    """The whole JSON document."""
    return {
        "schemaVersion": 1,
        "displayTimeUnit": "ms",
        **{name: int(value) for name, value in flags.items()},
        "traceEvents": entries(events),
    }


def write(path, events, **flags):
    """Write the document; gzip when the name ends in .gz."""
    opener = gzip.open if str(path).endswith(".gz") else open
    with opener(path, "wt", encoding="utf-8") as file:
        json.dump(document(events, **flags), file)
