"""What a profile holds: one FunctionEvent a call, and averages of calls of one name. Names, shapes and
numbers only.
"""

from collections import OrderedDict
from types import SimpleNamespace

from . import table as tables

UNITS = (("s", 1e6), ("ms", 1e3), ("us", 1.0))


def time_text(us):
    """Microseconds as us, ms or s with three decimals."""
    for unit, size in UNITS:
        if us >= size > 1:
            return f"{us / size:.3f}{unit}"
    return f"{us:.3f}us"


class _Times:
    """The derived times both kinds of event have; device times are zero on the CPU."""

    device_time = device_time_total = self_device_time_total = 0
    device_memory_usage = self_device_memory_usage = 0
    cuda_time = cuda_time_total = self_cuda_time_total = 0
    cuda_memory_usage = self_cuda_memory_usage = 0
    use_device, node_id, is_async, is_remote, is_legacy, is_user_annotation = (
        None,
        -1,
        False,
        False,
        False,
        False,
    )
    overload_name = ""

    def __getattr__(self, name):
        if name.endswith("_str") and not name.startswith("_"):
            return time_text(getattr(self, name[:-4]))
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


class FunctionEvent(_Times):
    """One call: times in microseconds since the profile began."""

    def __init__(self, id, name, thread, start, end, kind):
        self.id, self.name, self.thread, self.kind = id, name, thread, kind
        self.time_range = SimpleNamespace(start=start, end=end, elapsed_us=lambda: end - start)
        self.cpu_children, self.cpu_parent, self.count = [], None, 1
        self.input_shapes, self.concrete_inputs, self.kwinputs, self.stack = [], [], {}, []
        self.input_dtypes, self.scope, self.flops, self.sequence_nr, self.fwd_thread = [], 0, 0, -1, None
        self.self_cpu_memory_usage, self.module, self.phase, self.error = 0, "", "forward", False
        self.is_user_annotation = kind in ("user_annotation",)
        self.kernels = []

    @property
    def key(self):
        """Its name."""
        return self.name

    @property
    def cpu_time_total(self):
        """Time from begin to end."""
        return self.time_range.end - self.time_range.start

    cpu_time = cpu_time_total

    @property
    def self_cpu_time_total(self):
        """Time outside its children."""
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def cpu_memory_usage(self):
        """Bytes allocated minus freed, children included."""
        return self.self_cpu_memory_usage + sum(child.cpu_memory_usage for child in self.cpu_children)

    def __repr__(self):
        children = str([child.id for child in self.cpu_children])
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name= device_type=DeviceType.CPU node_id=-1 "
            f"cpu_time={self.cpu_time_str} start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={children} thread={self.thread} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} is_async=False is_remote=False seq_nr={self.sequence_nr} "
            "is_legacy=False>"
        )


class FunctionEventAvg(_Times):
    """Calls of one name (and shape, and stack) added up."""

    def __init__(self):
        self.key, self.count, self.input_shapes, self.stack = None, 0, None, None
        self.cpu_time_total = self.self_cpu_time_total = 0
        self.cpu_memory_usage = self.self_cpu_memory_usage = self.flops = 0
        self.cpu_parent, self.cpu_children, self.scope, self.phase = None, None, None, None

    def add(self, event):
        """Count one event in; returns itself."""
        if self.key is None:
            self.key, self.input_shapes, self.stack = event.key, event.input_shapes, event.stack
            self.cpu_parent, self.cpu_children, self.scope = event.cpu_parent, event.cpu_children, event.scope
            self.is_user_annotation, self.phase = event.is_user_annotation, event.phase
        self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total
        self.cpu_memory_usage += event.cpu_memory_usage
        self.self_cpu_memory_usage += event.self_cpu_memory_usage
        self.count += event.count
        self.flops += event.flops or 0
        return self

    __iadd__ = add

    @property
    def cpu_time(self):
        """Mean time of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def __repr__(self):
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str} "
            f" self_cuda_time=0.000us cuda_time=0.000us input_shapes={self.input_shapes or ''} "
            f"cpu_memory_usage={self.cpu_memory_usage} cuda_memory_usage=0>"
        )


class EventList(list):
    """Events or averages, with the table."""

    def __init__(self, items=(), profile_memory=False, with_flops=False, dropped=0, use_device=None):
        super().__init__(items)
        self._profile_memory, self._with_flops, self.dropped, self._use_device = (
            profile_memory,
            with_flops,
            dropped,
            use_device,
        )

    def table(
        self,
        sort_by=None,
        row_limit=100,
        max_src_column_width=75,
        max_name_column_width=55,
        max_shapes_column_width=80,
        header=None,
        top_level_events_only=False,
        time_unit=None,
    ):
        """The table as text, in torch.profiler's layout.

        sort_by: an attribute of the rows, such as self_cpu_time_total, cpu_memory_usage, count, flops.
        https://docs.pytorch.org/docs/stable/profiler.html
        """
        return tables.build(
            self,
            sort_by=sort_by,
            row_limit=row_limit,
            max_src_column_width=max_src_column_width,
            max_name_column_width=max_name_column_width,
            max_shapes_column_width=max_shapes_column_width,
            header=header,
            top_level_events_only=top_level_events_only,
            time_unit=time_unit,
            profile_memory=self._profile_memory,
            with_flops=self._with_flops,
            dropped=self.dropped,
        )

    __str__ = table

    def _like(self, items):
        return EventList(items, self._profile_memory, self._with_flops, self.dropped, self._use_device)

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        """Events of one name added up, in order of first appearance; apart by input shapes or call stack if
        asked.
        """
        groups = OrderedDict()
        for event in self:
            key = [event.key]
            if group_by_input_shape:
                key.append(str(event.input_shapes))
            if group_by_stack_n > 0:
                key += event.stack[:group_by_stack_n]
            groups.setdefault(tuple(key), FunctionEventAvg()).add(event)
        for average in groups.values():
            if not group_by_input_shape:
                average.input_shapes = ""
            average.stack = average.stack[:group_by_stack_n]
        return self._like(groups.values())

    def total_average(self):
        """All events as one row named Total."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
        total.key = "Total"
        total.input_shapes = ""
        return total

    @property
    def self_cpu_time_total(self):
        """Sum of the self times."""
        return sum(event.self_cpu_time_total for event in self)

    def export_chrome_trace(self, path):
        """Write the events as a Chrome trace (JSON)."""
        from .chrome import write

        write(path, list(self))
