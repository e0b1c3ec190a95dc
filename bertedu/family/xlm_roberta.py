"""XLM-R: RoBERTa on a hundred languages, with one vocabulary for all of them (Conneau et al. 2020, arXiv 1911.02116).

The model is RoBERTa, weight for weight. What changes is the text (100 languages of CommonCrawl, the small ones drawn
more often than they occur) and the vocabulary: 250,002 pieces of a Unigram tokenizer, so that of the base model's 278
million weights 192 million are token embeddings. Nothing tells the model which language it reads.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

from bertedu.family import roberta
from bertedu.family.roberta import RobertaConfig, RobertaModel
from bertedu.tokenization.xlm_roberta import XLMRobertaTokenizer


@dataclass(frozen=True)
class XLMRobertaConfig(RobertaConfig):
    """The defaults are those of xlm-roberta-base."""

    model_type: ClassVar[str] = "xlm-roberta"

    vocab_size: int = 250002


class XLMRobertaModel(RobertaModel):
    """XLM-R without a head. On disk its weights stand under "roberta.", as RoBERTa's do."""


ARCHITECTURE = replace(
    roberta.ARCHITECTURE,
    name="XLMRoberta",
    config=XLMRobertaConfig,
    encoder=XLMRobertaModel,
    tokenizer=XLMRobertaTokenizer,
)
