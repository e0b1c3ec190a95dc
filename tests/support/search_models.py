"""What the tests of search share: a tokenizer of letters, passages of letters, small models with random weights."""

import torch

from bertedu.config import BertConfig, TaskConfig
from bertedu.finetuning.tasks.multiple_choice import ChoiceModel
from bertedu.finetuning.tasks.similarity import SentenceEncoder
from bertedu.model.heads import MaskedLM
from bertedu.search.late_interaction import LateInteraction
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS

LETTERS = "abcdefghijklmnop"
TOKENIZER = BertTokenizer([*SPECIAL_TOKENS, *LETTERS])
# Of different lengths: beside the longest of a batch the others are padded.
PASSAGES = ["a b c", "d e f g h i j k l", "m", "n o p a", "c c c c c c", "b d f h j l n p", "e i m a", "k l m n"]
QUESTIONS = ["a b", "m", "d e f g h", "p"]


def small(kind: type, pooling: str = "mean", size: int = 32):
    """A model of a kind, one layer, random weights that are the same each time, without dropout."""
    torch.manual_seed(0)
    vocabulary = len(TOKENIZER)
    config = BertConfig(
        vocabulary,
        size,
        1,
        2,
        2 * size,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.2,
    )
    return kind.from_config(config, TaskConfig(pooling=pooling)).eval()


KINDS = {"dense": SentenceEncoder, "late": LateInteraction, "sparse": MaskedLM, "cross": ChoiceModel}
