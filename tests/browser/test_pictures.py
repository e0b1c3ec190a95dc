"""Every picture of every chapter in JupyterLab: it is drawn, no wider than its column, and has words beside it."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bertedu.course.building.pictures import RAW, pictures_in, without_code
from bertedu.course.building.places import Places

PLACES = Places()
PATHS = [path for source in PLACES.all_sources() for path in PLACES.pair(source)]
NAMES = [path.relative_to(PLACES.notebooks).as_posix() for path in PATHS]
LEAST_WORDS = 5
# Of each cell its pictures: each with its address, the words beside it, its width and that of its column. (JupyterLab
# gives no words to the picture of an output; a rule over the stored notebooks examines those.)
LOOK = """async name => {
    const panel = window.jupyterapp.shell.currentWidget, found = [];
    for (const cell of panel.content.widgets) {
        cell.node.querySelectorAll('details').forEach(folded => { folded.open = true; });
        const images = [...cell.node.querySelectorAll('.jp-RenderedHTMLCommon img, .jp-OutputArea img')];
        await Promise.all(images.map(image => image.decode().catch(() => 0)));
        found.push({
            kind: cell.model.type, source: cell.model.sharedModel.getSource(),
            drawings: cell.node.querySelectorAll('.jp-RenderedMarkdown svg').length,
            images: images.map(image => ({
                address: image.src.split('?')[0].split('/').pop().slice(0, 60), words: image.alt,
                drawn: image.naturalWidth > 0,
                width: image.getBoundingClientRect().width,
                room: image.closest('.jp-RenderedHTMLCommon, .jp-OutputArea-output').clientWidth,
            })),
        });
    }
    return found;
}"""
SHOWN = """name => {
    const panel = window.jupyterapp?.shell.currentWidget, cells = panel?.content?.widgets;
    return panel?.context?.path === name && panel.context.isReady && cells.length > 0 && cells.every(cell =>
        cell.model.type !== 'markdown' || cell.node.querySelector('.jp-RenderedMarkdown')?.childElementCount > 0);
}"""


def open_stored(page, lab: str, name: str) -> None:
    """Open a notebook, alone in the window, as it is stored."""
    page.goto(f"{lab.replace('NAME', name)}&reset")
    page.wait_for_function(SHOWN, arg=name)


def faults(cell: dict) -> list[str]:
    """What somebody does not see or hear of a cell's pictures."""
    begins, found = cell["source"].strip().partition("\n")[0], []
    if cell["kind"] == "markdown":
        if RAW.search(without_code(cell["source"])) and not cell["drawings"]:
            found.append("an <svg> of the source is not on the page")
        if (named := len(pictures_in(cell["source"]))) > len(cell["images"]):
            found.append(f"{named} pictures are named, and {len(cell['images'])} are on the page")
    for image in cell["images"]:
        if not image["drawn"]:
            found.append(f"{image['address']} is not drawn")
        elif image["width"] > image["room"] + 1:
            found.append(f"{image['address']} has {image['width']:.0f} pixels, its column {image['room']}")
        if cell["kind"] == "markdown" and len(image["words"].split()) < LEAST_WORDS:
            found.append(f"{image['address']} has no words that say what it shows")
    return [f"{begins[:60]}: {fault}" for fault in found]


def close(page) -> None:
    page.evaluate("window.jupyterapp.serviceManager.sessions.shutdownAll()")


@pytest.mark.parametrize("name", NAMES)
def test_every_picture_of_a_chapter_is_seen(name, page, lab, screenshots, asked_elsewhere):
    open_stored(page, lab, name)
    cells = page.evaluate(LOOK, name)
    shown = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-MarkdownCell img")
    for number in range(shown.count() if "/" not in name else 0):
        shown.nth(number).screenshot(path=screenshots / f"picture-{name[:2]}-{number + 1}.png")
    close(page)
    print(f"{name}: {sum(len(cell['images']) for cell in cells)} pictures")
    assert not [fault for cell in cells for fault in faults(cell)]
    assert not asked_elsewhere


PLANTED = (
    '<svg role="img" aria-label="A line" width="30" height="30"><path d="M0 0H30" stroke="black"/></svg>',
    "![A picture that is not in the folder at all](pictures/none.svg)",
    "![](pictures/wide.svg)",
    "![Wide but in a page that makes it as narrow](pictures/wide.svg)",
    '<img src="pictures/wide.svg" width="5000" style="max-width:none" alt="A picture that leaves its column here">',
)


def test_a_picture_that_nobody_sees_is_found(page, lab, course):
    (course / "pictures" / "wide.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="5000" height="30"><path d="M0 9H5000" stroke="black"/></svg>'
    )
    cells = [*map(new_markdown_cell, PLANTED), new_code_cell("1")]
    nbformat.write(new_notebook(cells=cells), course / "planted.ipynb")
    open_stored(page, lab, "planted.ipynb")
    told = [faults(cell) for cell in page.evaluate(LOOK, "planted.ipynb")]
    close(page)
    print(*(fault for some in told for fault in some), sep="\n")
    assert ["an <svg> of the source" in "".join(some) for some in told] == [True, *[False] * 5]
    assert ["none.svg is not drawn" in "".join(some) for some in told] == [False, True, *[False] * 4]
    assert ["has no words" in "".join(some) for some in told] == [False, False, True, *[False] * 3]
    assert not told[3] and not told[5]
