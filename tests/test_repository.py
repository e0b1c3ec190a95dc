"""The repository around the package: what is declared, pinned and promised."""

import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version
from support.repository import PACKAGE, PROJECT, PYPROJECT, REPOSITORY, everything, read

import bertedu
from bertedu.course import check

LEARNERS = {"course", "production", "jax"}  # the extras of what the notebooks use


def pins() -> dict[str, Requirement]:
    lines = [line for line in read("constraints.txt").splitlines() if line and not line.startswith("#")]
    return {canonicalize_name(requirement.name): requirement for requirement in map(Requirement, lines)}


def pinned_version(requirement: Requirement) -> str:
    (specifier,) = requirement.specifier
    assert specifier.operator == "==", f"constraints.txt: {requirement} is not an exact pin: write name==version"
    return specifier.version


# What is declared ------------------------------------------------------------------------------------------------


def test_the_pins_agree_with_pyproject():
    pinned = pins()
    for name, requirement in everything().items():
        assert name in pinned, f"constraints.txt has no pin for {name}"
        version = pinned_version(pinned[name])
        assert requirement.specifier.contains(version), f"{name}=={version} is pinned, and {requirement} is declared"


def test_files_of_facts_are_installed_with_the_package():
    patterns = PYPROJECT["tool"]["setuptools"]["package-data"]["*"]
    for path in PACKAGE.rglob("*"):
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            assert any(path.match(pattern) for pattern in patterns), (
                f"add {path.name} to package-data in pyproject.toml"
            )


def test_torch_is_pinned_exactly():
    assert str(pins()["torch"]) == "torch==2.13.0"  # a range may bring a build of several gigabytes


def closure() -> dict[str, bool]:
    """Installed distributions that bertedu needs with all extras: name -> whether on some kinds of machine only."""
    by_machine = "platform|os_name" if sys.version_info[:2] == (3, 11) else "platform|os_name|python_"
    found: dict[str, bool] = {}
    waiting = [("bertedu", ("", *PROJECT["optional-dependencies"]), False)]
    done = set()
    while waiting:
        name, extras, conditional = waiting.pop()
        for line in distribution(name).requires or []:
            requirement = Requirement(line)
            marker, needed = requirement.marker, canonicalize_name(requirement.name)
            if marker and not any(marker.evaluate({"extra": extra}) for extra in extras):
                continue
            special = conditional or bool(re.search(by_machine, str(marker)))
            found[needed] = found.get(needed, True) and special
            state = (needed, ("", *sorted(requirement.extras)), special)
            if state not in done:
                done.add(state)
                waiting.append(state)
    return found


@pytest.mark.skipif(Path(sys.prefix) != REPOSITORY / ".venv", reason="only .venv is installed from the pins")
def test_every_package_of_the_environment_is_pinned_and_no_pin_is_stale():
    pinned, needed = pins(), closure()
    for name, special in needed.items():
        assert name in pinned or special, f"{name} {distribution(name).version} is installed and has no pin"
        if name in pinned:
            installed = Version(distribution(name).version).public  # torch's "+cpu" names the build, not the version
            assert installed == pinned_version(pinned[name]), f"{name} {installed} is installed, {pinned[name]} pinned"
    if sys.platform == "linux" and sys.version_info[:2] == (3, 11):
        assert set(pinned) <= set(needed), f"pinned and needed by nothing: {sorted(set(pinned) - set(needed))}"


def test_every_pinned_package_can_be_installed_on_the_oldest_python_that_is_promised():
    oldest = str(SpecifierSet(PROJECT["requires-python"])).removeprefix(">=") + ".0"
    for name, pin in pins().items():
        found = next(iter(distributions(name=name)), None)
        if found and Version(found.version).public == pinned_version(pin):
            asked = found.metadata["Requires-Python"] or ""
            assert SpecifierSet(asked).contains(oldest), f"{pin} asks for Python {asked}: pin an older version"


def test_conda_users_get_the_packages_of_pip_users():
    environment = yaml.safe_load(read("environment.yml"))
    *specs, pip = environment["dependencies"]
    conda = {requirement.name: requirement for requirement in (Requirement(s.replace("=", "==", 1)) for s in specs)}
    python = pinned_version(conda["python"])
    assert set(conda) == {"python", "pip"}, "let pip bring the packages, so that they are the pinned ones"
    assert Requirement(f"python{PROJECT['requires-python']}").specifier.contains(python)
    options = dict(line.split(maxsplit=1) for line in pip["pip"])
    assert options["-c"] == "constraints.txt" and set(options) == {"-c", "-e"}
    here = Requirement(options["-e"].replace(".", "bertedu", 1))
    assert here.extras == LEARNERS, "a learner needs no tests' and authors' packages"


def test_make_lab_installs_what_the_notebooks_use_and_no_more():
    parts = dict(re.findall(r"^EXTRAS_(\d) = \[(.+)\]$", read("Makefile"), flags=re.MULTILINE))
    assert set(parts["2"].split(",")) == LEARNERS
    assert set(parts["3"].split(",")) == set(PROJECT["optional-dependencies"])


