"""The BERT in JavaScript against PyTorch, in Node: word scores, next sentence, and attention weights."""

import json
import re
from pathlib import Path

import pytest
import torch
from support.web_questions import (
    CHECKPOINTS,
    LOGITS_WITHIN,
    WEIGHTS_WITHIN,
    ask_node,
    asked_in_node,
    expected,
    in_lots,
    largest_differences,
    opened,
    rows_for,
)

from bertedu import BertConfig, BertForPreTraining, BertTokenizer
from bertedu.interpretation.heads import without_heads
from bertedu.tokenization.training import SPECIAL_TOKENS
from bertedu.web.bundling import WEB

QUICK = {"world-tiny": 80, "mixed-mini": 20}  # sentences where time is short: a hundred
TINY = "world-tiny"
DOCS = Path(__file__).resolve().parents[1] / "docs"
SENTENCE = "the capital of france is [MASK] . paris is a city ."


def assert_equal(model: BertForPreTraining, folder: Path, rows: list) -> None:
    lots = [largest_differences(model, lot, asked_in_node(folder, lot)) for lot in in_lots(rows, 50)]
    logits, weights = (max(found) for found in zip(*lots, strict=True))
    print(f"{folder.name}, {len(rows)} sentences: logits within {logits:.1e}, attention weights within {weights:.1e}")
    assert logits < LOGITS_WITHIN and weights < WEIGHTS_WITHIN


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_scores_and_attention_are_those_of_pytorch(name):
    assert_equal(opened(name)[0], CHECKPOINTS[name], rows_for(name, QUICK[name]))


@pytest.mark.slow(cases=0)
@pytest.mark.parametrize("name", CHECKPOINTS)
def test_scores_and_attention_of_a_thousand_sentences_are_those_of_pytorch(name):
    assert_equal(opened(name)[0], CHECKPOINTS[name], rows_for(name, 1000))


@pytest.mark.parametrize(
    "config",
    [
        BertConfig(40, 9, 1, 1, 7, "gelu", type_vocab_size=1, max_position_embeddings=12),
        BertConfig(64, 30, 3, 3, 96, "gelu_new", max_position_embeddings=16),
        BertConfig(33, 64, 1, 8, 256, "gelu", layer_norm_eps=1e-2, max_position_embeddings=12),
    ],
    ids=["one head, odd sizes", "tanh GELU", "wide epsilon"],
)
def test_models_of_other_shapes_are_computed_alike(config, tmp_path):
    torch.manual_seed(0)
    model = BertForPreTraining(config).eval()
    for weight in model.parameters():  # wide enough for a difference anywhere to be seen
        torch.nn.init.normal_(weight, std=0.3)
    model.save_pretrained(tmp_path)
    BertTokenizer([*SPECIAL_TOKENS, *"abc"]).save_pretrained(tmp_path)
    rows = []
    for length in (1, 5, 12):
        ids = torch.randint(0, config.vocab_size, (length,)).tolist()
        types = torch.randint(0, config.type_vocab_size, (length,)).tolist()
        rows.append({"ids": ids, "types": types, "changes": {"scored": [0, length - 1] if length > 1 else [0]}})
    assert_equal(model, tmp_path, rows)


def asked(changes: dict, ids: list[int] | None = None, types: list[int] | None = None) -> dict:
    """A row for the sentence, all of whose words are scored."""
    ids = ids or opened(TINY)[1](SENTENCE).input_ids[0].tolist()
    types = types or [0] * len(ids)
    return {"ids": ids, "types": types, "changes": {"scored": [*range(len(ids))], **changes}}


def assert_answers(row: dict, numbers: tuple) -> None:
    """The answers to a row with changes are these numbers, in the order of `expected`."""
    found, start = asked_in_node(CHECKPOINTS[TINY], [row]), 0
    for part, within in zip(numbers, (LOGITS_WITHIN, LOGITS_WITHIN, WEIGHTS_WITHIN), strict=True):
        here = found[start : start + part.size].reshape(part.shape)
        start += part.size
        assert abs(here - part).max() < within
    assert start == found.size


def test_a_hidden_token_gets_no_attention_as_padding_gets_none():
    model, _ = opened(TINY)
    row = asked({"hidden": [3, 5]})
    real = model.forward

    def with_mask(ids, **options):
        mask = torch.ones_like(ids)
        mask[0, [3, 5]] = 0
        return real(ids, attention_mask=mask, **options)

    assert_answers(row, expected(with_mask, row))  # type: ignore[arg-type]


def test_an_ablated_head_adds_nothing():
    model, _ = opened(TINY)
    row = asked({"ablated": [[0, 1], [1, 0]]})
    with without_heads(model, [(0, 1), (1, 0)]):
        assert_answers(row, expected(model, row))


def test_a_replaced_embedding_is_read_in_place_of_the_tokens_own():
    model, tokenizer = opened(TINY)
    other = tokenizer.vocab["brazil"]
    row = asked({"replaced": {4: model.bert.embeddings.token.weight[other].tolist()}})
    ids = [*row["ids"][:4], other, *row["ids"][5:]]
    assert_answers(row, expected(model, asked({}, ids)))


def test_tokens_that_swap_positions_are_read_in_the_other_order():
    model, _ = opened(TINY)
    order = [0, 1, 2, 5, 4, 3, *range(6, len(asked({})["ids"]))]  # its own inverse
    row = asked({"positions": order})
    words, next_sentence, weights = expected(model, asked({}, [row["ids"][place] for place in order]))
    assert_answers(row, (words[order], next_sentence, weights[:, :, order][..., order]))


def test_a_swapped_segment_is_read():
    model, _ = opened(TINY)
    row = asked({}, types=[0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1][: len(asked({})["ids"])])
    assert_answers(row, expected(model, row))


def test_the_forward_pass_has_at_most_two_hundred_lines_of_code():
    text = re.sub(r"/\*\*.*?\*/", "", (WEB / "bert.js").read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len([line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("//")]) <= 200


def test_the_code_in_the_docs_does_what_it_says(tmp_path):
    (block,) = re.findall(r"```js\n(.*?)```", (DOCS / "playground.md").read_text(encoding="utf-8"), flags=re.DOTALL)
    imports, code = block.split("\n\n", 1)
    code, _, last = code.strip().rpartition("\n")
    imports = imports.replace('"./', f'"{WEB.as_uri()}/')
    asked = "export function words(files) {\n" + code + f"\n  return {last}\n}}\n"
    (tmp_path / "docs.js").write_text(f"{imports}\n{asked}", encoding="utf-8")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    said = json.loads(ask_node(CHECKPOINTS[TINY], "words", [], tmp_path / "docs.js"))
    assert len(said) == 5 and "portuguese" not in said[:1]  # the head that listens to the country is gone
