"""The rules of compiled code, checked on the syntax tree; no file is imported.

A function decorated `@kernel`, `@long_kernel`, `@open_kernel`, `@device` or `@prototype` in src/unibody is held to these rules:

    signature    every argument of a kernel or prototype is annotated Floats, Ints, float, int or bool; plain positional
                 arguments without defaults; at most MOST_ARRAYS arrays; the module has `from __future__ import annotations`,
                 because the annotations are read as text
    writing      an argument that is written ends in `_out`; `_out` arguments come after all the others
    allocation   no array, list, dict or set is made, and no matrix product taken, inside a loop
    failure      no `raise` and no `assert`
    making       at the top of a module or class, never inside a function: a closure compiles anew in every process

and every file to two more: numba is named in kernel.py and triple.py only, and `fastmath` nowhere.

A trailing comment `# kernel-lint: allow-alloc` permits the allocation on its line; one that permits nothing is an error.

    python tools/kernel_lint.py [folder]        prints file:line: message, and exits with 1 if there was anything to print
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "unibody"

MOST_ARRAYS = 16
KINDS = ("kernel", "device", "prototype")
ARRAYS = ("Floats", "Ints")
SCALARS = ("float", "int", "bool")
COMPILERS = ("numba", "llvmlite")
ALLOWANCE = "kernel-lint: allow-alloc"

NUMPY_ALLOCATES = frozenset(
    "zeros ones empty full eye identity zeros_like ones_like empty_like full_like array asarray ascontiguousarray copy arange linspace "
    "diag atleast_1d atleast_2d concatenate stack hstack vstack column_stack append repeat tile dot matmul outer inner cross kron "
    "tensordot where nonzero argsort sort unique".split()
)
NUMPY_LINALG_SCALAR = frozenset(("norm", "det"))
BUILTIN_ALLOCATES = frozenset(("list", "dict", "set", "bytearray"))
METHOD_ALLOCATES = frozenset(("copy", "astype", "tolist", "flatten", "dot"))
METHOD_WRITES = frozenset(("fill", "sort", "partition", "put", "itemset", "setfield"))
METHOD_VIEWS = frozenset(("reshape", "ravel", "view", "transpose"))
FUNCTION_VIEWS = frozenset(("part",))  # unibody.arena.part(arena, layout, slot) shows memory of the arena

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Finding(NamedTuple):
    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        path = self.path.relative_to(ROOT) if self.path.is_relative_to(ROOT) else self.path
        return f"{path}:{self.line}: {self.message}"


class Problem(NamedTuple):
    """A finding that does not know its file yet."""

    line: int
    message: str


def check_tree(folder: Path = PACKAGE) -> list[Finding]:
    """All findings in the Python files under the folder, in order of file and line."""
    return [finding for path in sorted(folder.rglob("*.py")) for finding in check_file(path, folder)]


def check_file(path: Path, package: Path = PACKAGE) -> list[Finding]:
    """All findings in one file of the package."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source, filename=str(path))
    allowed = _allowed_lines(source)
    used: set[int] = set()

    problems = list(_fastmath(tree))
    if path.relative_to(package) not in (Path("kernel.py"), Path("triple.py")):
        problems += _compiler_names(tree)

    compiled = list(_compiled_functions(tree))
    if any(kind != "device" for _, kind, _ in compiled) and not _has_text_annotations(tree):
        problems.append(Problem(1, "kernels need `from __future__ import annotations`: their annotations are read as text"))
    for function, kind, enclosing in compiled:
        if enclosing:
            message = f"{kind} {function.name}: made inside {enclosing}(), so it compiles anew in every process"
            problems.append(Problem(function.lineno, message))
        problems += _decorator_options(function, kind)
        problems += _arguments(function, kind)
        if kind == "prototype":
            problems += _prototype_body(function)
            continue
        problems += _writes(function, kind)
        problems += _failures(function, kind)
        for node, what in _allocations(function):
            lines = set(range(node.lineno, (node.end_lineno or node.lineno) + 1)) & allowed
            used |= lines
            if not lines:
                message = f"{kind} {function.name}: {what} inside a loop; hoist it, or pass scratch as an `_out` argument"
                problems.append(Problem(node.lineno, message))
    problems += [Problem(line, f"`# {ALLOWANCE}` permits nothing here; remove it") for line in allowed - used]
    return [Finding(path, *problem) for problem in sorted(set(problems))]


