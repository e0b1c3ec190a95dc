"""A package that offers the names of its modules, and imports a module only when one of its names is asked for.

So whoever needs one name of a folder waits for one file of it, and depends on no other. The package lists its names as
imports that only type checkers follow; `names_on_demand` reads them there, so that they are said once:

    if TYPE_CHECKING:
        from bertedu.model.bert import BertModel
    else:
        __getattr__, __dir__ = names_on_demand(__name__)

No name may be that of a module in the same package: whichever was imported last would be found.
"""

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def names_on_demand(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` (PEP 562) of a package that is being imported, by its dotted name.

    What is found is not kept in the package: a name that stands in it was put there by somebody else, which
    `course/guarding.py` takes back.
    """
    module = sys.modules[package]
    loader: Any = module.__loader__  # it finds the code in a zip file, too
    where = imported_for_types(loader.get_source(package))

    def find(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(where[name]), name)

    return find, lambda: sorted({*vars(module), *where})


def imported_for_types(code: str) -> dict[str, str]:
    """The names that code imports where `TYPE_CHECKING` holds, and from which modules."""
    blocks = [node for node in ast.parse(code).body if isinstance(node, ast.If)]
    found = [node for block in blocks if ast.unparse(block.test) == "TYPE_CHECKING" for node in block.body]
    imports = [node for node in found if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in imports for alias in node.names}
