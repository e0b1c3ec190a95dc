"""Real English that every machine with this course has: the documentation of the packages it depends on.

Source files are parsed, never imported. Which packages are read follows from the requirements of `bertedu` alone,
without its extras, so the same pinned versions give the same text, whatever else is installed.
"""

import ast
import gc
import gzip
import hashlib
import json
import re
import warnings
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tqdm.auto import tqdm

from bertedu.corpora.assembling import corpus_from_documents
from bertedu.corpora.documents import Corpus, Document
from bertedu.corpora.prose import prose_paragraphs
from bertedu.errors import UserError
from bertedu.files import cache_folder, replacing

HARVEST_VERSION = 7  # to be raised with every change to what is harvested: older caches are then not read
SKIPPED_FOLDERS = frozenset(
    "test tests testing _testing vendor _vendor vendored _vendored externals extern third_party thirdparty".split()  # noqa: SIM905
)
DEFINITION = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
SKIPPED_FILE = re.compile(r"licen[cs]e|copying|^test_|_test$|^conftest$")
PLAIN_WORD = re.compile(r"(?<![^\s(\"'])[A-Za-z]?[a-z]*(?=[,;:.!?)\"']*(?:\s|$))")


def required_distributions(root: str = "bertedu") -> list[Distribution]:
    """The installed distributions that `root` depends on, directly or not, sorted by name.

    Those of its extras are left out: what is installed besides must not change the text.
    """
    try:
        distribution(root)
    except PackageNotFoundError as error:
        raise UserError(f"{root} is not installed, only on the path: run `pip install -e .` in its folder.") from error
    found: dict[str, Distribution] = {}
    waiting, done = [(canonicalize_name(root), "")], set()
    while waiting:
        name, extra = pair = waiting.pop()
        if pair in done:
            continue
        done.add(pair)
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:  # needed on other systems, or installed without it
            continue
        for line in found[name].requires or []:
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                needed = canonicalize_name(requirement.name)
                waiting += [(needed, wanted) for wanted in ("", *requirement.extras)]
    del found[canonicalize_name(root)]
    return [found[name] for name in sorted(found)]


def docstrings(source: bytes) -> Iterator[list[str]]:
    """The docstrings of a Python source file: the module's, and for each class or function its own and those in it."""
    if b'"""' not in source and b"'''" not in source:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in other people's strings
            tree = ast.parse(source)
    except (SyntaxError, ValueError):  # written for another version of Python
        return
    yield [ast.get_docstring(tree) or ""]
    for statement in tree.body:
        if found := docstrings_below(statement):
            yield found


def docstrings_below(statement: ast.stmt) -> list[str]:
    """The docstrings of this statement and of what it contains, in order."""
    if isinstance(statement, DEFINITION):
        found = [ast.get_docstring(statement) or ""]
    elif isinstance(statement, ast.If | ast.Try):
        found = []
    else:
        return []
    for part in (*statement.body, *getattr(statement, "orelse", ())):
        found += docstrings_below(part)
    return found


def texts(package: Distribution) -> Iterator[tuple[str, list[str]]]:
    """(source, texts) of everything documented in a distribution: its description, source files and documents."""
    metadata = package.metadata
    yield canonicalize_name(metadata["Name"]), [str(metadata.json.get("description", ""))]
    for file in sorted(package.files or [], key=lambda file: file.parts):
        folders = {folder.lower() for folder in file.parts[:-1]}
        if file.parts[0] == ".." or ".dist-info" in file.parts[0] or folders & SKIPPED_FOLDERS:
            continue
        if file.suffix not in (".py", ".rst", ".md") or SKIPPED_FILE.search(file.stem.lower()):
            continue
        try:
            data = Path(str(file.locate())).read_bytes()
        except OSError:  # listed, and deleted since
            continue
        found = docstrings(data) if file.suffix == ".py" else [[data.decode("utf-8", errors="replace")]]
        yield from ((file.parts[0].removesuffix(".py"), group) for group in found)


def harvest(packages: Iterable[Distribution]) -> list[Document]:
    """The documents of at least two paragraphs of prose in these packages, no sentence twice.

    A function makes a document, and so does a class with its methods. Two sentences are the same when only
    identifiers and numbers differ. A text most of which was read before, in another class or another
    package, is left out whole.
    """
    seen: set[str] = set()
    documents = []
    for package in tqdm(list(packages), desc="reading documentation", unit="package", delay=2, leave=False):
        for source, group in texts(package):
            paragraphs = [paragraph for text in group for paragraph in new_paragraphs(text, seen)]
            if len(paragraphs) >= 2:
                documents.append(Document(tuple(line for paragraph in paragraphs for line in paragraph), source))
    return documents


def new_paragraphs(text: str, seen: set[str]) -> list[list[str]]:
    """The paragraphs of prose in a text without the sentences seen before; none where most were seen before."""
    if text in seen:  # a method described in the same words in class after class
        return []
    seen.add(text)
    paragraphs = prose_paragraphs(text)
    kept = [[line for line in paragraph if is_new(line, seen)] for paragraph in paragraphs]
    if 2 * sum(map(len, kept)) <= sum(map(len, paragraphs)):
        return []
    return [paragraph for paragraph in kept if paragraph]


def is_new(sentence: str, seen: set[str]) -> bool:
    """Whether no sentence with these plain words was seen before; it is remembered."""
    key = " ".join(PLAIN_WORD.findall(sentence)).lower()
    if key in seen:
        return False
    seen.add(key)
    return True


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Syntax trees are many small objects without cycles: looking for garbage among them takes a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def documentation_corpus() -> Corpus:
    """The corpus of the installed packages' documentation; the first call reads them, later calls a cached file.

    1 % of the documents are for validation, 2 % are held out.
    """
    packages = required_distributions()
    path = cache_path(packages)
    documents = read_cache(path)
    if documents is None:
        with garbage_collection_paused():
            documents = harvest(packages)
        try:
            write_cache(path, documents)
        except UserError as error:  # the text is there all the same; only the next call has to read it again
            tqdm.write(str(error))
    return corpus_from_documents("documentation", documents, f"Documentation of {len(packages)} packages")


def cache_path(packages: list[Distribution]) -> Path:
    """Where the harvest of these packages in these versions is kept."""
    versions = [(canonicalize_name(package.metadata["Name"]), package.version) for package in packages]
    key = hashlib.sha256(json.dumps([HARVEST_VERSION, versions]).encode()).hexdigest()[:16]
    return cache_folder() / f"documentation-{key}.jsonl.gz"


def write_cache(path: Path, documents: list[Document]) -> None:
    """Write one document a line, its source and its sentences, compressed; the same bytes for the same text."""
    lines = (json.dumps([document.source, *document.sentences], ensure_ascii=False) for document in documents)
    data = "\n".join(lines).encode()
    with replacing(path) as beside:
        beside.write_bytes(gzip.compress(data, compresslevel=6, mtime=0))


def read_cache(path: Path) -> list[Document] | None:
    """The documents in a cached file, or None where there is none that can be read."""
    if not path.exists():
        return None
    try:
        lines = gzip.decompress(path.read_bytes()).decode().split("\n")
        return [Document(tuple(sentences), source) for source, *sentences in map(json.loads, lines)]
    except (OSError, EOFError, ValueError, zlib.error) as error:
        tqdm.write(f"{path} is damaged ({error}); the documentation is read again.")
        return None
