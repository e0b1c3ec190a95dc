"""The grader's own process of an answer: what an exercise forbids is seen there too, and a NaN that is right counts."""

import json
import subprocess
import sys

import pytest

from bertedu.mine.solutions import solutions

GRADE = """
import json, sys
from bertedu.classroom.grading import examining, limits
examining.warm()
for number, source in json.loads(sys.stdin.read()):
    asked = source.split("def ")[-1].partition("(")[0] if "class " not in source else "Answer"
    task = examining.Task(number, "import torch\\nfrom torch import nn\\n" + HELPERS.get(number, ""), source, asked)
    print(json.dumps(examining.examined(task, limits.Limits())), flush=True)
"""
HELPERS = {"4.5": "from bertedu.model.encoder import EncoderLayer\n"}
SOLUTIONS = solutions()
MEAN = "centred / (centred**2).mean(-1, keepdim=True).add(eps).sqrt() * weight + bias"
PERPLEXITY = """
def perplexity(losses, batch_size):
    numbers = [number for text in losses for number in text]
    return torch.tensor(sum(numbers) / len(numbers)).exp().item() if numbers else float("nan")
"""
LAYER = """
class Answer(EncoderLayer):
    def forward(self, x, bias=None):
        x = self.attention_norm(x + self.dropout(self.attention(x, bias)[0]))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
"""
EVENLY = "def evenly(a, b):\n    return list(torch.linspace(0, a - 1, b).round().long())"
NORM = "def norm(x, weight, bias, eps):\n    "
ANSWERS = {
    "right": ("2.3", NORM + "centred = x - x.mean(-1, keepdim=True)\n    return " + MEAN, "yes"),
    "not imported yet": (
        "2.3",
        NORM + "import bertedu.search.bm25\n    centred = x - x.mean(-1, keepdim=True)\n    return " + MEAN,
        "the exercise asks you to write it",
    ),
    "functional": ("2.3", NORM + "return nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps)", "layer_norm"),
    "torch's": ("2.3", NORM + "return torch.layer_norm(x, x.shape[-1:], weight, bias, eps)", "torch's `layer_norm`"),
    "module": ("4.2", "def f(x, tanh=False):\n    return nn.GELU('tanh' if tanh else 'none')(x)", "torch's `gelu`"),
    "checkpoint": (
        "22.5",
        "from torch.utils.checkpoint import checkpoint\ndef f(x, layer):\n"
        "    return checkpoint(layer, x, use_reentrant=False)",
        "torch.utils.checkpoint",
    ),
    "other names": (
        "4.2",
        "def f(z, form=False):\n    return z * torch.special.ndtr(z) if not form else z",
        "tanh form",
    ),
    "subclass": ("4.5", "class Answer(EncoderLayer):\n    pass", "EncoderLayer.forward"),
    "layer": ("4.5", LAYER, "yes"),
    "a NaN that is right": ("25.4", PERPLEXITY, "yes"),
    "a NaN": ("20.4", "def f(c):\n    return {'zero-shot': float('nan'), 'oracle': float('nan')}", "not yet"),
    "torch's numbers": ("16.4", EVENLY, "yes"),
}
ANSWERS |= {  # what these are handed, a function of the check or a class, reaches them there too
    f"the course's {number}": (number, SOLUTIONS[number].pieces[0].replace("class Stack", "class Answer"), "yes")
    for number in ("1.4", "2.4", "3.2", "3.4", "4.4", "8.5")
}


@pytest.fixture(scope="module")
def verdicts():
    code = f"HELPERS = {HELPERS!r}\n{GRADE}"
    tasks = json.dumps([(number, source) for number, source, _ in ANSWERS.values()])
    done = subprocess.run([sys.executable, "-c", code], input=tasks, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(zip(ANSWERS, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.skipif(sys.platform == "win32", reason="the grader forks")
@pytest.mark.parametrize("name", ANSWERS)
def test_a_notebook_and_the_grader_judge_alike(verdicts, name):
    expected, verdict = ANSWERS[name][2], verdicts[name]
    if expected in ("yes", "not yet"):
        assert verdict["status"] == expected, verdict
    else:
        assert verdict["status"] != "yes" and expected in " ".join(verdict["lines"]), verdict