# What is promised ------------------------------------------------------------------------------------------------


def tracked_texts() -> dict[str, str]:
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip("not a git checkout")
    texts = {}
    for name in filter(None, listing.stdout.split("\0")):
        data = (REPOSITORY / name).read_bytes() if (REPOSITORY / name).is_file() else b""
        if b"\0" not in data:
            texts[name] = data.decode("utf-8")
    return texts


DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CHANGELOG.md",
    ".github/pull_request_template.md",
    *(f"benchmarks/{path.name}" for path in sorted((REPOSITORY / "benchmarks").glob("*.md"))),
    *(f"docs/{path.name}" for path in sorted((REPOSITORY / "docs").glob("*.md"))),
)


def workflows() -> list[Path]:
    return sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))


def test_no_path_of_somebodys_machine_is_committed():
    private = re.compile(r"(?<![\w.~/:<-])/(?:home|Users|root|work|mnt|scratch)/\w[^\s\"'`]*|\b[A-Z]:\\Users\\\w+")
    for name, text in tracked_texts().items():
        found = private.search(text)
        assert not found, f"{name} names {found.group()}: write paths that everybody has"


def test_every_link_of_the_pages_leads_somewhere():
    for document in DOCUMENTS:
        text = re.sub(r"<!--.*?-->", "", read(document), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
            if not re.match(r"\w+:", target):
                assert (REPOSITORY / document).parent.joinpath(target).exists(), (
                    f"{document} links to {target}, which is not there"
                )


def test_the_readme_names_only_targets_that_make_has():
    makefile = read("Makefile")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    for document in (*DOCUMENTS, ".ci/run", *(f".github/workflows/{path.name}" for path in workflows())):
        named = set(re.findall(r"\bmake ([a-z-]+)\b", "\n".join(code_in(read(document), document))))
        assert named <= targets, f"{document} names {sorted(named - targets)}, and the Makefile has no such target"
    explained = set(re.findall(r"^##\s+make ([a-z-]+)", makefile, flags=re.MULTILINE))
    assert targets - {"environment"} <= explained, "`make help` leaves out a target"


def test_the_code_on_the_page_of_the_package_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", read("docs/python.md"), flags=re.DOTALL)
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), {})
    assert blocks and {"config.json", "model.safetensors", "vocab.txt"} <= set(os.listdir("my-bert"))


def test_the_readme_shows_what_the_check_says():
    def attention(query, key, value):
        weights = (query @ key.transpose(-2, -1) / query.size(-1) ** 0.5).softmax(dim=-2)
        return weights @ value, weights

    assert str(check("3.2", attention)).strip() in read("README.md")


def test_the_readme_is_read_in_five_minutes():
    text = read("README.md")
    assert len(text) <= 5500 and "docs/images/fill_mask.gif" in text
    assert (REPOSITORY / "docs" / "images" / "fill_mask.gif").stat().st_size < 500_000


def code_in(text: str, name: str) -> list[str]:
    """In Markdown only what is marked as code (prose may "make sure"); elsewhere everything."""
    return re.findall(r"```.*?```|`[^`\n]+`", text, flags=re.DOTALL) if name.endswith(".md") else [text]


def test_pre_commit_lints_with_the_pinned_ruff():
    (repo,) = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"]
    assert repo["rev"] == f"v{pinned_version(pins()['ruff'])}"


def test_every_form_for_an_issue_asks_something():
    forms = sorted((REPOSITORY / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    for path in forms:
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        if path.name != "config.yml":
            assert form["name"] and form["description"] and len({field["id"] for field in form["body"]}) >= 2
            assert all(field["attributes"]["label"] for field in form["body"])
    assert len(forms) >= 4


def test_the_changelog_knows_the_version():
    assert f"\n## {PROJECT['version']}\n" in read("CHANGELOG.md")


def test_three_files_tell_one_version():
    citation = yaml.safe_load(read("CITATION.cff"))
    assert citation["version"] == PROJECT["version"] == bertedu.__version__


def test_the_citation_has_every_required_key():
    citation = yaml.safe_load(read("CITATION.cff"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)  # what CFF 1.2.0 requires
    assert citation["cff-version"] == "1.2.0"
    assert citation["authors"] == [{"name": "The bertedu authors"}]
    assert " AND ".join(citation["license"]) == PROJECT["license"]


def test_the_licence_covers_code_and_text():
    text = read("LICENSE")
    assert "Apache License\n                           Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
    assert "https://creativecommons.org/licenses/by/4.0/legalcode" in text


def test_the_installed_package_is_this_one():
    try:
        installed = distribution("bertedu").version
    except PackageNotFoundError:
        pytest.skip("bertedu is not installed")
    assert installed == PROJECT["version"] and Path(bertedu.__file__).is_relative_to(REPOSITORY)
