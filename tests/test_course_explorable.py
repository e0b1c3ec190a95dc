"""Pictures that one can touch: what they compute is what the package computes, and what a notebook keeps of them."""

import json
import math
import random
import re
from dataclasses import asdict
from itertools import pairwise, product
from pathlib import Path

import pytest
import torch
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support
from support.explorable_examples import EXAMPLES
from support.pages import Page, fetches
from support.web_questions import CHECKPOINTS, ask_node, opened
from torch import nn

from bertedu import BertConfig, BertModel
from bertedu.course.building.executing import WIDGET
from bertedu.course.building.versions import read_source
from bertedu.course.explorable import FOLDER, STORED, explorable, kinds
from bertedu.errors import UserError
from bertedu.finetuning.pooling import pool
from bertedu.inference import fill_mask
from bertedu.model.architecture import EncoderOutput
from bertedu.model.attention import attend
from bertedu.model.encoder import Encoder
from bertedu.search.late_interaction import TokenVectors, max_sim
from bertedu.tokenization.wordpiece import split_word
from bertedu.training.optimization import rate_factor
from bertedu.website.chapters import touched
from bertedu.website.tree import Tree

TINY = CHECKPOINTS["world-tiny"]
PICTURES = [name for name in EXAMPLES if name != "playground"]  # which has tests of its own
MODULE = Path(__file__).parent / "support" / "web_explorables.js"


def ask(question: str, rows: list) -> list:
    return json.loads(ask_node(TINY, question, rows, MODULE))


def test_the_weighted_sum_is_the_attention_of_the_package():
    torch.manual_seed(0)
    given = [(torch.randn(d), torch.randn(length, d), torch.randn(length)) for d, length in ((4, 3), (1, 1), (64, 9))]
    rows = [{"query": q.tolist(), "key": k.tolist(), "value": v.tolist()} for q, k, v in given]
    for (query, key, value), found in zip(given, ask("sums", rows), strict=True):
        output, weights = attend(query[None], key, value[:, None])
        torch.testing.assert_close(torch.tensor(found["weights"], dtype=torch.float), weights[0])
        torch.testing.assert_close(torch.tensor(found["output"], dtype=torch.float), output.squeeze())


def test_hidden_tokens_get_no_weight_and_without_the_division_scores_are_products():
    row = {"query": [2, 2], "key": [[1, 1], [3, 0], [0, 0]], "value": [1, 5, -1]}
    ((hidden), (undivided)) = ask("sums", [{**row, "hidden": [False, True, False]}, {**row, "divided": False}])
    assert hidden["weights"][1] == 0 and sum(hidden["weights"]) == pytest.approx(1)
    assert undivided["scores"] == [4, 6, 0]


def test_the_search_finds_the_pieces_of_the_package():
    tokenizer = opened("world-tiny")[1]
    chance = random.Random(0)
    words = [
        "unhappiness",
        "capitals",
        "bananas",
        "x",
        "ö",
        *("".join(chance.choices("aeinrst", k=7)) for _ in range(40)),
    ]
    for word, steps in zip(words, ask("searches", words), strict=True):
        found = [step["found"] for step in steps]
        assert (["[UNK]"] if None in found else found) == split_word(word, tokenizer.tokens)
        for step in steps:
            longest, *_, last = step["tried"] + [step["tried"][-1]]
            assert len(step["tried"]) == len(longest) - len(last) + 1


class Agreement(nn.Module):
    """The model of chapter 03 that learns in the page, with PyTorch's own gradients."""

    def __init__(self, words: int):
        super().__init__()
        self.token, self.position = nn.Embedding(words, 32), nn.Embedding(64, 32)
        self.query, self.key, self.value, self.output = (nn.Linear(32, 32) for _ in range(4))
        self.decide = nn.Linear(32, 2)

    def forward(self, ids, mask):
        x = self.token(ids) + self.position.weight[: ids.size(1)]  # [B, T, D]
        mixed, _ = attend(self.query(x), self.key(x), self.value(x))
        return self.decide(self.output(mixed)[:, mask])  # [B, 2]


