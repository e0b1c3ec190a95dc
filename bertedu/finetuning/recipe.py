"""How `bertedu finetune` learns where no option says otherwise: what follows from the model and from the texts.

The published recipe (Devlin et al. 2019, appendix A.3) is for models of 110 million weights and more: the pooler, a low
learning rate, three passes. With many classes smaller models need their token vectors, the smallest more passes too,
and with two they lose little by them: `benchmarks/finetuning_choices.py`, and "Fine-tuning by default" in
benchmarks/README.md.
"""

from collections.abc import Collection
from typing import Any

SMALL = 256  # hidden size
OF_TOKENS = 384  # all-MiniLM-L6-v2 has it, and learned more from the maximum of the tokens than from the pooler
# Peak learning rates by hidden size, smallest first: Turc et al. 2019 give up to 3e-4 to small models; Devlin et al.
# 2019, appendix A.3, 2e-5 to 5e-5 to Base and Large. Hidden size 384 broke down from one seed in three at 3e-4.
LEARNING_RATES = {SMALL: 3e-4, 767: 1e-4, 1024: 5e-5}
PASSES, MOST_PASSES = 3.0, 12.0
TOKENS = 600_000  # mixed-mini learned from 5,000 to 6,000 tokens a second on one core: two minutes

Chosen = dict[str, tuple[Any, str]]  # by the name of a setting: its value, and why


def of_model(hidden_size: int, options: Collection[str]) -> Chosen:
    """What the size of a model decides; options are those that the task knows."""
    size = f"hidden size {hidden_size}"
    chosen: Chosen = {"learning_rate": (default_rate(hidden_size), size)}
    if "pooling" in options:
        of_tokens = "with many classes a small model learns more from the maximum of the tokens than from the pooler"
        pooling, why = ("max", of_tokens) if hidden_size <= OF_TOKENS else ("pooler", "as published")
        chosen["pooling"] = (pooling, f"{size}: {why}")
    return chosen


def passes(hidden_size: int, tokens: int) -> tuple[float, str]:
    """How often to read training texts of so many tokens, and why."""
    if hidden_size > SMALL:
        return PASSES, f"hidden size {hidden_size}: as published"
    fitting = round(max(PASSES, min(MOST_PASSES, TOKENS / tokens)))
    asked = f"{PASSES:g} to {MOST_PASSES:g} passes, {TOKENS:,} tokens in all"
    return float(fitting), f"a pass has {tokens:,} tokens, and a small model learns for {asked}"


def default_rate(hidden_size: int) -> float:
    """The learning rate for a model of this size."""
    return next((rate for size, rate in LEARNING_RATES.items() if hidden_size <= size), 5e-5)
