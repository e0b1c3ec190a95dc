"""Summaries out of sentences: ROUGE as its reference counts it, sentences that fit, no repeats, and learning."""

import random
from dataclasses import replace

import pytest
import torch
from rouge_score.rouge_scorer import RougeScorer

from bertedu.config import BertConfig
from bertedu.corpora.readers import Summary
from bertedu.finetuning.rouge import rouge
from bertedu.finetuning.settings import FinetuningSettings
from bertedu.finetuning.tasks.summarization import (
    BertForSummarization,
    SummarizationTask,
    lead_and_oracle,
    oracle,
    select,
)
from bertedu.model.heads import IGNORED
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.layout import FIRST
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.training.budget import Budget
from bertedu.training.loop import Trainer, TrainingSettings

WORDS = ["The", "cat,", "dogs", "ran.", "over", "3.5", "moons", "moon", "a", "and", "half-open", "Été", "x"]
TOKENIZER = BertTokenizer([*SPECIAL_TOKENS, *"abcdefgh", "."])


def test_rouge_counts_as_its_reference():
    scorer, rng = RougeScorer(["rouge1", "rouge2", "rougeL"]), random.Random(0)
    for _ in range(3000):
        found, right = (" ".join(rng.choices(WORDS, k=rng.randint(0, 12))) for _ in range(2))
        reference = scorer.score(right, found)
        assert rouge(found, right) == pytest.approx({name: score.fmeasure for name, score in reference.items()})


def made_task(rows, max_length: int = 64, sentences: int = 2) -> SummarizationTask:
    return SummarizationTask(rows, rows, TOKENIZER, FinetuningSettings(max_length=max_length), sentences)


def test_no_sentence_is_cut_and_neighbours_have_different_segments():
    task = made_task([Summary("A b c. D e. F g h. A a.", "D e.")], max_length=13)
    (example,) = task.examples
    tokens = TOKENIZER.convert_ids_to_tokens(example["input_ids"])
    assert tokens == ["[CLS]", "a", "b", "c", ".", "[SEP]", "[CLS]", "d", "e", ".", "[SEP]"]
    assert example["token_type_ids"] == [0] * 6 + [1] * 5
    assert example["starts"] == [1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
    assert [label for label in example["labels"] if label != IGNORED] == [0, 1]
    long = made_task([Summary("A b c d e f g h a b. A.", "A.")], max_length=8).examples[0]
    assert len(long["input_ids"]) == 8 and long["input_ids"][-1] == TOKENIZER.sep_token_id


def test_the_score_of_a_sentence_is_read_at_cls_wherever_it_stands():
    tokenizer = BertTokenizer(TOKENIZER.tokens)
    cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
    tokenizer.layout = replace(tokenizer.layout, single=((FIRST, 0), (sep, 0), (cls, 2)))  # XLNet's
    rows = [Summary("A b c. D e.", "D e.")]
    (example,) = SummarizationTask(rows, rows, tokenizer, FinetuningSettings(max_length=13), 2).examples
    assert [tokenizer.tokens[token] for token in example["input_ids"]] == [
        *"abc.",
        "[SEP]",
        "[CLS]",
        *"de.",
        "[SEP]",
        "[CLS]",
    ]
    assert example["starts"] == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]


def test_the_oracle_takes_nothing_that_adds_nothing():
    sentences = ["The cat sat.", "The dog ran.", "Nothing else."]
    assert oracle(sentences, "the cat sat and the dog ran", 3) == {0, 1}
    assert oracle(sentences, "nothing else", 3) == {2}
    assert oracle(sentences, "quite another", 3) == set()


def test_a_sentence_that_repeats_three_words_is_left_out_and_the_order_kept():
    sentences = ["We saw the old cat.", "It was late.", "I saw the old cat again."]
    assert select(sentences, [0.5, 0.1, 0.9], 2) == [1, 2]
    assert select(sentences, [0.5, 0.9], 1) == [1]  # the last sentence did not fit the model


def test_the_sentences_that_matter_are_learned(tmp_path):
    """The summary is the two sentences with an h, wherever they stand."""
    rng, rows = random.Random(0), []
    for _ in range(150):
        sentences = [" ".join(rng.sample("abcdefg", 3)) for _ in range(6)]
        chosen = sorted(rng.sample(range(6), 2))
        for place in chosen:
            sentences[place] += " h"
        text = [sentence.capitalize() + "." for sentence in sentences]
        rows.append(Summary(" ".join(text), " ".join(text[place] for place in chosen)))
    task = made_task(rows)
    torch.manual_seed(0)
    dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    model = BertForSummarization.from_config(BertConfig(len(TOKENIZER), 32, 1, 2, 64, **dropout))
    settings = TrainingSettings(learning_rate=3e-3, device="cpu", precision="fp32", validations=2)
    Trainer(model, task, settings, Budget(steps=100), tmp_path).run()
    best = BertForSummarization.from_pretrained(tmp_path / "checkpoint-best")
    baselines = lead_and_oracle(rows, 2)
    assert baselines["oracle"]["rouge1"] > 0.95
    assert task.score(best, rows)["rouge2"] > 0.85 > 0.6 > baselines["lead-2"]["rouge2"]