def test_the_gradients_of_the_training_in_the_page_are_those_of_pytorch():
    torch.manual_seed(0)
    model = Agreement(12).double()
    ids, answers = torch.randint(12, (5, 7)), torch.randint(2, (5,))
    batch = [
        {"ids": one, "mask": 3, "answer": answer} for one, answer in zip(ids.tolist(), answers.tolist(), strict=True)
    ]
    weights = {name: weight.flatten().tolist() for name, weight in model.named_parameters()}
    (found,) = ask("trainings", [{"weights": weights, "batch": batch, "steps": 3}])
    loss = nn.functional.cross_entropy(model(ids, 3), answers)
    loss.backward()
    assert found["loss"] == pytest.approx(float(loss), abs=1e-12)
    for name, weight in model.named_parameters():
        torch.testing.assert_close(torch.tensor(found["gradients"][name]).double(), weight.grad.flatten(), msg=name)
    adam = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(3):
        adam.zero_grad()
        nn.functional.cross_entropy(model(ids, 3), answers).backward()
        adam.step()
    for name, weight in model.named_parameters():
        torch.testing.assert_close(torch.tensor(found["weights"][name]).double(), weight.detach().flatten(), msg=name)


def test_the_page_learns_from_the_sentences_of_the_chapter():
    (source,) = FOLDER.parents[1].glob("chapters/ch03_*/03_*.py")
    (cell,) = [cell for cell in read_source(source).cells if "def sentences(" in cell.source]
    names: dict = {}
    exec(cell.source, names)
    found = ask("made", [EXAMPLES["live_head"]])
    for part in ("train", "test"):
        texts, answers = names[f"{part}_texts"], names[f"{part}_answers"].tolist()
        assert [tuple(one) for one in found[part]] == list(zip(map(" ".join, texts), answers, strict=True))


def test_the_training_in_the_page_ends_as_in_the_chapter_and_depends_on_its_start():
    (good,) = ask("ends", [EXAMPLES["live_head"]])
    (poor,) = ask("ends", [{**EXAMPLES["live_head"], "seed": 7}])
    assert good == 1 and poor < 0.9


def test_tokens_are_masked_at_the_rates_of_the_paper_and_special_ones_never():
    tokens = ["[CLS]", *(f"word{number}" for number in range(38)), "[SEP]"]
    shares = {"rate": 0.15, "mask": 0.8, "random": 0.1}
    (draws,) = ask("fates", [{"tokens": tokens, "words": ["cup", "river"], "times": 2000, **shares}])
    fates = [[one["fate"] for one in draw] for draw in draws]
    assert all(sum(fate is not None for fate in draw) == 6 for draw in fates)  # round(0.15 · 40)
    assert not any(fate is not None for draw in fates for fate in (draw[0], draw[-1]))
    for fate, share in enumerate((0.8, 0.1, 0.1)):
        assert sum(draw.count(fate) for draw in fates) / (6 * len(fates)) == pytest.approx(share, abs=0.015)
    for draw in draws:
        for token, one in zip(tokens, draw, strict=True):
            assert one["seen"] in {None: [token], 0: ["[MASK]"], 1: ["cup", "river"], 2: [token]}[one["fate"]]
    chosen = [sum(draw[place] is not None for draw in fates) for place in range(1, 39)]
    assert min(chosen) > 220 and max(chosen) < 420  # each word as often: 6 / 38 of 2,000 is 316


def test_words_that_change_places_have_other_vectors_only_with_positions():
    tokens, positions = torch.randn(3, 4), torch.randn(3, 4)
    given = {"tokens": tokens.tolist(), "positions": positions.tolist()}
    orders = [(order, added) for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]) for added in (False, True)]
    found = ask("orders", [{**given, "order": order, "added": added} for order, added in orders])
    for (order, added), one in zip(orders, found, strict=True):
        sums = tokens[order] + positions if added else tokens[order]
        torch.testing.assert_close(torch.tensor(one["vectors"]), sums)
    assert [one["changed"] for one in found] == [0, 0, 0, 2, 0, 3]


