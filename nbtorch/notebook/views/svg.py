"""The collapsed graph as an SVG: no script, every name escaped, colours that read on light and dark pages."""

from xml.sax.saxutils import escape, quoteattr

from . import layout
from .graph import collapse, size_text

COLOURS = {
    "module": "#4c8bf5",
    "op": "#8a8f98",
    "loss": "#d9534f",
    "parameter": "#3fa66b",
    "input": "#3fa66b",
    "line": "#b07cd8",
}
HEIGHT, PAD = 36, 12


def clean(text):
    """Text without the characters XML forbids."""
    return "".join(
        c if c >= " " or c in "\t\n" else "\N{REPLACEMENT CHARACTER}"
        for c in str(text)
        if not 0xD800 <= ord(c) <= 0xDFFF and c not in "\ufffe\uffff"
    )


def shorten(text, size):
    """Text of at most `size` characters."""
    return text if len(text) <= size else text[: size - 1] + "…"


def _second_line(group):
    parts = []
    if group.shape is not None:
        parts.append("×".join(map(str, group.shape)) or "scalar")
    if group.saved_bytes:
        parts.append(size_text(group.saved_bytes))
    if group.place is not None:
        parts.append(repr(group.place))
    return "  ".join(parts)


def _width(group):
    return max(
        70, 7.2 * max(len(shorten(group.title, 32)), 0.85 * len(shorten(_second_line(group), 44))) + 18
    )


def _box(group, x, y, width):
    colour = COLOURS.get(group.kind, "#8a8f98")
    left, top = x - width / 2, y - HEIGHT / 2
    details = [group.title, _second_line(group), f"{group.members} nodes", f"{group.parameters} parameters"]
    return (
        f"<g><title>{escape(clean(chr(10).join(filter(None, details))))}</title>"
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{HEIGHT}" rx="6" fill={quoteattr(colour)} '
        f'fill-opacity="0.18" stroke={quoteattr(colour)}/>'
        f'<text x="{x:.1f}" y="{y - 3:.1f}" text-anchor="middle" font-size="12" fill="currentColor">'
        f"{escape(clean(shorten(group.title, 32)))}</text>"
        f'<text x="{x:.1f}" y="{y + 11:.1f}" text-anchor="middle" font-size="10" fill="currentColor" '
        f'fill-opacity="0.7">{escape(clean(shorten(_second_line(group), 44)))}</text></g>'
    )


def _edge(x1, y1, x2, y2):
    y1, y2 = y1 + HEIGHT / 2, y2 - HEIGHT / 2
    bend = max(12.0, abs(y2 - y1) / 2)
    return (
        f'<path d="M{x1:.1f} {y1:.1f}C{x1:.1f} {y1 + bend:.1f} {x2:.1f} {y2 - bend:.1f} {x2:.1f} {y2:.1f}"/>'
    )


def draw(graph, most=60):
    """The SVG text of a walked tape."""
    groups = {group.key: group for group in collapse(graph, most)}
    if not groups:
        return '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
    widths = {key: _width(group) for key, group in groups.items()}
    keys = sorted(groups, key=lambda key: groups[key].order)
    at, (wide, high) = layout.place(
        keys, {key: group.inputs for key, group in groups.items()}, widths.__getitem__
    )
    edges = [
        _edge(*at[source], *at[key])
        for key, group in groups.items()
        for source in sorted(group.inputs, key=repr)
    ]
    boxes = [_box(group, *at[key], widths[key]) for key, group in groups.items()]
    head = (
        graph.title or "autograd graph"
    ) + f": {graph.total} nodes, {size_text(graph.saved_bytes())} saved"
    wide, high = max(wide, 7.2 * len(head)) + 2 * PAD, high + 2 * PAD + 20
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high:.0f}" width="{wide:.0f}" '
        f'height="{high:.0f}" role="img" aria-label={quoteattr(clean(head))} font-family="sans-serif" '
        f'style="max-width:100%;height:auto;color:inherit">'
        f'<text x="{PAD}" y="16" font-size="12" fill="currentColor">{escape(clean(head))}</text>'
        f'<g transform="translate({PAD} {PAD + 20})"><g fill="none" stroke="currentColor" stroke-opacity="0.45">'
        + "".join(edges)
        + "</g>"
        + "".join(boxes)
        + "</g></svg>"
    )
