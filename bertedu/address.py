"""Where the project is to be found. It has no public address yet: the owner's name is a placeholder.

This is the one place to write it. `CITATION.cff`, `pyproject.toml` and the workflows cannot ask Python, so they repeat
it, and a test holds them to what stands here. `python bertedu/address.py` fails while it is a placeholder: workflows
that publish run it first.
"""

import sys

OWNER = "OWNER_TO_BE_NAMED"  # no account can be called so: GitHub's names have no underscores
BRANCH = "main"
COLAB_BRANCH = "colab"  # the notebooks of `bertedu build --colab`, put there by each release
REPOSITORY = f"https://github.com/{OWNER}/bertedu"
SITE = f"https://{OWNER.lower()}.github.io/bertedu/"


PLACEHOLDER = (
    f"Nothing is published under a placeholder: {SITE} belongs to nobody. Write the owner's name into "
    f"bertedu/address.py, CITATION.cff, pyproject.toml and README.md, in place of {OWNER} and {OWNER.lower()}."
)


def has_address() -> bool:
    """Whether the project has a public address, so that links to it lead somewhere."""
    return not OWNER.startswith("OWNER_")


def source_url(path: str) -> str:
    """The page of a file or folder of the repository: "notebooks/03_self_attention.ipynb"."""
    return f"{REPOSITORY}/blob/{BRANCH}/{path}"


def edit_url(path: str) -> str:
    """The page on which somebody proposes a change to a file of the repository."""
    return f"{REPOSITORY}/edit/{BRANCH}/{path}"


def issue_url() -> str:
    """The page on which somebody reports a mistake."""
    return f"{REPOSITORY}/issues/new/choose"


def colab_url(name: str) -> str:
    """A notebook that was made for Google Colab, opened there: "03_self_attention.ipynb"."""
    return f"https://colab.research.google.com/github/{OWNER}/bertedu/blob/{COLAB_BRANCH}/{name}"


def raw_url(path: str, version: str) -> str:
    """A file of a released version as it is, for a page that shows it: "notebooks/pictures/03_where.svg"."""
    return f"https://raw.githubusercontent.com/{OWNER}/bertedu/v{version}/{path}"


def page_url(page: str = "") -> str:
    """A page of the website: "chapters/03_self_attention.html"."""
    return SITE + page


if __name__ == "__main__":
    sys.exit(None if has_address() else PLACEHOLDER)
