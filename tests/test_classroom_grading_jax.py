"""Answers in JAX in the grader's own process: its compiler needs memory and threads."""

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

pytest.importorskip("jax")
HELPERS = "import os\nos.environ['JAX_PLATFORMS'] = 'cpu'\nimport jax\nimport jax.numpy as jnp\n"
KEYS = "def keys(key, step):\n    return tuple(jax.random.split(jax.random.fold_in(key, step)))\n"
ATTENTION = """
def attention(query, key, value, mask):
    def one(query, key, value, mask):
        return jax.nn.softmax(jnp.where(mask, query @ key.T / query.shape[-1] ** 0.5, -1e9)) @ value
    return jax.vmap(jax.vmap(one, in_axes=(0, 0, 0, None)))(query, key, value, mask)
"""
GRADE = """
import json, sys
from bertedu.classroom.grading import examining, limits, strict
number, helpers, source, asked = json.loads(sys.stdin.read())
assert not strict.outside(source)
examining.warm()
print(json.dumps(examining.examined(examining.Task(number, helpers, source, asked), limits.Limits())))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the grader forks")
@pytest.mark.parametrize(
    ("number", "source", "status", "words"),
    [
        ("24.2", ATTENTION, "yes", "sequences of padding"),
        ("24.4", KEYS, "yes", "a step inside jit"),
        ("24.4", KEYS.replace("jax.random.fold_in(key, step)", "key"), "not yet", "Is the step mixed in?"),
    ],
    ids=["attention", "keys", "one key"],
)
def test_an_answer_in_jax_has_memory_enough_and_is_graded_by_its_check(number, source, status, words):
    task = json.dumps([number, HELPERS, source, source.split("def ")[1].partition("(")[0]])
    done = subprocess.run([sys.executable, "-c", GRADE], input=task, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    verdict = json.loads(done.stdout)
    assert verdict["status"] == status and words in " ".join(verdict["lines"]), verdict
