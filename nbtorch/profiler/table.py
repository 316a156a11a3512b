"""The profile's table as text, column by column, in torch.profiler's layout."""

WIDTH, GAP = 12, "  "
FLOP_UNITS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")


def memory_text(nbytes):
    """Bytes with sign, as B, KB, MB or GB."""
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(nbytes) >= size:
            return f"{nbytes / size:.2f} {unit}"
    return f"{nbytes} B"


def share_text(part, whole):
    """A part as per cent of the whole."""
    if whole == 0:
        if part != 0:
            raise AssertionError(f"Expected time_us == 0 but got {part}")
        return "NaN"
    return f"{part * 100.0 / whole:.2f}%"


def cut(name, limit):
    """A name that fits a column."""
    return name if limit is None or len(name) < limit - 3 else name[: limit - 3] + "..."


def _cut_path(path, limit):
    return path if len(path) <= limit else "..." + path[len(path) - limit + 3 :]


def _flop_scale(rows):
    """(divisor, unit) so that the smallest counted row still reads well; None when nothing was counted."""
    counted = [row.flops for row in rows if row.flops > 0]
    if not counted:
        return None
    power, least = 0, min(counted)
    while least >= 1000.0 ** (power + 1) and power < len(FLOP_UNITS) - 1:
        power += 1
    return 1000.0**power, FLOP_UNITS[power]


def _time(us, text, unit):
    sizes = {"s": 1e6, "ms": 1e3, "us": 1.0}
    return f"{us / sizes[unit]:.3f}{unit}" if unit in sizes else text


def _columns(rows, total, unit, profile_memory, with_flops, name_limit, shapes_limit, src_limit):
    """[(title, width, alignment, row -> text)] of the table."""

    def width(texts, limit):
        longest = max(map(len, texts)) + 4
        return longest if limit is None else min(longest, limit)

    columns = [
        ("Name", width([row.key for row in rows], name_limit), ">", lambda row: cut(row.key, name_limit)),
        ("Self CPU %", WIDTH, ">", lambda row: share_text(row.self_cpu_time_total, total)),
        (
            "Self CPU",
            WIDTH,
            ">",
            lambda row: _time(row.self_cpu_time_total, row.self_cpu_time_total_str, unit),
        ),
        ("CPU total %", WIDTH, ">", lambda row: share_text(row.cpu_time_total, total)),
        ("CPU total", WIDTH, ">", lambda row: _time(row.cpu_time_total, row.cpu_time_total_str, unit)),
        ("CPU time avg", WIDTH, ">", lambda row: _time(row.cpu_time, row.cpu_time_str, unit)),
    ]
    if profile_memory:
        columns.append(("CPU Mem", WIDTH, ">", lambda row: memory_text(row.cpu_memory_usage)))
        columns.append(("Self CPU Mem", WIDTH, ">", lambda row: memory_text(row.self_cpu_memory_usage)))
    columns.append(("# of Calls", WIDTH, ">", lambda row: str(row.count)))
    if any(row.input_shapes for row in rows):
        wide = width([str(row.input_shapes) for row in rows], shapes_limit)
        columns.append(("Input Shapes", wide, ">", lambda row: str(row.input_shapes)[:wide]))
    if any(row.stack for row in rows):
        src = width([entry for row in rows for entry in row.stack or ()], src_limit)
        columns.append(
            ("Source Location", src, "<", lambda row: _cut_path(row.stack[0], src) if row.stack else "")
        )
    scale = _flop_scale(rows) if with_flops else None
    if scale:
        columns.append(
            (
                f"Total {scale[1]}",
                WIDTH,
                ">",
                lambda row: f"{row.flops / scale[0]:8.3f}" if row.flops > 0 else "--",
            )
        )
    return columns


def build(
    rows,
    sort_by=None,
    row_limit=100,
    max_src_column_width=75,
    max_name_column_width=55,
    max_shapes_column_width=80,
    header=None,
    top_level_events_only=False,
    time_unit=None,
    profile_memory=False,
    with_flops=False,
    dropped=0,
):
    """The table; "" without rows. AttributeError names a sort key no row has."""
    rows = list(rows)
    if not rows:
        return ""
    if sort_by is not None:
        rows.sort(key=lambda row: getattr(row, sort_by.replace("cuda", "device")), reverse=True)
    total = sum(row.self_cpu_time_total for row in rows)
    columns = _columns(
        rows,
        total,
        time_unit,
        profile_memory,
        with_flops,
        max_name_column_width,
        max_shapes_column_width,
        max_src_column_width,
    )
    line = sum(width for _, width, _, _ in columns) + len(GAP) * (len(columns) - 1)
    rule = "".join("-" * width + GAP for _, width, _, _ in columns)
    out = []
    if header is not None:
        out += ["=" * line, header]
    if top_level_events_only:
        out += ["=" * line, "This report only display top-level ops statistics"]
    out += [rule, "".join(f"{title: {align}{width}}" + GAP for title, width, align, _ in columns), rule]
    shown = 0
    for row in rows:
        if shown == row_limit:
            break
        if top_level_events_only and row.cpu_parent is not None:
            continue
        shown += 1
        out += _lines(row, columns)
    from .events import time_text

    out += [rule, f"Self CPU time total: {_time(total, time_text(total), time_unit)}"]
    if dropped:
        out.append(f"{dropped} of the oldest events were dropped: the profile's buffer was full")
    return "\n".join(out) + "\n"


def _lines(row, columns):
    """A row's line, and one more for each further entry of its stack."""
    lines = ["".join(f"{text(row): {align}{width}}" + GAP for _, width, align, text in columns)]
    for entry in (row.stack or ())[1:]:
        lines.append(
            "".join(
                f"{_cut_path(entry, width) if title == 'Source Location' else '': {align}{width}}" + GAP
                for title, width, align, _ in columns
            )
        )
    return lines
