"""A page of HTML as a PDF, printed by the browser that is on the machine."""

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from bertedu.errors import UserError
from bertedu.files import refuse_to_replace, replacing

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge", "microsoft-edge")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
CHOSEN = "BERTEDU_CHROMIUM"  # the environment variable that names a browser
SECONDS = 120


def find_browser() -> str:
    """The program of a Chromium, Chrome or Edge. Raises UserError where there is none."""
    chosen = os.environ.get(CHOSEN)
    if chosen:
        if found := shutil.which(chosen):
            return found
        raise UserError(f"{CHOSEN} is {chosen}, and there is no such program: name a Chromium, Chrome or Edge.")
    for found in (*map(shutil.which, NAMES), *(place for place in PLACES if Path(place).is_file())):
        if found:
            return found
    raise UserError(
        "a PDF needs Chromium, Chrome or Edge, and none was found: install one (on Debian: apt install chromium), name "
        f"its program in {CHOSEN}, or write HTML and print it from your browser."
    )


def write_pdf(page: str, path: str | Path) -> None:
    """Print a page of HTML, a text that needs no other file, into a PDF. Raises UserError where that fails."""
    refuse_to_replace(path)  # before the browser works for it
    browser, path = find_browser(), Path(path)
    with TemporaryDirectory() as folder:
        source, printed = Path(folder, "page.html"), Path(folder, "page.pdf")
        source.write_text(page, encoding="utf-8")
        # A browser that root starts refuses to run in its sandbox. The page is our own, and needs nothing from outside.
        alone = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        flags = ["--headless", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={folder}/profile", *alone]
        said = run([browser, *flags, f"--print-to-pdf={printed}", source.as_uri()])
        if not printed.is_file():
            raise UserError(
                f"{path}: {browser} printed nothing; it said: {said[-300:].strip() or 'nothing'}. Name another browser "
                f"in {CHOSEN}, or write HTML and print it from your browser."
            )
        with replacing(path) as beside:
            shutil.copyfile(printed, beside)


def run(command: list[str]) -> str:
    """What a program said. Raises UserError where it cannot be started, and where it takes too long."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as error:  # and what it has printed by then may be half a page
        raise UserError(f"{command[0]} was not ready after {SECONDS} seconds: name another in {CHOSEN}.") from error
    except OSError as error:
        raise UserError(f"{command[0]} cannot be started ({error.strerror}): name another in {CHOSEN}.") from error
    return done.stdout + done.stderr
