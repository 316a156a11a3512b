"""A table as text and as HTML, everything escaped; numbers stand right."""

from html import escape

_CELL = "padding:1px 8px;white-space:nowrap;"


def text(header, rows):
    """Lines with aligned columns."""
    table = [[str(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(header))]
    right = [bool(rows) and all(_numeric(row[i]) for row in rows) for i in range(len(header))]

    def line(row):
        return "  ".join(
            cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(row, widths, right)
        ).rstrip()

    return "\n".join([line(table[0]), "  ".join("-" * w for w in widths), *map(line, table[1:])])


def _numeric(cell):
    return isinstance(cell, (int, float)) or (
        str(cell)[:1].isdigit() or str(cell)[:1] == "-" and str(cell)[1:2].isdigit()
    )


def html(title, lines, header, rows):
    """A titled table with paragraphs above it."""
    right = [bool(rows) and all(_numeric(row[i]) for row in rows) for i in range(len(header))]
    head = "".join(
        f'<th style="{_CELL}text-align:{"right" if r else "left"}">{escape(str(cell))}</th>'
        for cell, r in zip(header, right)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td style="{_CELL}text-align:{"right" if r else "left"}">{escape(str(cell))}</td>'
            for cell, r in zip(row, right)
        )
        + "</tr>"
        for row in rows
    )
    told = "".join(f"<div>{escape(line)}</div>" for line in lines if line)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if header else ""
    return f'<div class="nbtorch-report"><div><strong>{escape(title)}</strong></div>{told}{table}</div>'
