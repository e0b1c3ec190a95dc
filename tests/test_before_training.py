"""Training: every sentence is read, masks and padding are where they belong, each model learns something."""

from itertools import islice

import pytest
import torch

from bertedu import BertConfig, BertForMaskedLM, UserError
from bertedu.before.elmo import Elmo
from bertedu.before.fasttext import FastText
from bertedu.before.glove import Glove
from bertedu.before.gpt import Gpt, GptConfig
from bertedu.before.training import (
    batches,
    bert_losses,
    build_optimizers,
    elmo_losses,
    glove_losses,
    gpt_losses,
    skipgram_losses,
    train,
)
from bertedu.before.word2vec import SkipGram
from bertedu.before.words import flat, whole_words

SENTENCES = ["the dog barks", "a cat has a tail", "the cat sleeps", "dogs and cats", "the tail of the dog is long"] * 40
TOKENIZER = whole_words(SENTENCES)
SIZE = len(TOKENIZER)
IDS = TOKENIZER(SENTENCES).input_ids
SMALL = {"vocab_size": SIZE, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
         "intermediate_size": 32, "max_position_embeddings": 12}  # fmt: skip


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def models():
    torch.manual_seed(0)
    words = TOKENIZER.convert_ids_to_tokens(list(range(SIZE)))
    return {
        "word2vec": (SkipGram(SIZE, 16), lambda m: skipgram_losses(m, *flat(SENTENCES, TOKENIZER), generator())),
        "fastText": (FastText(words, 16, 500), lambda m: skipgram_losses(m, *flat(SENTENCES, TOKENIZER), generator())),
        "GloVe": (Glove(SIZE, 16), lambda m: glove_losses(m, *flat(SENTENCES, TOKENIZER), generator())),
        "ELMo": (Elmo(SIZE, 16, 1), lambda m: elmo_losses(m, IDS, generator())),
        "GPT": (Gpt(GptConfig(**SMALL)), lambda m: gpt_losses(m, IDS, generator())),
        "BERT": (BertForMaskedLM(BertConfig(**SMALL)), lambda m: bert_losses(m, IDS, generator())),
    }


@pytest.mark.parametrize("name", list(models()))
def test_every_model_learns(name):
    model, losses = models()[name]
    before = torch.stack(list(islice(losses(model), 4))).mean().item()
    assert train(model, losses(model), 0.01, steps=60) == 60
    assert torch.stack(list(islice(losses(model), 4))).mean().item() < 0.9 * before
    assert not model.training


def test_every_sentence_is_read_and_padding_is_not():
    read, first = [], batches(IDS, generator())
    while len(read) < len(IDS):
        ids, mask = next(first)
        assert torch.equal(mask, (ids != 0).long()) and mask[:, 0].all() and mask[:, -1].any()
        read += [tuple(row[row != 0].tolist()) for row in ids]
    assert sorted(read) == sorted(tuple(row[row != 0].tolist()) for row in IDS)


def test_every_weight_is_trained_once():
    for name, (model, _) in models().items():
        optimizers = build_optimizers(model, 0.1)
        trained = [id(weight) for o in optimizers for group in o.param_groups for weight in group["params"]]
        assert sorted(trained) == sorted(id(weight) for weight in model.parameters()), name
        assert len(optimizers) == (2 if name in ("ELMo", "GPT", "BERT") else 1), name


def test_training_stops_at_its_seconds():
    model = SkipGram(SIZE, 4)
    losses = skipgram_losses(model, *flat(SENTENCES, TOKENIZER), generator())
    assert train(model, losses, 0.01, seconds=0.2) > 1
    with pytest.raises(UserError, match="either steps or seconds"):
        train(model, losses, 0.01)
