"""How nbsql is built: rooms, floors, arrows, circles, the lines of each room, and what rooms ask of each other by name.

    python tests/benchmarks/structure.py [folder of the package]

A room is a module or a folder at the top of the package; an import for types only, or within a function, is an import. A room
stands one floor above the highest that it imports; rooms of a circle share one. A private read is one of an attribute `_name`
of another object than `self`, in a file that does not define that name while another of the package does. A question
to a family is an `isinstance` of a class of nbsql.family, a comparison or a key of its name, or a `getattr` outside of it.
"""

import ast
import re
import sys
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path

Graph = dict[str, set[str]]
CODE = (".py", ".sql", ".txt")  # the macros of one line are in files of text


def modules(package: Path) -> dict[str, Path]:
    """The files of a package, by the names of the modules."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = (package.name, *path.relative_to(package).with_suffix("").parts)
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(package: Path) -> Graph:
    """The modules of the package that each of its modules imports."""
    known = modules(package)
    graph: Graph = {name: set() for name in known}
    for name, path in known.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                targets = [f"{node.module}.{alias.name}" for alias in node.names]
                graph[name] |= {target if target in known else node.module for target in targets}
            elif isinstance(node, ast.Import):
                graph[name] |= {alias.name for alias in node.names}
        graph[name] = {target for target in graph[name] if target in known and target != name}
    return graph


def rooms(graph: Mapping[str, Iterable[str]]) -> Graph:
    """The same between rooms; the face of the package, which hands its names on, is none."""
    found: Graph = {}
    for name, targets in graph.items():
        room = name.split(".")[1] if "." in name else None
        if room is None:
            continue
        found.setdefault(room, set()).update(target.split(".")[1] for target in targets if "." in target)
        found[room].discard(room)
    return found


def circles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """The sets of nodes that reach each other."""
    reach: dict[str, set[str]] = {}
    for start in graph:
        seen: set[str] = set()
        waiting = list(graph[start])
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting += graph.get(node, ())
        reach[start] = seen
    found: dict[Hashable, list[str]] = {}
    for node in graph:
        together = frozenset(other for other in reach[node] if node in reach.get(other, ())) | {node}
        if len(together) > 1:
            found[together] = sorted(together)
    return list(found.values())


def floors(graph: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """How high each node stands."""
    beside = {node: set(circle) for circle in circles(graph) for node in circle}
    found: dict[str, int] = {}

    def floor(node: str) -> int:
        if node not in found:
            group = beside.get(node, {node})
            below = {target for member in group for target in graph[member]} - group
            height = 1 + max((floor(target) for target in below if target in graph), default=0)
            found.update(dict.fromkeys(group, height))
        return found[node]

    for node in graph:
        floor(node)
    return found


def lines(path: Path, holding: str = "") -> int:
    """The lines of a file, or of the code in a folder; of the files alone that hold a text."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.suffix in CODE]
    texts = [file.read_text(encoding="utf-8") for file in files]
    return sum(len(text.splitlines()) for text in texts if holding in text)


def code_lines(path: Path) -> int:
    """The lines of a file of Python, SQL or one-line macros that are neither blank nor within a comment or a docstring."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".sql":
        text = re.sub(r"\{#.*?#\}", "", text, flags=re.DOTALL)
        return sum(bool(line.strip()) and not line.lstrip().startswith("--") for line in text.splitlines())
    prose: set[int] = set()
    for node in ast.walk(ast.parse(text if path.suffix == ".py" else "")):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            prose.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    numbered = enumerate(text.splitlines(), start=1)
    return sum(bool(line.strip()) and not line.lstrip().startswith("#") and number not in prose for number, line in numbered)


def _defined(tree: ast.AST) -> set[str]:
    """The names that a file gives to functions, classes, fields, variables and attributes of `self`."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            found.add(node.attr)
    return found


def private_reads(package: Path) -> list[str]:
    """The reads of private attributes that another file defines, as `file:line expression`."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in modules(package).values()}
    defined = {path: _defined(tree) for path, tree in trees.items()}
    everywhere = set().union(*defined.values())
    return [
        f"{path.relative_to(package)}:{node.lineno} {ast.unparse(node)}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__")
        if ast.unparse(node.value) not in ("self", "cls", "super()") and node.attr in everywhere - defined[path]
    ]


def family_questions(package: Path) -> list[str]:
    """The questions to a family by its class, its name or `getattr`, outside of the room, as `file:line expression`."""
    found = []
    for name, path in modules(package).items():
        if name.startswith("nbsql.family"):
            continue
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        arrivals = [
            node for node in nodes if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("nbsql.family")
        ]
        classes = {alias.name for node in arrivals for alias in node.names}
        asking = [node for node in nodes if isinstance(node, ast.expr) and _asks_a_family(node, classes)]
        found += [f"{path.relative_to(package)}:{node.lineno} {ast.unparse(node)}" for node in asking]
    return found


def _asks_a_family(node: ast.expr, classes: set[str]) -> bool:
    if isinstance(node, ast.Compare):
        return any(map(_is_name, (node.left, *node.comparators)))
    if isinstance(node, ast.Subscript):
        return _is_name(node.slice)
    if not isinstance(node, ast.Call) or not node.args:
        return False
    called = ast.unparse(node.func)
    if called == "isinstance":
        return any(isinstance(each, ast.Name) and each.id in classes for each in ast.walk(node.args[1]))
    of_family = ast.unparse(node.args[0]).endswith("family")
    return (called in ("getattr", "hasattr") and of_family) or (called.endswith(".get") and _is_name(node.args[0]))


def _is_name(node: ast.AST) -> bool:
    return ast.unparse(node).endswith("family.name")


def main() -> None:
    package = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "nbsql"
    files = imports(package)
    house = rooms(files)
    heights = floors(house)
    for room in sorted(house, key=lambda name: (heights[name], name)):
        place = package / room if (package / room).is_dir() else package / f"{room}.py"
        print(f"{heights[room]:>3}  {room:<14} {lines(place):>6} lines   imports {', '.join(sorted(house[room])) or 'nothing'}")
    macros = package.parent / "sql" / "macros"
    for place in sorted(macros.iterdir()) if macros.is_dir() else ():
        print(f"     sql/{place.name:<24} {lines(place):>6} lines")
    arrows = sum(map(len, house.values()))
    of_files = circles(files)
    print(f"{len(house)} rooms, {max(heights.values())} floors, {arrows} arrows, {len(circles(house))} circles of rooms")
    print(f"{len(files)} files, {len(of_files)} circles of files{': ' if of_files else ''}{of_files or ''}")
    print(f"{len(private_reads(package))} reads of private attributes of other files")
    print(f"{len(family_questions(package))} questions to a family by name, class or getattr outside of nbsql.family")
    whole = [package, *([macros.parent] if macros.is_dir() else [])]
    written = lines(package.parent / "sql" / "dbt", "nbsql.dbt write") if macros.is_dir() else 0
    print(f"{sum(map(lines, whole)):,} lines of Python and SQL, of which {written:,} are generated for dbt")
    code = sum(code_lines(path) for place in whole for path in place.rglob("*") if path.suffix in CODE)
    print(f"{code:,} of them are neither blank nor comments or docstrings")


if __name__ == "__main__":
    main()
