"""What importing loads: nothing that it does not need, so that a prompt comes at once."""

import subprocess
import sys

import pytest
from support.faults import assert_none

import bertedu

# What takes a second or more to load, and is needed by few commands.
HEAVY = ("datasets", "sklearn", "pandas", "matplotlib", "transformers", "pyarrow", "IPython", "ipywidgets")


def loaded(code: str) -> set[str]:
    """The packages that a fresh Python has loaded after the code."""
    said = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(said.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "code",
    [
        "import bertedu; bertedu.BertConfig.preset('tiny'); dir(bertedu)",
        "import bertedu.cli",
        "from bertedu.cli import main; main.run(['finetune', '--help'])",
        "from bertedu.cli import main; main.run(['pretrain', '--help'])",
    ],
)
def test_neither_a_first_import_nor_a_help_text_waits_for_torch(code):
    """The limits of 0.2 and 0.5 seconds, told by what is loaded: a busy machine's clock tells nothing."""
    found = loaded(code)
    assert "bertedu" in found and not found & {*HEAVY, "torch", "numpy", "scipy", "accelerate", "rich"}


MODULES = ("model", "tokenization", "inference", "corpora", "corpora.task_data", "training.loop", "pretraining.run",
           "finetuning.tasks.question_answering", "finetuning.run", "interpretation.probing")  # fmt: skip


def test_no_module_loads_libraries_that_it_may_never_use():
    """One Python imports them all; only if it has loaded too much, each is asked alone."""
    if loaded("\n".join(f"import bertedu.{module}" for module in MODULES)) & set(HEAVY):
        assert_none(
            f"{module}: {found}" for module in MODULES if (found := loaded(f"import bertedu.{module}") & {*HEAVY})
        )
        pytest.fail("several modules together load what none of them loads alone")


def test_every_name_of_the_package_is_there_and_offered_for_completion():
    for name in bertedu.__all__:
        assert callable(getattr(bertedu, name)) and name in dir(bertedu)
    with pytest.raises(AttributeError, match="'bertedu' has no attribute 'BertForNothing'"):
        bertedu.BertForNothing  # noqa: B018
