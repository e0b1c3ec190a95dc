"""The part of Python that an answer may use where its check runs beside it, or the package is within its reach.

Read before anything runs. What is named here is refused because it leads, by some detour, to the check or to the
functions that it uses: modules other than those for computing, attributes named by text, classes that say what `==`
means, and functions of torch that are given another meaning.
"""

import ast
import builtins
import sys
from collections.abc import Iterator

MODULES = {
    *("jax", "torch", "numpy", "math", "random", "itertools", "functools", "collections", "typing", "dataclasses"),
    *(
        "operator",
        "copy",
        "heapq",
        "bisect",
        "__future__",
        "bertedu",
        "re",
        "unicodedata",
        "fractions",
        "statistics",
        "decimal",
    ),
}
AS_NAMES = {
    "jax",
    "jnp",
    "torch",
    "nn",
    "F",
    "np",
    "numpy",
    "math",
    "functional",
    "init",
    "linalg",
}  # modules, where they are used
USUAL = {
    *("abc", "array", "bisect", "code", "collections", "copy", "decimal", "functools", "heapq", "itertools", "keyword"),
    *(
        "math",
        "numbers",
        "operator",
        "queue",
        "chunk",
        "random",
        "select",
        "signal",
        "statistics",
        "struct",
        "test",
        "token",
        "tokenize",
    ),
    *("trace", "wave"),
}  # names of modules that are also names of methods, or of no harm
FORBIDDEN = (set(sys.stdlib_module_names) - USUAL) | {
    *("attrgetter", "methodcaller", "get_type_hints", "ForwardRef", "update_wrapper", "eval_str", "Formatter"),
    *("hub", "jit", "package", "ops", "classes", "fx", "library", "overrides", "multiprocessing", "distributed"),
    *("serialization", "compiler", "compile", "export", "profiler", "storage", "load", "save", "memmap", "fromfile"),
    *("pure_callback", "io_callback", "callback", "experimental", "interpreters", "ffi"),  # of JAX
    *("tofile", "testing", "f2py", "ctypeslib", "lib", "core", "utils", "as_subclass", "set_default_dtype"),
    *("f_back", "f_globals", "f_locals", "f_builtins", "f_code", "gi_frame", "gi_code", "cr_frame", "ag_frame"),
    *("tb_frame", "tb_next", "globals", "locals", "vars", "exec", "breakpoint", "set_default_device", "set_rng_state"),
}
SPECIAL = {"__init__", "__len__", "__getitem__", "__iter__", "__repr__", "__str__", "__post_init__", "__call__"}
NAMES = {"__name__", "__qualname__", "__doc__"}  # may be read and set
BY_TEXT = {"getattr", "setattr", "hasattr"}
PLAIN = {name for name in dir(builtins) if isinstance(getattr(builtins, name), type)} - {"object"}


def runs_of(number: str) -> str:
    """Where an answer to an exercise is run (Exercise.runs): a variant's, apart."""
    from bertedu.course.loading import find, is_known  # here, since it loads torch

    return find(number).runs if is_known(number) else "apart"


def outside(source: str) -> list[str]:
    """What in some code lies outside that part of Python, in words. The code must have been parsed before."""
    tree = ast.parse(source)
    found: set[str] = set()
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    modules = AS_NAMES | set(modules_named(tree))
    names = written_out(tree)
    classes = where_classes_may_stand(tree)
    found.update(f"hands on {name}" for name in BY_TEXT | {"type"} if not called_in(tree, name))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.update(of_import(node))
        elif isinstance(node, ast.Name):
            found.update(of_name(node, modules, id(node) in inner))
        elif isinstance(node, ast.Call):
            found.update(of_call(node, modules, names, id(node) in classes))
        elif isinstance(node, ast.Attribute):
            whole = ast.unparse(node.value) in modules | {"torch.nn"} and node.attr[:1].isupper()
            if whole and id(node) not in classes and isinstance(node.ctx, ast.Load):
                found.add(f"hands on {ast.unparse(node)}")
            found.update(of_attribute(node, modules, id(node) in inner))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.update(of_definition(node))
        elif isinstance(node, ast.MatchClass):
            found.add("matches the attributes of a class")
    return sorted(found)


def modules_named(tree: ast.AST) -> Iterator[str]:
    """The names that `import` gives to modules."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.asname or one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (one.asname or one.name for one in node.names if one.name in AS_NAMES)


def of_import(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Imports of other modules, and of names that hide one."""
    paths = [one.name for one in node.names] if isinstance(node, ast.Import) else [node.module or "."]
    for path in paths:
        parts = path.split(".")
        hidden = any(part in FORBIDDEN or part.startswith("_") for part in parts[1:]) and path != "__future__"
        if parts[0] != "bertedu" and (parts[0] not in MODULES or hidden):
            yield f"imports {path}"
    if isinstance(node, ast.ImportFrom) and paths[0].partition(".")[0] != "bertedu":
        for one in node.names:
            if one.name in FORBIDDEN or one.name.startswith("_") or one.name == "*":
                yield f"imports {one.name} of {node.module}"


