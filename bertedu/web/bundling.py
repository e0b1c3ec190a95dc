"""JavaScript modules joined into one script, so that a page is a single file.

A browser loads no module beside a page that was opened from a disk. So each module becomes a function that is called
once and returns what the module exports, and an `import` becomes a look at what was returned. The modules keep to two
forms, as `test_web_bundling.py` holds: `import { a, b } from "./other.js";` and `export` before a declaration.
"""

import re
from pathlib import Path

from bertedu.errors import UserError
from bertedu.files import read_text

WEB = Path(__file__).parent
IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[\w./-]+)";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const|let) (\w+))", re.MULTILINE)
OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def bundle(entry: Path, name: str = "") -> str:
    """A script of the module and all that it imports. name: the global variable that gets what the module exports.

    Raises UserError for an import or export of another form.
    """
    scripts: dict[Path, str] = {}
    _collect(entry.resolve(), scripts)
    kept = f"globalThis.{name} = modules[{len(scripts) - 1}];\n" if name else ""
    return "(() => {\nconst modules = [];\n" + "\n".join(scripts.values()) + f"\n{kept}}})();\n"


def _collect(path: Path, scripts: dict[Path, str]) -> None:
    """Put what a module imports before it, each module once."""
    if path in scripts:
        return
    text = read_text(path)
    for _, other in IMPORT.findall(text):
        _collect((path.parent / other).resolve(), scripts)
    numbers = {module: number for number, module in enumerate(scripts)}
    exported = ", ".join(dict.fromkeys(EXPORT.findall(text)))

    def look(found: re.Match[str]) -> str:
        names = re.sub(r"\s+as\s+", ": ", " ".join(found[1].split()))
        return f"const {{ {names.rstrip(',')} }} = modules[{numbers[(path.parent / found[2]).resolve()]}];"

    text = EXPORT.sub("", IMPORT.sub(look, text))
    if strange := OTHER.search(text):
        raise UserError(
            f'{path}: {strange[0]!r} cannot be joined: write import {{ a, b }} from "./other.js"; or export before a '
            "declaration."
        )
    scripts[path] = f"modules.push((() => {{\n{text}\nreturn {{ {exported} }};\n}})());"
