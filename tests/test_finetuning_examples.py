"""Examples as batches: what padding is filled with, and whether a neighbour's length changes what is learned."""

import pytest
import torch

from bertedu.config import BertConfig, TaskConfig
from bertedu.corpora.readers import Summary, TaggedWords
from bertedu.finetuning.examples import collate
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.tagging import CrfTagger, Tagger, TaggingTask
from bertedu.finetuning.tasks.summarization import SentenceChooser, SummarizationTask
from bertedu.model.heads import IGNORED
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS

TOKENIZER = BertTokenizer([*SPECIAL_TOKENS, *"abcdefgh", "."])
CONFIG = BertConfig(len(TOKENIZER), 16, 1, 2, 32, max_position_embeddings=32, initializer_range=0.3)
TAGS = ("O", "B-x", "I-x")
SENTENCES = [
    TaggedWords(("a",), ("B-x",)),
    TaggedWords(tuple("abcdefgh"), ("O", "B-x", "I-x", "O", "O", "B-x", "I-x", "I-x")),
]
TEXTS = [Summary("A b. C d.", "A b."), Summary("A b c. D e. F g h. B c. E f. G h.", "D e.")]


def tagging(model_class):
    settings = FinetuningSettings(crf=model_class is CrfTagger)
    task = TaggingTask(SENTENCES, SENTENCES, TOKENIZER, settings, TAGS)
    return model_class.from_config(CONFIG, TaskConfig(TAGS)).eval(), task


def summarization():
    task = SummarizationTask(TEXTS, TEXTS, TOKENIZER, FinetuningSettings(max_length=32), sentences=1)
    return SentenceChooser.from_config(CONFIG).eval(), task


def test_padding_is_not_learned_as_a_tag():
    short = {
        "input_ids": [2, 6, 3],
        "token_type_ids": [0, 0, 1],
        "attention_mask": [1, 1, 1],
        "labels": [-100, 1, -100],
    }
    long = {name: [*row, *row] for name, row in short.items()}
    batch = collate([short, long], pad_token_id=9)
    assert batch["labels"][0].tolist() == [-100, 1, -100, -100, -100, -100] and IGNORED == -100
    assert batch["input_ids"][0].tolist() == [2, 6, 3, 9, 9, 9]
    assert batch["token_type_ids"][0].tolist() == [0, 0, 1, 0, 0, 0]
    assert batch["attention_mask"][0].tolist() == [1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize("kind", ["tags", "tags with a CRF", "sentences of a summary"])
def test_the_loss_of_a_short_text_does_not_grow_with_padding(kind):
    torch.manual_seed(0)
    model, task = summarization() if kind.startswith("sentences") else tagging(CrfTagger if "CRF" in kind else Tagger)
    short, long = task.examples
    assert len(short["input_ids"]) < len(long["input_ids"])
    batches = [collate(rows, TOKENIZER.pad_token_id) for rows in ([short], [long], [short, long])]
    (counted,) = task.counts(batches[0])
    counts = [task.counts(batch)[counted] for batch in batches]
    losses = [task.sums(model, batch)[f"{counted}_loss"].item() for batch in batches]
    assert counts[2] == counts[0] + counts[1] and losses[2] == pytest.approx(losses[0] + losses[1], abs=1e-4)


def test_padding_of_choices_is_masked():
    """Choices are rows within a row; they are padded to the longest of all."""
    made = [{"input_ids": [[2, 6, 3], [2, 3]], "attention_mask": [[1, 1, 1], [1, 1]], "labels": 1}] * 2
    batch = collate(made, pad_token_id=9)
    assert batch["input_ids"][0].tolist() == [[2, 6, 3], [2, 3, 9]]
    assert batch["attention_mask"][1].tolist() == [[1, 1, 1], [1, 1, 0]] and batch["labels"].tolist() == [1, 1]
