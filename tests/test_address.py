"""The project's address: written in one place, repeated by the files that cannot ask Python, and by no other."""

import subprocess
import sys

import pytest
import yaml
from support.repository import PROJECT, REPOSITORY, read

from bertedu import address

REPEATED_IN = {"CITATION.cff", "README.md", "pyproject.toml"}


def test_files_that_cannot_ask_python_repeat_the_address():
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["repository-code"] == PROJECT["urls"]["Source"] == address.REPOSITORY
    assert f"git clone {address.REPOSITORY} " in read("README.md")
    assert citation["url"] == PROJECT["urls"]["Homepage"] == address.SITE


def test_no_other_file_repeats_the_address():
    """Otherwise the day on which the project gets its address changes files that nobody remembers."""
    listing = subprocess.run(
        ["git", "grep", "--fixed-strings", "--ignore-case", "--files-with-matches", address.OWNER],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode > 1:
        pytest.skip("not a git checkout")
    assert set(listing.stdout.split()) <= {*REPEATED_IN, "bertedu/address.py"}, "take it from bertedu/address.py"


def test_links_name_the_file_the_branch_and_the_owner():
    path = "notebooks/03_self_attention.ipynb"
    colab = address.colab_url("03_self_attention.ipynb")
    assert colab.endswith(f"/{address.OWNER}/bertedu/blob/{address.COLAB_BRANCH}/03_self_attention.ipynb")
    assert address.raw_url(path, "1.2").endswith(f"/{address.OWNER}/bertedu/v1.2/{path}")
    for link in (address.source_url(path), address.edit_url(path)):
        assert link.startswith("https://") and link.endswith(f"/{address.BRANCH}/{path}") and address.OWNER in link
    assert address.page_url("glossary.html") == f"{address.SITE}glossary.html"


@pytest.mark.parametrize(
    ("owner", "said"), [("OWNER_TO_COME", "Nothing is published under a placeholder"), ("somebody", "")]
)
def test_a_placeholder_stops_what_publishes_with_a_sentence(owner, said, tmp_path):
    script = tmp_path / "address.py"
    script.write_text(read("bertedu/address.py").replace(f'"{address.OWNER}"', f'"{owner}"'), encoding="utf-8")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == bool(said) and done.stderr.startswith(said) and bool(done.stderr) == bool(said)


def test_a_placeholder_is_no_address(monkeypatch):
    monkeypatch.setattr(address, "OWNER", "OWNER_OF_SOMETHING")
    assert not address.has_address()
    monkeypatch.setattr(address, "OWNER", "somebody")
    assert address.has_address()
