"""The harvest of the packages' documentation, on small packages made for the test and once on the real ones."""

import gzip
import os
import subprocess
import sys
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

import bertedu
from bertedu.corpora import documentation
from bertedu.corpora.documentation import docstrings, documentation_corpus, harvest, required_distributions
from bertedu.corpora.documents import split_documents
from bertedu.errors import UserError

MODULE = '''"""The first paragraph of the module is here.

The second paragraph of the module is here too.
"""

def alone():
    """Return the only value that there is.

    >>> The doctest of this function.
    The output of this doctest.

    The value is never the same one twice.
    """

class Shape:
    """A shape in the plane of the drawing."""

    def area(self):
        """Return the area of this shape in square metres."""

    if True:
        def moved(self, x): "Move it by x to the right of the drawing."

def short():
    """One paragraph makes no document of its own."""
'''


def make_package(folder: Path, name: str, files: dict[str, str], requires: tuple[str, ...] = ()) -> PathDistribution:
    """A distribution as an installer leaves it: files, METADATA and RECORD."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    lines = [f"Name: {name}", "Version: 1.0", *(f"Requires-Dist: {line}" for line in requires)]
    (info / "METADATA").write_text("Metadata-Version: 2.1\n" + "\n".join(lines) + "\n", encoding="utf-8")
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    (info / "RECORD").write_text("".join(f"{path},,\n" for path in files), encoding="utf-8")
    return PathDistribution(info)


def all_sentences(documents) -> list[str]:
    return [sentence for document in documents for sentence in document.sentences]


def test_doctest_lines_do_not_enter_the_prose(tmp_path):
    documents = harvest([make_package(tmp_path, "pack", {"pack/a.py": MODULE})])
    assert not any("doctest" in sentence for sentence in all_sentences(documents))
    assert "The value is never the same one twice." in all_sentences(documents)


def test_methods_stay_with_their_class_and_functions_stay_apart(tmp_path):
    module, alone, shape = harvest([make_package(tmp_path, "pack", {"pack/a.py": MODULE})])
    assert module.source == alone.source == shape.source == "pack"
    assert len(module.sentences) == len(alone.sentences) == 2
    assert shape.sentences == (
        "A shape in the plane of the drawing.",
        "Return the area of this shape in square metres.",
        "Move it by x to the right of the drawing.",
    )


def test_a_sentence_comes_once_whatever_its_name_or_number(tmp_path):
    twin = '"""The first part of a_name is 3 metres.\n\nThe second part of a_name is here."""\n'
    files = {"pack/a.py": twin, "pack/b.py": twin.replace("a_name", "other_name").replace("3", "41")}
    assert len(harvest([make_package(tmp_path, "pack", files)])) == 1


def test_a_text_that_was_mostly_read_before_leaves_no_scraps(tmp_path):
    text = '"""The first part is here.\n\nThe second part is here.\n\nThe third part is here."""\n'
    files = {
        "pack/a.py": text,
        "pack/b.py": text.replace("third", "fourth").replace('here."""', 'here.\n\nA fifth is new."""'),
    }
    assert len(all_sentences(harvest([make_package(tmp_path, "pack", files)]))) == 3


def test_tests_vendored_copies_and_licences_stay_out_of_the_harvest(tmp_path):
    skipped = (
        "pack/tests/a.py",
        "pack/_vendor/b.py",
        "pack/test_c.py",
        "pack/LICENSE.md",
        "../bin/d.py",
        "pack/conftest.py",
    )
    package = make_package(tmp_path / "site", "pack", {path: MODULE for path in skipped})
    assert harvest([package]) == []


def test_a_readme_and_a_guide_are_read(tmp_path):
    guide = "Guide\n=====\n\nThe guide begins with this sentence.\n\n* It ends with an item of a list.\n"
    package = make_package(tmp_path, "pack", {"pack/guide.rst": guide})
    with open(tmp_path / "pack-1.0.dist-info" / "METADATA", "a", encoding="utf-8") as metadata:
        metadata.write("\nThe package does what its name says.\n\nIt does so in a short time.\n")
    readme, from_guide = harvest([package])
    assert readme.sentences == ("The package does what its name says.", "It does so in a short time.")
    assert from_guide.sentences == ("The guide begins with this sentence.", "It ends with an item of a list.")


def test_a_file_of_a_newer_python_or_a_deleted_one_does_not_stop_the_harvest(tmp_path):
    package = make_package(
        tmp_path, "pack", {"pack/a.py": '"""Doc."""\ndef f[:\n', "pack/b.py": MODULE, "pack/c.py": MODULE}
    )
    (tmp_path / "pack/c.py").unlink()
    (tmp_path / "pack/a.py").write_bytes(b'"""\x00\xff"""')
    assert len(harvest([package])) == 3


def test_a_package_is_read_and_never_run(tmp_path):
    trap = f"from pathlib import Path\nPath({str(tmp_path / 'ran')!r}).touch()\n"
    harvest([make_package(tmp_path, "pack", {"pack/__init__.py": MODULE + trap})])
    assert not (tmp_path / "ran").exists()


def test_docstrings_come_in_the_order_of_the_file():
    assert [len(group) for group in docstrings(MODULE.encode())] == [1, 1, 3, 1]
    assert list(docstrings(b"x = 1\n")) == []


def test_only_packages_that_something_requires_are_harvested(tmp_path, monkeypatch):
    make_package(tmp_path, "rootpack", {}, ("Needed", "optional_one; extra == 'more'", "never; python_version < '3'"))
    with open(tmp_path / "rootpack-1.0.dist-info" / "METADATA", "a", encoding="utf-8") as metadata:
        metadata.write("Provides-Extra: more\n")
    make_package(tmp_path, "needed", {}, ("deeper[fast]", "rootpack"))
    make_package(tmp_path, "deeper", {}, ("quick; extra == 'fast'", "slow; extra == 'slow'"))
    for name in ("optional-one", "quick", "slow", "never", "stranger"):
        make_package(tmp_path, name, {})
    monkeypatch.syspath_prepend(str(tmp_path))
    found = [package.metadata["Name"] for package in required_distributions("rootpack")]
    assert found == ["deeper", "needed", "quick"]


def test_a_missing_installation_is_told_in_words():
    with pytest.raises(UserError, match="pip install"):
        required_distributions("no-such-distribution-here")


# A bare package `bertedu` spares the second process the import of torch.
SCRIPT = """
import sys, types
from pathlib import Path
from importlib.metadata import PathDistribution
sys.modules["bertedu"] = types.ModuleType("bertedu")
sys.modules["bertedu"].__path__ = [sys.argv.pop(1)]
from bertedu.corpora.documentation import harvest
print(harvest([PathDistribution(Path(folder)) for folder in sys.argv[1:]]))
"""


def test_the_harvest_depends_neither_on_the_hash_seed_nor_on_the_folder(tmp_path):
    def packages(folder: Path) -> list[PathDistribution]:
        other = MODULE.replace("paragraph", "section").replace("value", "number")
        return [
            make_package(folder, "pack", {f"pack/{word}.py": MODULE.replace("value", word) for word in "bdacfe"}),
            make_package(folder, "second", {"second.py": other, "zebra/x.py": MODULE}),
        ]

    here = harvest(packages(tmp_path / "here"))
    packages(tmp_path / "elsewhere")
    folders = sorted(map(str, (tmp_path / "elsewhere").glob("*.dist-info")))
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, *bertedu.__path__, *folders],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert here and run.stdout.strip() == str(here)


@pytest.fixture
def small_machine(tmp_path, monkeypatch):
    """A cache of its own, and one small package in place of the real ones."""
    monkeypatch.setenv("BERTEDU_CACHE", str(tmp_path / "cache"))
    package = make_package(tmp_path, "pack", {"pack/a.py": MODULE})
    monkeypatch.setattr(documentation, "required_distributions", lambda: [package])
    return tmp_path


def cached_file(folder: Path) -> Path:
    (path,) = (folder / "cache").iterdir()
    return path


def everything(corpus):
    return [*corpus.train, *corpus.validation, *corpus.heldout["held-out documents"]]


def test_the_cache_gives_the_corpus_of_the_harvest(small_machine, monkeypatch):
    first = documentation_corpus()
    monkeypatch.setattr(documentation, "harvest", None)  # a second harvest would fail
    assert documentation_corpus() == first
    assert len(everything(first)) == 3
    assert first.notes[0].startswith("Documentation of 1 packages: 3 documents, 7 sentences, ")


def test_a_new_version_of_a_package_is_harvested_anew(small_machine):
    documentation_corpus()
    path = small_machine / "pack-1.0.dist-info" / "METADATA"
    path.write_text(path.read_text(encoding="utf-8").replace("1.0", "1.1"), encoding="utf-8")
    documentation_corpus()
    assert len(list((small_machine / "cache").iterdir())) == 2


@pytest.mark.parametrize("damage", [b"", b"not gzip", gzip.compress(b"[1, 2", mtime=0), "cut", "flip"])
def test_a_damaged_cache_is_told_and_harvested_again(small_machine, capsys, damage):
    first = documentation_corpus()
    path = cached_file(small_machine)
    whole = path.read_bytes()
    flipped = whole[:40] + bytes([whole[40] ^ 255]) + whole[41:]
    path.write_bytes({"cut": whole[:-20], "flip": flipped}.get(damage, damage) if isinstance(damage, str) else damage)
    assert documentation_corpus() == first
    assert "is damaged" in capsys.readouterr().out
    assert cached_file(small_machine).read_bytes() == whole


def test_a_cache_that_cannot_be_written_loses_no_text(small_machine, capsys):
    documentation.cache_path(documentation.required_distributions()).mkdir(parents=True)  # a folder stands in the way
    assert len(everything(documentation_corpus())) == 3
    assert "is a folder and stays as it is" in capsys.readouterr().out


def test_same_text_lands_on_the_same_side_of_the_split(tmp_path):
    text = "\n\n".join(
        f'def f{n}():\n    """The {word} of the function is here.\n\n    The other {word} of it is there."""\n'
        for n, word in enumerate(a + b + c for a in "abcdefgh" for b in "mnopqrst" for c in "uvwxyz")
    )
    documents = harvest([make_package(tmp_path, "pack", {"pack/a.py": text})])
    assert len(documents) == 384
    sides = [
        {document.sentences: side for side, part in enumerate(split_documents(order)) for document in part}
        for order in (documents, documents[::-1], documents[100:] + documents[:7])
    ]
    assert len(sides[0]) == 384 and set(sides[0].values()) == {0, 1, 2}
    for other in sides[1:]:
        assert all(sides[0][sentences] == side for sentences, side in other.items())


def test_the_real_harvest_is_large_clean_and_apart_on_its_sides():
    """Runs where the harvest of these versions is already in the cache; the first harvest takes half a minute."""
    key = documentation.cache_path(required_distributions())
    if not key.exists():
        pytest.skip("the documentation of these packages has not been harvested yet")
    corpus = documentation_corpus()
    documents = everything(corpus)
    lines = all_sentences(documents)
    assert len(documents) > 10_000 and len(lines) > 80_000
    assert sum(len(line.split()) for line in lines) > 1_000_000
    assert all(line[0].isupper() and line.isprintable() and "`" not in line and "http:" not in line for line in lines)
    assert len(set(lines)) == len(lines)
    shares = [len(part) / len(documents) for part in (corpus.validation, corpus.heldout["held-out documents"])]
    assert shares[0] == pytest.approx(0.01, abs=0.004) and shares[1] == pytest.approx(0.02, abs=0.005)
    assert len({document.source for document in corpus.train}) > 50