def _allowed_lines(source: str) -> set[int]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {t.start[0] for t in tokens if t.type == tokenize.COMMENT and t.string.lstrip("# ").startswith(ALLOWANCE)}


def _has_text_annotations(tree: ast.Module) -> bool:
    futures = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    return any(alias.name == "annotations" for node in futures for alias in node.names)


def _compiled_functions(node: ast.AST, enclosing: str = "") -> Iterator[tuple[Function, str, str]]:
    """(function, its kind, the function it is made in or "") for every decorated function, however deep."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, Function):
            yield from _compiled_functions(child, enclosing)
            continue
        for decorator in child.decorator_list:
            kind = _last_name(decorator.func if isinstance(decorator, ast.Call) else decorator).removeprefix("long_").removeprefix("open_")
            if kind in KINDS:
                yield child, kind, enclosing
        yield from _compiled_functions(child, child.name)


def _last_name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _dotted(node: ast.AST) -> str:
    """`np.linalg.solve` of the expression np.linalg.solve; "" of anything that is not a dotted name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = _dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""


def _fastmath(tree: ast.Module) -> Iterator[Problem]:
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "fastmath":
            yield Problem(node.value.lineno, "fastmath changes results with the compiler's mood; leave it out")


def _compiler_names(tree: ast.Module) -> Iterator[Problem]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""] if node.level == 0 else []
        elif isinstance(node, ast.Name):
            names = [node.id]
        elif isinstance(node, ast.Call) and _last_name(node.func) in ("import_module", "__import__"):
            names = [a.value for a in node.args[:1] if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        else:
            continue
        for name in names:
            if name.split(".")[0] in COMPILERS:
                yield Problem(node.lineno, f"{name.split('.')[0]} is named in kernel.py and triple.py only; use @kernel or @device")


def _decorator_options(function: Function, kind: str) -> Iterator[Problem]:
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call) and _last_name(decorator.func).removeprefix("long_") in KINDS:
            yield Problem(decorator.lineno, f"{kind} {function.name}: the decorator takes no options; write @{kind}")


def _arguments(function: Function, kind: str) -> Iterator[Problem]:
    title = f"{kind} {function.name}"
    arguments = [*function.args.posonlyargs, *function.args.args]

    written_before = ""
    for argument in arguments:
        if argument.arg.endswith("_out"):
            written_before = argument.arg
        elif written_before:
            message = f"{title}: read-only `{argument.arg}` comes after `{written_before}`; written arguments come last"
            yield Problem(argument.lineno, message)

    if kind == "device":
        return
    given = function.args
    if given.vararg or given.kwarg or given.kwonlyargs or given.defaults:
        yield Problem(function.lineno, f"{title}: one fixed signature: no defaults, no keyword-only arguments, no * or **")
    annotations = [(a, _annotation(a.annotation)) for a in arguments]
    for argument, annotation in annotations:
        if annotation not in (*ARRAYS, *SCALARS):
            said = f"is annotated `{annotation}`" if annotation else "has no annotation"
            yield Problem(argument.lineno, f"{title}: argument `{argument.arg}` {said}; use one of {', '.join((*ARRAYS, *SCALARS))}")
        elif annotation in SCALARS and argument.arg.endswith("_out"):
            yield Problem(argument.lineno, f"{title}: `{argument.arg}` is a scalar and cannot be written; return it, or use an array")
    returned = _annotation(function.returns)
    if returned not in ("", "None", *SCALARS):
        yield Problem(function.lineno, f"{title}: returns `{returned}`; return a scalar or None, and write arrays to `_out` arguments")
    arrays = sum(annotation in ARRAYS for _, annotation in annotations)
    if arrays > MOST_ARRAYS:
        yield Problem(function.lineno, f"{title}: {arrays} array arguments, at most {MOST_ARRAYS}; each costs about 0.3 µs per call")


def _annotation(node: ast.expr | None) -> str:
    if node is None:
        return ""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)


