"""Lines per folder and the files and functions over budget; exits 1 when something is over without a listed reason."""
import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE_BUDGET, FUNCTION_BUDGET = 400, 60
TABLE_BUDGET = 600                                # op tables and generated files
ALLOWED = {}                                      # path -> reason


def functions(path):
    """(name, lines) of every function in a file, docstrings not counted."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            doc = node.body[0] if ast.get_docstring(node) is not None else None
            skip = doc.end_lineno - doc.lineno + 1 if doc else 0
            yield node.name, node.end_lineno - node.lineno + 1 - skip


def main():
    """Print the table; return the exit status."""
    folders, over = {}, []
    for path in sorted((ROOT / "nbtorch").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        lines = len(path.read_text(encoding="utf-8").splitlines())
        row = folders.setdefault("/".join(name.split("/")[:2]) if name.count("/") > 1 else "nbtorch", [0, 0])
        row[0] += 1
        row[1] += lines
        budget = TABLE_BUDGET if name.startswith("nbtorch/ops/") else FILE_BUDGET
        if lines > budget and name not in ALLOWED:
            over.append(f"{name}: {lines} lines, budget {budget}")
        over += [f"{name}: {fn} has {n} lines, budget {FUNCTION_BUDGET}" for fn, n in functions(path)
                 if n > FUNCTION_BUDGET]
    print(f"{'folder':28}{'files':>7}{'lines':>8}")
    for folder, (files, lines) in sorted(folders.items()):
        print(f"{folder:28}{files:7}{lines:8}")
    print(f"{'all':28}{sum(r[0] for r in folders.values()):7}{sum(r[1] for r in folders.values()):8}")
    for line in over:
        print("over budget:", line)
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
