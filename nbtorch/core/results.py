"""Named tuple results (`torch.return_types.max`)."""
import collections

_types = {}


def result_type(names):
    """The named tuple class for ("max", "values", "indices")."""
    found = _types.get(names)
    if found is None:
        base = collections.namedtuple(names[0], names[1:])

        def __repr__(self):
            fields = ",\n".join(f"{n}={v!r}" for n, v in zip(self._fields, self))
            return f"torch.return_types.{names[0]}(\n{fields})"
        found = _types[names] = type(names[0], (base,), {"__slots__": (), "__repr__": __repr__,
                                                         "__module__": "torch.return_types"})
    return found


def named_result(names, values):
    """A result tuple; plain when the op names none."""
    return tuple(values) if names is None else result_type(names)(*values)
