"""What a teacher should look at in an answer, what a grader cannot judge, and answers that are alike."""

import ast
import copy
import hashlib
import re
from collections.abc import Iterator

from bertedu.classroom.grading.cells import imports_of, parsed

COURSE_NAMES = {"check", "hint", "quiz", "progress", "about", "data_path"}
LOOK = {
    "os",
    "sys",
    "io",
    "pathlib",
    "shutil",
    "tempfile",
    "time",
    "threading",
    "asyncio",
    "types",
    "transformers",
    "sklearn",
}
BEHIND = {
    "_thread atexit builtins code codeop concurrent ctypes cffi dis faulthandler gc importlib inspect linecache",
    "marshal multiprocessing pdb pickle pkgutil posix runpy signal site socket sqlite3 subprocess symtable sysconfig",
    "tracemalloc traceback trace urllib webbrowser zipimport IPython ipykernel jupyter_client nbformat requests psutil",
}
BEHIND_MODULES = {name for line in BEHIND for name in line.split()}
CALLS = {
    "attrgetter",
    "methodcaller",
    "eval",
    "exec",
    "compile",
    "__import__",
    "globals",
    "locals",
    "vars",
    "open",
    "breakpoint",
    "input",
}
SYSTEM = {"maxsize", "float_info", "stderr", "stdout", "version_info", "version", "setrecursionlimit", "getsizeof"}
FRAMES = {
    "f_back f_globals f_locals f_builtins f_code gi_frame gi_code cr_frame ag_frame tb_frame tb_next",
    "func_globals co_code _getframe settrace setprofile _current_frames",
}
REACHING = {name for line in FRAMES for name in line.split()}
PUBLIC = {
    "__init__",
    "__name__",
    "__len__",
    "__call__",
    "__getitem__",
    "__class__",
    "__version__",
    "__doc__",
    "__qualname__",
}
DUNDER = re.compile(r"__\w+__")
MODULES_IN_MODULES = {"sys", "os", "gc", "inspect", "ctypes", "builtins", "importlib", "subprocess", "types"}


def behind_the_scenes(source: str, together: bool = False) -> list[str]:
    """What in an answer reaches behind the scenes of the examination: modules, frames, code made from text.

    together: the check runs beside the answer, so assignments to functions of modules count too.
    """
    tree = parsed(source)
    if tree is None:
        return []
    found = [f"imports {module}" for module, _, _ in imports_of(tree) if module.split(".")[0] in BEHIND_MODULES]
    found += [f"imports {name} of {module}" for module, name, _ in imports_of(tree) if suspicious_name(module, name)]
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for node in ast.walk(tree):
        found += reaching(node)
        if together and isinstance(node, ast.Assign | ast.AugAssign | ast.Delete):
            targets = [node.target] if isinstance(node, ast.AugAssign) else node.targets
            found += [f"assigns to {ast.unparse(one)}" for one in targets if of_a_module(one, own)]
    return sorted(set(found))


def suspicious_name(module: str, name: str) -> bool:
    """Whether `from module import name` brings what a plain import of it is refused for."""
    if module == "sys":
        return name not in SYSTEM
    return name in BEHIND_MODULES | {"_exit", "fork", "kill", "system", "popen"} and module not in ("torch.nn", "torch")


def reaching(node: ast.AST) -> Iterator[str]:
    """What a single piece of code reaches for."""
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        if node.id in CALLS or (node.id.startswith("__") and node.id not in PUBLIC):
            yield f"uses {node.id}"
    elif isinstance(node, ast.Attribute):
        name, owner = node.attr, ast.unparse(node.value)[:40]
        hidden = name.startswith("__") and name.endswith("__") and name not in PUBLIC and owner != "super()"
        if hidden or (name in REACHING and owner != "self") or (name == "modules" and owner == "sys"):
            yield f"uses {owner}.{name}"
        if owner == "sys" and name not in SYSTEM | {"modules"}:
            yield f"uses sys.{name}"
        if owner == "os" and name in {"_exit", "fork", "kill", "system", "popen", "execv", "abort", "write", "open"}:
            yield f"uses os.{name}"
        if name in MODULES_IN_MODULES and not isinstance(node.ctx, ast.Store) and owner != "self":
            yield f"uses {owner}.{name}"
    elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "setattr", "delattr"):
        made = len(node.args) > 1 and isinstance(node.args[1], ast.BinOp | ast.JoinedStr | ast.Call | ast.Subscript)
        if made or (node.args and ast.unparse(node.args[0]) in ("torch", "nn", "numpy", "np")):
            yield f"uses {ast.unparse(node)[:60]}"
    elif (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and DUNDER.fullmatch(node.value)
        and node.value not in PUBLIC
    ):
        yield f"names {node.value!r}"


def of_a_module(target: ast.expr, own: set[str]) -> bool:
    """Whether an assignment goes to a name of torch or of the package."""
    root: ast.AST = target
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    if root is target or not isinstance(root, ast.Name) or root.id in own:
        return False
    return root.id in {"torch", "nn", "F"} or root.id[:1].isupper()


def to_look_at(source: str) -> list[str]:
    """Imports that an answer seldom needs."""
    tree = parsed(source)
    if tree is None:
        return []
    names = {module.split(".")[0] for module, _, _ in imports_of(tree)}
    return [f"imports {name}" for name in sorted(names & LOOK)]


def package_imports(source: str) -> list[tuple[str, str]]:
    """What of the package an answer imports, without `check`, `hint` and the like."""
    tree = parsed(source)
    found = [(module, name) for module, name, _ in imports_of(tree)] if tree else []
    return [
        (module, name)
        for module, name in found
        if module.split(".")[0] == "bertedu" and not (module == "bertedu.course" and name in COURSE_NAMES)
    ]


def fingerprint(source: str) -> str | None:
    """The same for answers that differ only in names of their own, comments and formatting; None for short ones."""
    tree = copy.deepcopy(parsed(source))
    if tree is None:
        return None
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        for field in ("id", "arg", "name"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                setattr(node, field, names.setdefault(value, f"n{len(names)}"))
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
        ):
            body[:] = body[1:] or [ast.Pass()]
    text = ast.dump(tree)
    return hashlib.sha256(text.encode()).hexdigest() if sum(1 for _ in ast.walk(tree)) >= 45 else None