def test_the_best_path_is_the_best_of_all_paths_and_their_sum_that_of_all():
    chance = random.Random(0)
    drawn = lambda *sizes: [[chance.uniform(0.1, 3) for _ in range(sizes[1])] for _ in range(sizes[0])]  # noqa: E731
    rows = [{"emissions": drawn(w, c), "transitions": drawn(c, c)} for w, c in ((3, 2), (1, 4), (5, 3), (6, 2))]
    for row, found in zip(rows, ask("paths", rows), strict=True):
        length, count = len(row["emissions"]), len(row["transitions"])

        def value(path, row=row):
            words = math.prod(row["emissions"][word][tag] for word, tag in enumerate(path))
            return words * math.prod(row["transitions"][a][b] for a, b in pairwise(path))

        values = {path: value(path) for path in product(range(count), repeat=length)}
        assert tuple(found["path"]) == max(values, key=values.__getitem__)
        assert found["value"] == pytest.approx(max(values.values()))
        assert found["total"] == pytest.approx(sum(values.values()))


def test_the_best_span_is_the_best_of_all_that_are_allowed():
    torch.manual_seed(0)
    rows = [
        {"start": torch.randn(7).tolist(), "end": torch.randn(7).tolist(), "longest": longest, "backwards": backwards}
        for longest in (1, 3, 7)
        for backwards in (False, True)
        for _ in range(20)
    ]
    for row, found in zip(rows, ask("spans", rows), strict=True):
        sums = torch.tensor(row["start"])[:, None] + torch.tensor(row["end"])  # [T, T]
        open_ones = torch.ones(7, 7).tril(row["longest"] - 1).triu(-7 if row["backwards"] else 0).bool()
        best = sums.masked_fill(~open_ones, float("-inf"))
        assert [found["from"], found["to"]] == list(divmod(int(best.argmax()), 7))
        assert found["score"] == pytest.approx(float(best.max()), abs=1e-6)


def test_the_way_of_a_sentence_has_the_vectors_and_answers_of_the_package():
    model, tokenizer = opened(TINY.name)
    texts = ["A young [MASK] is called a kitten.", "A young [MASK] is called a puppy.", "A young cat is [MASK]."]
    for text, found in zip(texts, ask("ways", [{"text": text} for text in texts]), strict=True):
        encoding = tokenizer(text)
        with torch.no_grad():
            states = model.bert(**encoding, output_hidden_states=True).hidden_states
        for state, one in zip(states, found["states"], strict=True):
            torch.testing.assert_close(torch.tensor(one), state[0], atol=1e-4, rtol=0)
        (answer,) = found["answers"]
        best = fill_mask(model, tokenizer, text, top=5)[0]
        assert answer["position"] == encoding.tokens[0].index("[MASK]")
        assert [one["token"] for one in answer["candidates"][:5]] == [word for word, _ in best]


def test_a_changed_word_changes_its_embedding_alone_and_after_a_layer_all_vectors():
    start = {"text": "A young [MASK] is called a kitten."}
    others = [{"text": "A young [MASK] is called a puppy."}, {**start, "masks": [6]}, {"text": "A cat."}]
    assert [one["changed"] for one in ask("ways", [start, *others])] == [[0, 0, 0], [1, 10, 10], [1, 10, 10], None]


STACKED = {"given": {"tokens": 5, "size": 16}, "seed": 3, "depth": 3}
BERTS = {"heads": 2, "deviation": 0.3, "residual": True, "norm": "after", "feedForward": True}


