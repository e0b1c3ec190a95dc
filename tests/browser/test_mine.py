"""A reader's first part: an answer is typed in JupyterLab, accepted, and lit on the map of the reader's own BERT."""

import json

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

NAME = "first_part.ipynb"
STUB = "def merge_heads(x):\n    raise NotImplementedError\n\ncheck('3.3', merge_heads)"
ANSWER = "AXES = (1, 2)\ndef merge_heads(x):\n    return x.transpose(*AXES).flatten(-2)\n\ncheck('3.3', merge_heads)"
IDLE = """name => {
    const widget = window.jupyterapp.shell.currentWidget;
    return widget?.context?.path === name && widget.sessionContext.session?.kernel?.status === 'idle';
}"""
CELL = ".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell"


def test_an_answer_that_is_typed_becomes_a_part_of_the_readers_own_bert(page, lab, ticks, course, screenshots):
    codes = ("from bertedu.course import check\nfrom bertedu.mine import mine", STUB, "mine()")
    notebook = new_notebook(cells=[new_code_cell(code, id=f"cell-{place}") for place, code in enumerate(codes)])
    notebook.metadata.kernelspec = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    nbformat.write(notebook, course / NAME)
    page.goto(lab.replace("NAME", NAME))
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.wait_for_selector(".jp-SplashScreen, #jupyterlab-splash", state="detached")
    page.wait_for_function(IDLE, arg=NAME)
    page.locator(CELL).nth(1).locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(ANSWER)
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
    shown = page.locator(CELL).nth(2).locator(".jp-OutputArea-output")
    shown.wait_for()
    text = shown.inner_text()
    assert "1 of 16 parts are yours" in text and "✓ 3.3 heads" in text and "portuguese" in text
    assert "3.3 · yes." in page.locator(CELL).nth(1).locator(".jp-OutputArea-output").inner_text()
    shown.screenshot(path=screenshots / "mine.png")
    kept = json.loads(ticks.with_suffix(".answers.json").read_text(encoding="utf-8"))
    assert kept["3.3"]["pieces"][0] == "AXES = (1, 2)" and "def merge_heads(x):" in (course / "my_bert.py").read_text()