def _prototype_body(function: Function) -> Iterator[Problem]:
    for statement in function.body:
        if isinstance(statement, ast.Pass) or (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
            continue
        yield Problem(statement.lineno, f"prototype {function.name}: a signature has no body; write a docstring or `...`")
        return


def _writes(function: Function, kind: str) -> Iterator[Problem]:
    """Writes into arguments, or into views of them, whose names do not end in `_out`."""
    arguments = {a.arg: _annotation(a.annotation) for a in (*function.args.posonlyargs, *function.args.args)}
    owner = {name: name for name in arguments}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            base = _viewed(node.value)
            if base in owner:
                owner.setdefault(node.targets[0].id, owner[base])

    for node in ast.walk(function):
        written: list[str] = []
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            written.append(_viewed(node))
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and arguments.get(node.target.id) in ARRAYS:
            written.append(node.target.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHOD_WRITES:
            written.append(_viewed(node.func.value))
        for name in written:
            argument = owner.get(name, "")
            if argument and not argument.endswith("_out"):
                what = f"`{argument}`" if name == argument else f"`{argument}` through `{name}`"
                yield Problem(node.lineno, f"{kind} {function.name}: writes argument {what}; written arguments end in `_out`")


def _viewed(node: ast.AST) -> str:
    """The name whose memory an expression shows: `x` of x, x[i], x[1:][j], x.T, x.reshape(n), part(x, layout, slot)."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Subscript) or (isinstance(node, ast.Attribute) and node.attr in ("T", "flat", *METHOD_VIEWS)):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHOD_VIEWS:
            node = node.func
        elif isinstance(node, ast.Call) and _last_name(node.func) in FUNCTION_VIEWS and node.args:
            node = node.args[0]
        else:
            return ""
    return node.id


def _failures(function: Function, kind: str) -> Iterator[Problem]:
    for node in ast.walk(function):
        if isinstance(node, ast.Raise | ast.Assert):
            word = "raise" if isinstance(node, ast.Raise) else "assert"
            yield Problem(node.lineno, f"{kind} {function.name}: `{word}`; compiled code reports failure as a value")


def _allocations(function: Function) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """(node, what it does) for everything under a loop that makes an array, a list, a dict or a set."""
    for statement in function.body:
        yield from _allocations_under(statement, in_loop=False)


def _allocations_under(node: ast.AST, in_loop: bool) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    what = _allocation(node) if in_loop else ""
    if what:
        assert isinstance(node, ast.expr | ast.stmt)
        yield node, what
    repeated: set[int] = set()
    if isinstance(node, ast.For | ast.AsyncFor):
        repeated = {id(child) for child in node.body}
    elif isinstance(node, ast.While):
        repeated = {id(child) for child in (node.test, *node.body)}
    elif isinstance(node, Comprehension):
        repeated = {id(child) for child in ast.iter_child_nodes(node) if not isinstance(child, ast.comprehension)}
    elif isinstance(node, ast.comprehension):
        repeated = {id(condition) for condition in node.ifs}
    for child in ast.iter_child_nodes(node):
        yield from _allocations_under(child, in_loop or id(child) in repeated)


def _allocation(node: ast.AST) -> str:
    if isinstance(node, Comprehension):
        return "comprehension"
    if isinstance(node, ast.List) and isinstance(node.ctx, ast.Load):
        return "list"
    if isinstance(node, ast.Dict | ast.Set):
        return type(node).__name__.lower()
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
        return "matrix product `@`"
    if isinstance(node, ast.Call):
        name = _dotted(node.func)
        module, _, last = name.rpartition(".")
        if module in ("np", "numpy") and last in NUMPY_ALLOCATES:
            return f"{name}()"
        if module in ("np.linalg", "numpy.linalg") and last not in NUMPY_LINALG_SCALAR:
            return f"{name}()"
        if not module and last in BUILTIN_ALLOCATES:
            return f"{name}()"
        if isinstance(node.func, ast.Attribute) and module not in ("np", "numpy") and node.func.attr in METHOD_ALLOCATES:
            return f".{node.func.attr}()"
    return ""


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0]).resolve() if arguments else PACKAGE
    findings = check_tree(folder)
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
