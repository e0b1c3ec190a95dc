"""What a model can be pre-trained for, one file an objective. Which member for which: `pretraining/members.py`."""

from importlib import import_module

from bertedu.pretraining import members
from bertedu.pretraining.objectives.masked_words import MaskedWords
from bertedu.pretraining.objectives.permutation import PermutationLanguageModel
from bertedu.pretraining.objectives.replaced_tokens import ReplacedTokens
from bertedu.pretraining.objectives.sentence_pairs import MaskedWordsAndPairs
from bertedu.pretraining.objectives.spans import Spans

__all__ = ["OBJECTIVES", "MaskedWords", "MaskedWordsAndPairs", "PermutationLanguageModel", "ReplacedTokens", "Spans"]


def task_class(path: str) -> type[MaskedWords]:
    """A class by the path of its module and its name."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


OBJECTIVES: dict[str, type[MaskedWords]] = {name: task_class(path) for name, path in members.OBJECTIVES.items()}