def written_out(tree: ast.AST) -> set[str]:
    """The names that only ever stand for texts which the code writes out, in loops over a list of them."""
    lists = {
        node.targets[0].id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    loops = [node for node in ast.walk(tree) if isinstance(node, ast.For | ast.comprehension)]
    good: dict[str, int] = {}
    for loop in loops:
        over = lists.get(loop.iter.id) if isinstance(loop.iter, ast.Name) else loop.iter
        items = over.elts if isinstance(over, ast.Tuple | ast.List | ast.Set) else []
        clean = all(isinstance(item, ast.Constant) and allowed(item.value) for item in items)
        if items and clean and isinstance(loop.target, ast.Name):
            good[loop.target.id] = good.get(loop.target.id, 0) + 1
    stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    stored += [node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)]
    once = {name for name in lists if stored.count(name) == 1}
    named = {loop.iter.id for loop in loops if isinstance(loop.iter, ast.Name)}
    return (
        {name for name, count in good.items() if stored.count(name) == count} if named & set(lists) <= once else set()
    )


def where_classes_may_stand(tree: ast.AST) -> set[int]:
    """Where a class is no way to change it: called, as a base, in an annotation, in isinstance, compared, printed."""
    places: list[ast.AST | None] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            places.append(node.func)
            if isinstance(node.func, ast.Name) and node.func.id in {"isinstance", "issubclass"}:
                places += [inner for one in node.args[1:] for inner in ast.walk(one)]
        elif isinstance(node, ast.ClassDef):
            places += node.bases
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            places.append(node.returns)
        elif isinstance(node, ast.arg | ast.AnnAssign):
            places.append(node.annotation)
        elif isinstance(node, ast.Compare):
            places += [node.left, *node.comparators]
        elif isinstance(node, ast.FormattedValue | ast.Attribute) and is_read(node):
            places.append(node.value)
    annotations = [inner for one in places if one and not isinstance(one, ast.Call) for inner in ast.walk(one)]
    return {id(one) for one in (*places, *annotations) if one}


def is_read(node: ast.FormattedValue | ast.Attribute) -> bool:
    """Whether what stands before the dot, or in a text, is only read: a class's name, or torch.nn.Linear.forward."""
    return not isinstance(node, ast.Attribute) or node.attr in NAMES or isinstance(node.value, ast.Attribute)


def of_name(node: ast.Name, modules: set[str], owner: bool) -> Iterator[str]:
    """Modules handed on, and functions handed on that take attributes by text."""
    if node.id in modules and not owner:
        yield f"hands on {node.id}" if isinstance(node.ctx, ast.Load) else f"assigns to {node.id}"
    if isinstance(node.ctx, ast.Store) and (node.id.startswith("__") or node.id in BY_TEXT):
        yield f"assigns to {node.id}"
    if node.id in {"dir", "delattr", *FORBIDDEN & set(dir(builtins))}:
        yield f"uses {node.id}"


def of_call(node: ast.Call, modules: set[str], names: set[str], class_may_stand: bool) -> Iterator[str]:
    """Attributes named by text, and classes made or handed on."""
    function = node.func.id if isinstance(node.func, ast.Name) else ""
    if function in BY_TEXT:
        name = node.args[1] if len(node.args) > 1 else None
        constant = isinstance(name, ast.Constant) and allowed(name.value)
        if not constant and not (isinstance(name, ast.Name) and name.id in names):
            yield f"uses {function} with a name that is not written out, or not allowed"
        if function == "setattr" and not may_be_set(node.args[0], modules):
            yield f"assigns to {ast.unparse(node.args[0])[:60]}"
    if function == "type" and (len(node.args) != 1 or not class_may_stand):
        yield "makes or hands on a class"


def called_in(tree: ast.AST, name: str) -> bool:
    """Whether a name stands in some code only where it is called."""
    funcs = [id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return all(id(node) in funcs for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name)


def allowed(name: object) -> bool:
    """Whether an attribute of that name may be used."""
    return isinstance(name, str) and name not in FORBIDDEN and name != "forward" and not name.startswith("_")


def may_be_set(node: ast.AST, modules: set[str]) -> bool:
    """Whether attributes of something may be set: of what a variable holds, not of a module or class."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name) and node.id not in modules and not node.id[:1].isupper()


def of_attribute(node: ast.Attribute, modules: set[str], owner: bool) -> Iterator[str]:
    """Attributes that lead elsewhere, and those that are given another value."""
    mine = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
    private = (
        node.attr.startswith("_") and node.attr not in SPECIAL | NAMES and (not mine or node.attr.startswith("__"))
    )
    if private or (node.attr in FORBIDDEN and not (mine and isinstance(node.ctx, ast.Store))):
        yield f"uses {ast.unparse(node)[:60]}"
    if node.attr in AS_NAMES and ast.unparse(node.value) in {"torch", "nn", "torch.nn"} and not owner:
        yield f"hands on {ast.unparse(node)}"
    if node.attr == "modules" and ast.unparse(node.value) in {"nn", "torch.nn"}:
        yield "uses nn.modules"
    other = not isinstance(node.ctx, ast.Load) and not mine and node.attr not in NAMES
    if other and not (may_be_set(node, modules) and allowed(node.attr)):
        yield f"assigns to {ast.unparse(node)[:60]}"


def of_definition(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[str]:
    """Classes of plain values, of tensors and of classes, and methods that say what operators mean."""
    if node.name.startswith("__") and node.name not in SPECIAL:
        yield f"defines {node.name}"
    if isinstance(node, ast.ClassDef):
        if node.keywords:
            yield "makes a class of another kind"
        for base in map(ast.unparse, node.bases):
            last = base.rpartition(".")[2]
            if last in PLAIN or last.endswith(("Tensor", "Parameter", "Mode", "Function", "Enum", "Meta", ")")):
                yield f"makes a kind of {base}"
