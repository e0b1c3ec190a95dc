"""Modules joined into one script, and the house's rules for JavaScript."""

import json
import re
import subprocess

import pytest
from support.faults import assert_none
from support.web_questions import node

from bertedu.errors import UserError
from bertedu.web.bundling import WEB, bundle

MODULES = sorted(WEB.rglob("*.js"))
MOST_LINES = 300
ASKING = r"\b(fetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|importScripts|import\()"


def test_a_script_of_modules_says_what_they_say(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "one.js").write_text('export const name = "one";\nexport function twice(x) {\n  return 2 * x;\n}\n')
    (tmp_path / "deep/two.js").write_text(
        'import { name as first, twice } from "../one.js";\nexport class Two {\n  said = first + twice(2);\n}\n'
    )
    (tmp_path / "three.js").write_text(
        'import {\n  name,\n} from "./one.js";\nimport { Two } from "./deep/two.js";\n'
        "export async function say() {\n  return [name, new Two().said];\n}\n"
    )
    script = bundle(tmp_path / "three.js", "joined") + "joined.say().then(said => console.log(JSON.stringify(said)))"
    done = subprocess.run([node()], input=script, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == ["one", "one4"]


@pytest.mark.parametrize(
    "line", ['import one from "./one.js";', "export { x };", "export default 1;", 'export * from "./one.js";']
)
def test_an_import_or_export_of_another_form_is_refused(line, tmp_path):
    (tmp_path / "one.js").write_text("export const one = 1;\n")
    (tmp_path / "two.js").write_text(f"const x = 1;\n{line}\n")
    with pytest.raises(UserError, match="cannot be joined"):
        bundle(tmp_path / "two.js")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_a_module_is_joined_and_is_a_script(path, tmp_path):
    (tmp_path / "bundle.js").write_text(bundle(path), encoding="utf-8")
    done = subprocess.run([node(), "--check", str(tmp_path / "bundle.js")], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr


def faults(name: str, text: str):
    """What is against the house's rules in a module."""
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        yield f"{name} has {len(lines)} lines: the house's limit is {MOST_LINES}, aim for 250"
    if not text.startswith("/**"):
        yield f"{name}: begin the file with a comment: what lives here"
    for number, line in enumerate(lines, start=1):
        where = f"{name}, line {number}"
        if len(line) > 120:
            yield f"{where} has {len(line)} characters: at most 120"
        if re.match(r"export (async )?(function|class)", line) and not lines[number - 2].endswith("*/"):
            yield f"{where}: say in a comment before it what it is"
        if found := re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function\(", line):
            yield f"{where}: {found[0]} takes a text as HTML or as code: use textContent"
        if not line.lstrip().startswith(("*", "/**")) and (found := re.search(ASKING, line)):
            yield f"{where}: {found[0]} asks somebody else: a page is one file"


def test_modules_are_short_explain_themselves_and_take_no_text_as_html():
    assert_none(fault for path in MODULES for fault in faults(path.name, path.read_text(encoding="utf-8")))


def test_the_rules_find_what_is_against_them():
    bad = "x\n" * 300 + "export function f() {}\n" + "a" * 121 + '\nx.innerHTML = "";\nfetch("x");\n'
    assert len(list(faults("a.js", bad))) == 6
