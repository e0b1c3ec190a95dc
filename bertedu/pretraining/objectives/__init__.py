"""What a model can be pre-trained for, one file an objective."""

from bertedu.pretraining.objectives.masked_words import MaskedWords
from bertedu.pretraining.objectives.permutation import PermutationLanguageModel
from bertedu.pretraining.objectives.replaced_tokens import ReplacedTokens
from bertedu.pretraining.objectives.sentence_pairs import MaskedWordsAndPairs

OBJECTIVES: dict[str, type[MaskedWords]] = {
    "pairs": MaskedWordsAndPairs,
    "words": MaskedWords,
    "replaced-tokens": ReplacedTokens,
    "permutation": PermutationLanguageModel,
}