def stack_of(found: dict) -> Encoder:
    """The package's encoder with the weights of a stack in the page."""
    sizes = {"hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 3, "intermediate_size": 64}
    encoder = Encoder(BertConfig(vocab_size=9, **sizes)).double().eval()
    with torch.no_grad():
        for layer, weights in zip(encoder.layers, found["layers"], strict=True):
            for part in (layer.attention, layer.feed_forward):
                for name, linear in part.named_children():
                    if name in weights:
                        linear.weight.copy_(
                            0.3 * torch.tensor(weights[name], dtype=torch.double).reshape(linear.weight.shape)
                        )
                        linear.bias.zero_()
    return encoder


def test_a_stack_in_the_page_is_the_encoder_of_the_package():
    (found,) = ask("stacks", [{**STACKED, "options": BERTS}])
    states, _ = stack_of(found)(torch.tensor([found["tokens"]], dtype=torch.double))
    for state, one in zip(states, found["states"], strict=True):
        torch.testing.assert_close(torch.tensor([one], dtype=torch.double), state)


def test_a_stack_without_some_of_its_parts_is_the_one_of_the_chapter():
    rows = [
        {**BERTS, "residual": False, "norm": "none", "feedForward": False},
        {**BERTS, "norm": "none", "feedForward": False},
        {**BERTS, "norm": "before"},
        {**BERTS, "residual": False},
    ]
    norm = lambda x: nn.functional.layer_norm(x, (16,), eps=1e-12)  # noqa: E731
    ways = [
        lambda x, attend, feed: attend(x),
        lambda x, attend, feed: x + attend(x),
        lambda x, attend, feed: (y := x + attend(norm(x))) + feed(norm(y)),
        lambda x, attend, feed: norm(feed(norm(attend(x)))),
    ]
    for way, found in zip(ways, ask("stacks", [{**STACKED, "options": row} for row in rows]), strict=True):
        x = torch.tensor([found["tokens"]], dtype=torch.double)
        for layer, one in zip(stack_of(found).layers, found["states"][1:], strict=True):
            x = way(x, lambda y, layer=layer: layer.attention(y)[0], layer.feed_forward)
            torch.testing.assert_close(torch.tensor([one], dtype=torch.double), x)
        cosines = torch.nn.functional.cosine_similarity(x[0][:, None], x[0][None], dim=-1)
        assert found["measures"][-1]["cosine"] == pytest.approx(float((cosines.sum() - 5) / 20))
        assert found["measures"][-1]["size"] == pytest.approx(float(x.std()))


def test_the_stack_shows_what_the_chapter_says_of_it():
    given = EXAMPLES["stack"]
    base = {"heads": 4, "deviation": 0.07, "residual": True, "norm": "after", "feedForward": True}
    whole, unsummed, bare, unnormed = ask(
        "stacks",
        [
            {"given": given, "seed": seed, "depth": 12, "options": {**base, **change}, "weights": False}
            for change in ({}, {"residual": False}, {"residual": False, "norm": "none"}, {"norm": "none"})
            for seed in (given["seed"],)
        ],
    )
    assert whole["measures"][12]["cosine"] < 0.5 and whole["measures"][12]["size"] == pytest.approx(1, abs=0.02)
    assert unsummed["measures"][12]["cosine"] > 0.9 and unsummed["measures"][12]["size"] > 0.9
    assert bare["measures"][2]["cosine"] > 0.9 and bare["measures"][12]["size"] < 1e-3
    assert unnormed["measures"][12]["cosine"] < 0.5


def test_the_parameters_of_each_part_are_those_of_the_package():
    presets = [BertConfig.preset(name) for name in ("tiny", "base", "large")]
    configs = [*presets, BertConfig(40, 12, 3, 2, 7, max_position_embeddings=9, type_vocab_size=1)]
    rows = [{"config": asdict(config), "changes": []} for config in configs]
    for config, found in zip(configs, ask("sizes", rows), strict=True):
        with torch.device("meta"):
            model = BertModel(config)
        layers = model.encoder.layers
        parts = {
            "embeddings": [model.embeddings],
            "attention": [layer.attention for layer in layers],
            "feed-forward": [layer.feed_forward for layer in layers],
            "LayerNorms": [norm for layer in layers for norm in (layer.attention_norm, layer.feed_forward_norm)],
            "pooler": [model.pooler],
        }
        count = lambda modules: sum(one.numel() for module in modules for one in module.parameters())  # noqa: E731
        assert found["parts"] == {name: count(modules) for name, modules in parts.items()}
        assert found["total"] == count([model])


def test_a_size_is_halved_as_far_as_heads_can_share_it():
    config = asdict(BertConfig.preset("base"))
    changes = [["num_hidden_layers", 0.5], ["hidden_size", 2], ["num_attention_heads", 0.5], ["num_attention_heads", 2]]
    (found,) = ask("sizes", [{"config": config, "changes": changes}])
    layers, size, fewer, more = found["changed"]
    assert layers["num_hidden_layers"] == 6 and (size["hidden_size"], size["intermediate_size"]) == (1536, 6144)
    assert fewer["num_attention_heads"] == 6 and more["num_attention_heads"] == 24
    config["hidden_size"] = 48
    (found,) = ask("sizes", [{"config": config, "changes": [["num_attention_heads", 2], ["hidden_size", 0.5]]}])
    assert found["changed"][0]["num_attention_heads"] == 24 and found["changed"][1]["hidden_size"] == 24
    (found,) = ask("sizes", [{"config": {**config, "hidden_size": 36}, "changes": [["hidden_size", 0.5]]}])
    assert found["changed"] == [None]  # 12 heads cannot share 18


@pytest.mark.parametrize(("warmup", "falls"), [(0, False), (0.06, True), (0.5, True), (0.2, False)])
def test_the_descent_is_that_of_torchs_adam_with_the_schedule_of_the_package(warmup, falls):
    torch.manual_seed(0)
    valley = EXAMPLES["learning_rate"]
    noise, curvature = torch.randn(50, 2).double(), torch.tensor(valley["curvature"]).double()
    row = {**valley, "noise": noise.tolist(), "warmup": warmup, "falls": falls}
    (found,) = ask("descents", [row])
    weights = nn.Parameter(torch.tensor(valley["start"]).double())
    adam = torch.optim.Adam([weights], betas=tuple(valley["betas"]), eps=valley["epsilon"])
    for step, extra in enumerate(noise):
        share = step / 50
        adam.param_groups[0]["lr"] = valley["peak"] * (rate_factor(share, warmup) if falls or share < warmup else 1)
        loss = (curvature * weights**2).sum() / 2
        assert found["losses"][step] == pytest.approx(loss.item())
        adam.zero_grad()
        loss.backward()
        weights.grad += extra
        adam.step()
    torch.testing.assert_close(torch.tensor(found["path"][-1]).double(), weights.detach())


def test_a_threshold_is_judged_as_scikit_learn_judges_it():
    chance = random.Random(0)
    probabilities = [round(chance.random(), 1) for _ in range(60)]  # many are equal
    truths = [chance.random() < one for one in probabilities]
    rows = [{"probabilities": probabilities, "truths": truths, "threshold": one / 10} for one in range(1, 10)]
    for row, found in zip(rows, ask("thresholds", rows), strict=True):
        chosen = [one >= row["threshold"] for one in probabilities]
        names = ("left", "alarms", "missed", "hits")
        assert [found[name] for name in names] == confusion_matrix(truths, chosen).ravel().tolist()
        precision, recall, f1, _ = precision_recall_fscore_support(truths, chosen, average="binary")
        assert (found["precision"], found["recall"], found["f1"]) == pytest.approx((precision, recall, f1))
    (nothing,) = ask("thresholds", [{"probabilities": [0.2], "truths": [True], "threshold": 0.5}])
    assert nothing["precision"] is None and nothing["recall"] == 0 and nothing["f1"] == 0


def test_scores_of_two_sentences_are_those_of_the_package_and_padding_has_no_part():
    torch.manual_seed(0)
    rows, right = [], []
    for lengths in ((5, 4), (2, 9), (1, 1)):
        vectors = [torch.randn(1, length + 2, 8) for length in lengths]  # two of padding each
        masks = [torch.tensor([[1] * length + [0, 0]]) for length in lengths]
        first, second = (one[0] for one in vectors)
        products = {"first": first @ first.T, "second": second @ second.T, "across": first @ second.T}
        parts = {"rows": masks[0][0].bool().tolist(), "columns": masks[1][0].bool().tolist()}
        rows.append({**{name: table.tolist() for name, table in products.items()}, **parts})
        outputs = [EncoderOutput(one, None) for one in vectors]
        pooled = ([pool(one, mask, way) for one, mask in zip(outputs, masks, strict=True)] for way in ("cls", "mean"))
        units = [
            TokenVectors(nn.functional.normalize(one, dim=-1), mask.bool())
            for one, mask in zip(vectors, masks, strict=True)
        ]
        late = max_sim(*units)[0, 0] / lengths[0]
        right.append([*(nn.functional.cosine_similarity(*pair)[0] for pair in pooled), late])
        partners = (units[0].vectors[0] @ units[1].vectors[0, : lengths[1]].T).argmax(dim=-1)
        right[-1].append(partners[: lengths[0]].tolist())
    for (cls, mean, late, partners), found in zip(right, ask("matches", rows), strict=True):
        got = [found["cls"], found["mean"], found["late"]]
        assert got == pytest.approx([float(cls), float(mean), float(late)], abs=1e-5)
        assert math.cos(math.radians(found["angle"])) == pytest.approx(float(mean), abs=1e-5)
        assert found["partners"] == [*partners, None, None]


def test_there_is_an_example_of_each():
    assert set(EXAMPLES) == set(kinds())
    for name in PICTURES:
        assert re.search(r"^export function show\(root, given\)", (FOLDER / f"{name}.js").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_notebook_keeps_words_and_numbers_and_no_script(name):
    one = explorable(name, **EXAMPLES[name])
    data, _ = one._repr_mimebundle_()
    kept = {kind: content for kind, content in data.items() if kind != WIDGET}
    assert WIDGET in data and kept[STORED] == {"name": name, "given": EXAMPLES[name]}
    assert "script" not in json.dumps(kept) and len(json.dumps(kept)) < 4000
    assert one.question in data["text/plain"] and len(one.told.split()) > 20


@pytest.mark.parametrize("name", PICTURES)
def test_its_page_asks_nobody_and_text_stays_text(name):
    text = re.sub(r"/\*.*?\*/", "", explorable(name, **EXAMPLES[name]).page(), flags=re.DOTALL)  # without comments
    assert "default-src &#39;none&#39;" in text and "<b>keys" not in text and not fetches(text)
    assert kinds()[name]["question"] in Page(text).words


def test_an_unknown_name_and_numbers_that_are_none_are_refused():
    with pytest.raises(UserError, match="no explorable 'weighted': there are weighted_sum, pieces, "):
        explorable("weighted")
    with pytest.raises(UserError, match="weighted_sum was given what is no JSON"):
        explorable("weighted_sum", query=[float("nan")])
    with pytest.raises(UserError, match="no JSON"):
        explorable("weighted_sum", query=torch.ones(2))


def test_the_site_gets_a_page_for_each(tmp_path):
    output = touched(explorable("pieces", **EXAMPLES["pieces"]), "01_x.html", Tree(tmp_path, tmp_path))
    assert 'src="../explorables/01_x.html"' in output.data["text/html"]
    assert "WordPiece" in (tmp_path / "extra" / "explorables" / "01_x.html").read_text(encoding="utf-8")


def test_the_site_has_one_playground_opened_at_what_a_chapter_looks_at(tmp_path):
    output = touched(explorable("playground", **EXAMPLES["playground"]), "07_x.html", Tree(tmp_path, tmp_path))
    address = "../playground.html#view=next&amp;text=The+capital+of+Brazil&amp;masks=4&amp;second=Is+it+big%3F"
    assert f'src="{address}"' in output.data["text/html"] and not list(tmp_path.rglob("*.html"))
