"""A JupyterLab of its own with a copy of the notebooks, and a page in Chromium that tells what it asks for.

`make browser-test` runs these tests; `make test` does not. Nothing is downloaded: Chromium is the machine's own.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

REPOSITORY = Path(__file__).resolve().parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SCREENSHOTS = REPOSITORY / "runs" / "browser-test"
HERE = ("localhost", "127.0.0.1")
SECONDS = 240  # for anything that a page waits for: a kernel on a busy machine takes its time
SETTINGS = {
    "notebook-extension/tracker": '{"windowingMode": "none"}',  # all cells are on the page
    "apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',  # no question on top of it
}
CELLS = (
    "from bertedu.course.quizzes import quiz\n"
    "from bertedu.inference import attention_weights, open_model\n"
    "from bertedu.interview.asking import interview\n"
    "from bertedu.interview.flashcards import flashcards\n"
    "from bertedu.visualization.bertviz_views import head_view, model_view\n"
    f"import sys; sys.path.insert(0, {str(REPOSITORY / 'tests')!r})\n"
    "from support.explorable_examples import EXAMPLES\n"
    "from bertedu.course.explorable import explorable\n"
    "from bertedu.visualization.widgets import attention_explorer, fill_mask_box, masking_playground, word_in_context\n"
    f"model, tokenizer = open_model({str(REPOSITORY / 'data' / 'checkpoints' / 'world-tiny')!r})\n"
    "pair = 'Berlin is the capital of Germany.', 'Paris is the capital of France.'\n"
    "tokens, weights = attention_weights(model, tokenizer, *pair)",
    "head_view(weights, tokens, tokens.index('[SEP]') + 1)",
    "model_view(weights, tokens)",
    "attention_explorer(model, tokenizer, *pair)",
    "masking_playground(tokenizer, ' '.join(pair), model)",
    "fill_mask_box(model, tokenizer, 'The capital of France is [MASK].')",
    "word_in_context(model, tokenizer, ['She sat on the bank of the river.', 'He brought his money to the bank.',\n"
    "    'They walked along the bank of the river.', 'The bank lends money.'], 'bank')",
    "explorable('weighted_sum', **EXAMPLES['weighted_sum'])",
    "quiz(1)",
    "flashcards('attention')",
    "interview('attention')",
)


def find_chromium() -> str:
    chosen = os.environ.get("BERTEDU_CHROMIUM")
    found = shutil.which(chosen) if chosen else next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        pytest.skip(
            f"no Chromium was found ({chosen or ', '.join(NAMES)}): install one (on Debian: apt install chromium), "
            "or name its program in BERTEDU_CHROMIUM"
        )
    return found


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


@pytest.fixture(scope="session")
def course(tmp_path_factory) -> Path:
    """A folder with copies of the notebooks and their pictures, and a notebook of all views, executed and stored like
    them."""
    from bertedu.course.building.executing import execute, scrub

    folder = tmp_path_factory.mktemp("course")
    for path in (REPOSITORY / "notebooks").glob("[0-9]*.ipynb"):
        shutil.copy(path, folder)
    for name in ("pictures", "solutions"):
        shutil.copytree(REPOSITORY / "notebooks" / name, folder / name)
    views = new_notebook(cells=[new_code_cell(code, id=f"cell-{number}") for number, code in enumerate(CELLS)])
    views.metadata.kernelspec = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    os.environ["BERTEDU_DATA"] = str(REPOSITORY / "data")
    execute(views, folder, "views.ipynb")
    scrub(views)
    nbformat.write(views, folder / "views.ipynb")
    return folder


@pytest.fixture(scope="session")
def ticks(tmp_path_factory) -> Path:
    """The file where the kernels of `lab` keep what was solved and answered."""
    return tmp_path_factory.mktemp("ticks") / "progress.json"


@pytest.fixture(scope="session")
def lab(course, ticks, tmp_path_factory) -> Iterator[str]:
    """The address of JupyterLab, with settings of its own; it ends with the tests."""
    settings = tmp_path_factory.mktemp("settings")
    for name, choice in SETTINGS.items():
        file = settings / "lab" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True)
        file.write_text(choice, encoding="utf-8")
    port, token = free_port(), "browser-test"
    folders = {
        "JUPYTERLAB_SETTINGS_DIR": settings / "lab",
        "JUPYTERLAB_WORKSPACES_DIR": settings / "workspaces",
        "JUPYTER_CONFIG_DIR": settings / "config",
        "JUPYTER_RUNTIME_DIR": settings / "runtime",
        "IPYTHONDIR": settings / "ipython",
    }
    options = [
        "--no-browser",
        "--expose-app-in-browser",
        f"--ServerApp.port={port}",
        "--ServerApp.ip=127.0.0.1",
        f"--IdentityProvider.token={token}",
        f"--ServerApp.root_dir={course}",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.news_url=None",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.append("--allow-root")
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "BERTEDU_PROGRESS": str(ticks),
        "HF_HUB_OFFLINE": "1",
        "BERTEDU_DATA": str(REPOSITORY / "data"),
        **{name: str(path) for name, path in folders.items()},
    }
    with open(settings / "log", "wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options], env=environment, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            wait_for(f"http://127.0.0.1:{port}/api?token={token}", server, settings / "log")
            yield f"http://127.0.0.1:{port}/lab/tree/NAME?token={token}"
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()


def wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    """Until the server answers. Fails with its log where it has ended or stays silent."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and server.poll() is None:
        try:
            urlopen(address, timeout=5).close()
            return
        except OSError:
            time.sleep(0.5)
    pytest.fail(f"JupyterLab did not start:\n{log.read_text(errors='replace')[-3000:]}")


@pytest.fixture(scope="session")
def browser():
    """The system's Chromium without a window."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is missing: pip install -e '.[browser]'")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_chromium())
        yield chromium
        chromium.close()


@pytest.fixture
def asked_elsewhere() -> list[str]:
    """Addresses outside this machine that the page asked for."""
    return []


@pytest.fixture
def page(browser, asked_elsewhere):
    """A page that lets nothing outside this machine be fetched, and notes what was asked."""

    def outside(address: str) -> bool:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https", "ws", "wss") and parts.hostname not in HERE

    context = browser.new_context(viewport={"width": 1280, "height": 1000}, service_workers="block")
    context.set_default_timeout(1000 * SECONDS)
    context.on("request", lambda request: outside(request.url) and asked_elsewhere.append(request.url))
    context.route(outside, lambda route: route.abort())
    page = context.new_page()
    page.on("websocket", lambda socket: outside(socket.url) and asked_elsewhere.append(socket.url))
    yield page
    context.close()


@pytest.fixture(scope="session")
def barriers():
    """Looks at an open page with axe; gives a line for each thing that is a barrier to somebody."""
    package = pytest.importorskip("axe_playwright_python", reason="axe is missing: pip install -e '.[browser]'")
    axe = (files(package) / "axe.min.js").read_text(encoding="utf-8")

    def look(page) -> list[str]:
        page.evaluate(axe)
        found = page.evaluate("axe.run({resultTypes: ['violations']}).then(all => all.violations)")
        return [f"{one['id']} ({one['impact']}): {one['nodes'][0]['html'][:200]}" for one in found]

    return look


@pytest.fixture(scope="session")
def screenshots() -> Iterator[Path]:
    """The folder where pictures are kept; its path is printed at the end."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    yield SCREENSHOTS
    print(f"\nScreenshots: {SCREENSHOTS}")
