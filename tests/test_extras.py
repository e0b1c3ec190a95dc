"""What works, and what is said, where an extra is not installed."""

import subprocess
import sys

import pytest

from bertedu.errors import UserError
from bertedu.extras import needs_extra


def test_a_missing_package_of_an_extra_is_told_with_a_remedy():
    said = r"^nbgrader is not installed: python -m pip install 'bertedu\[course,authors\]'.* -e '\.\[course,authors\]'"
    with pytest.raises(UserError, match=said), needs_extra("course,authors"):
        raise ModuleNotFoundError(name="nbgrader.api")


@pytest.mark.parametrize("module", ["bertedu.nowhere", "bertedu"])
def test_a_missing_module_of_ours_is_not_blamed_on_an_extra(module):
    with pytest.raises(ModuleNotFoundError), needs_extra("production"):
        raise ModuleNotFoundError(name=module)


# A Python in which what only the extras bring cannot be imported.
WITHOUT_EXTRAS = """
import importlib, pathlib, pkgutil, sys
for name in ("datasets tensorboard pandas pyarrow transformers tokenizers IPython ipywidgets jupyterlab nbformat "
             "nbgrader pytest seqeval rouge_score onnx fastapi jax bertviz").split():
    sys.modules[name] = None
import bertedu
rows = "checkpoints tokenization model family inference corpora training pretraining before finetuning interpretation"
for row in rows.split():
    package = importlib.import_module(f"bertedu.{row}")
    for found in pkgutil.walk_packages(getattr(package, "__path__", []), f"bertedu.{row}."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
from bertedu.cli import main
from bertedu.errors import UserError
from bertedu.training.metrics import MetricsLog, read_metrics
folder = pathlib.Path(sys.argv[1])
log = MetricsLog(folder)
log.write(1, loss=0.5)
log.close()
print(read_metrics(folder), [path.name for path in folder.iterdir()])
try:
    bertedu.corpora.hub.hub_corpus("hub:imdb")
except UserError as error:
    print(error)
"""


def test_training_on_text_of_ones_own_needs_no_extra_and_the_hub_names_its_own(tmp_path):
    command = [sys.executable, "-c", WITHOUT_EXTRAS, str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not said.returncode, said.stderr
    figures, refusal = said.stdout.splitlines()
    assert figures == "[{'step': 1, 'loss': 0.5}] ['metrics.jsonl']"
    assert refusal.startswith("datasets is not installed: python -m pip install 'bertedu[hub]'")
