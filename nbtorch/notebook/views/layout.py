"""A layered layout of a small graph: longest paths give rows, a few barycentre sweeps give the order in a
row.

No recursion, so depth does not matter.  Cycles (a module used twice becomes one box) are cut at the edge that
leads back in the given order.
"""

from collections import defaultdict


def layers(order, inputs):
    """{key: row}: every key lies below all its inputs. order: keys, consumers first; inputs: {key: set of
    keys}.
    """
    position = {key: i for i, key in enumerate(order)}
    row = {}
    for key in reversed(order):  # inputs stand later in the order, so they are placed first
        below = [row[source] for source in inputs.get(key, ()) if position.get(source, -1) > position[key]]
        row[key] = max(below) + 1 if below else 0
    return row


def topological(keys, inputs):
    """Keys so that consumers come before their inputs, keeping the given order where it may; cycles keep that
    order.
    """
    waiting = dict.fromkeys(keys, 0)
    for key in keys:
        for source in inputs.get(key, ()):
            if source in waiting:
                waiting[source] += 1
    done, out = set(), []
    ready = [key for key in keys if waiting[key] == 0]
    rest = iter(keys)
    while len(out) < len(keys):
        if not ready:
            ready = [next(key for key in rest if key not in done)]  # a cycle is opened at its earliest key
        key = ready.pop(0)
        if key in done:
            continue
        done.add(key)
        out.append(key)
        for source in inputs.get(key, ()):
            if source in waiting and source not in done:
                waiting[source] -= 1
                if waiting[source] == 0:
                    ready.append(source)
    return out


def place(keys, inputs, width, row_gap=46, column_gap=24, height=34):
    """{key: (x, y)} of box centres, sizes all `height` high and `width(key)` wide, and the picture's (width,
    height).

    The first keys (losses) are at the bottom, their inputs above, as data flows down.
    """
    order = topological(list(keys), inputs)
    row = layers(order, inputs)
    rows = defaultdict(list)
    for key in order:
        rows[row[key]].append(key)
    neighbours = defaultdict(set)
    for key in order:
        for source in inputs.get(key, ()):
            if source in row:
                neighbours[key].add(source)
                neighbours[source].add(key)
    _sweep(rows, neighbours)
    wide = max(sum(width(key) for key in line) + column_gap * (len(line) - 1) for line in rows.values())
    at = {}
    for number, line in rows.items():
        x = (wide - sum(width(key) for key in line) - column_gap * (len(line) - 1)) / 2
        for key in line:
            at[key] = (x + width(key) / 2, number * (height + row_gap) + height / 2)
            x += width(key) + column_gap
    return at, (wide, (max(rows) + 1) * (height + row_gap) - row_gap)


def _sweep(rows, neighbours, times=4):
    """Order each row by the mean position of its neighbours in the rows around it."""
    slot = {key: i for line in rows.values() for i, key in enumerate(line)}
    numbers = sorted(rows)
    for turn in range(times):
        for number in numbers if turn % 2 == 0 else reversed(numbers):
            line = rows[number]
            mean = {
                key: sum(slot[n] for n in neighbours[key]) / len(neighbours[key])
                if neighbours[key]
                else slot[key]
                for key in line
            }
            line.sort(key=mean.__getitem__)
            slot.update({key: i for i, key in enumerate(line)})
