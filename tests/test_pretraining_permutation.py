"""XLNet's objective: what is asked and scored, a second implementation of it, and a whole run with its report."""

import math

import numpy as np
import pytest
import torch
import transformers
from support.family_parity import perturbed
from support.made_up_text import made_up_corpus, plan
from support.tiny_run import SIZES, make_text, tiny_task, tiny_trainer, tiny_xlnet
from torch import Tensor

from bertedu.cli.pretrain import show_results
from bertedu.errors import UserError
from bertedu.family.xlnet import XLNetConfig, XLNetLMHeadModel
from bertedu.files import read_json
from bertedu.inference import fill_mask, open_filler, open_model, pseudo_perplexity
from bertedu.model.heads import IGNORED
from bertedu.pretraining.objectives.permutation import PermutationLanguageModel, visible_neighbours
from bertedu.pretraining.plan import Plan
from bertedu.pretraining.run import make_model, make_task, pretrain
from bertedu.pretraining.scoring import mean_pseudo_perplexity
from bertedu.pretraining.settings import PretrainingSettings
from bertedu.tokenization import XLNetTokenizer
from bertedu.training.feeding import cut_rows
from bertedu.training.metrics import read_metrics
from bertedu.visualization.curves import training_curves
from bertedu.visualization.report import curve_baselines, has_figures, write_report
from bertedu.visualization.results import results

pytestmark = pytest.mark.usefixtures("made_up")

RATES = (1 / 6, 1 / 6)
GIVEN = ("input_ids", "attention_mask", "token_type_ids", "perm_mask", "target_mapping")


def permutation_task(**changes):
    return tiny_task(objective="permutation", **{"max_length": 32, "mask_rates": RATES, **changes})


@pytest.fixture
def task():
    return permutation_task()


def xlnet_task() -> PermutationLanguageModel:
    """With XLNet's own layout: the text first, then <sep> and <cls>."""
    settings = {"objective": "permutation", "mask_rates": RATES, "max_length": 24}
    return make_task(made_up_corpus(), PretrainingSettings(vocab_size=90, batch_size=8, **settings))


def test_words_are_predicted_and_no_special_tokens_and_nothing_is_changed(task):
    """In BERT's layout and in XLNet's: what is predicted is a word of the text, at the place that target_mapping names;
    the input stays as it is; about one of six real tokens is asked for.
    """
    for one in (task, xlnet_task()):
        special, predicted, real = {one.tokenizer.cls_token_id, one.tokenizer.sep_token_id}, 0, 0
        for drawn in one.epoch(0):
            batch = one.prepare(drawn, 0, 0.0)
            assert torch.equal(batch["input_ids"], drawn["input_ids"])
            rows, m, places = batch["target_mapping"].nonzero(as_tuple=True)
            assert torch.equal(batch["labels"][rows, m], batch["input_ids"][rows, places])
            assert int((batch["labels"] != IGNORED).sum()) == len(rows) == one.counts(batch)["plm"]
            assert batch["attention_mask"][rows, places].all()
            assert not special & set(batch["labels"].flatten().tolist())
            first = batch["target_mapping"].int().argmax(dim=-1)
            assert (first.diff(dim=1)[batch["labels"][:, 1:] != IGNORED] > 0).all(), "in reading order"
            predicted, real = predicted + len(rows), real + int(batch["attention_mask"].sum())
        assert predicted / real == pytest.approx(1 / 6, abs=0.03)


def test_special_tokens_do_not_tell_a_predicted_token_what_it_is(task):
    """A token that all may see must not see what is predicted: not on any way through three layers, for each predicted
    token, may its own word or one that comes later move the prediction; one that comes before does.
    """
    torch.manual_seed(0)
    model = perturbed(XLNetLMHeadModel(XLNetConfig(**{**SIZES, "num_hidden_layers": 3}, pad_token_id=0)))
    batch = task.prepare(task.epoch(0)[1], 0, 0.0)
    one = {name: batch[name][:1] for name in GIVEN}
    places = one["target_mapping"][0].int().argmax(dim=-1)[batch["labels"][0] != IGNORED]
    assert len(places) > 2
    with torch.no_grad():
        before = model(**one).prediction_logits[0, : len(places)]
        for j in places.tolist():
            changed = one["input_ids"].clone()
            changed[0, j] = 5 + (changed[0, j] - 4) % 40
            after = model(**{**one, "input_ids": changed}).prediction_logits[0, : len(places)]
            moved = (after - before).abs().amax(dim=-1) > 1e-5
            seen = torch.tensor([not bool(one["perm_mask"][0, i, j]) for i in places.tolist()])
            assert torch.equal(moved, seen), j


class PlainXLNet:
    """The loss of one text by loops over the order, from sections 2.2 to 2.4: g is the query stream, h the content
    stream, and a token at z_t is predicted from h of z_<t. One vector at a time; no mask and no mapping.
    """

    def __init__(self, model: XLNetLMHeadModel):
        self.weights = {name: weight.detach().clone().requires_grad_() for name, weight in model.named_parameters()}
        self.config = model.config

    def distance(self, distance: int) -> Tensor:
        half = self.config.hidden_size // 2
        angles = [distance / 10000 ** (2 * k / self.config.hidden_size) for k in range(half)]
        return torch.tensor([*map(math.sin, angles), *map(math.cos, angles)])

    def attend(
        self, layer: str, i: int, vector: Tensor, seen: list[int], h: list[Tensor], segments: list[int]
    ) -> Tensor:
        """The layer's new vector of token i, whose vector in its stream is given, from the tokens that it sees."""
        w = {name.removeprefix(layer): weight for name, weight in self.weights.items() if name.startswith(layer)}
        heads, size = w["attention.content_bias"].shape
        mixed = torch.zeros(self.config.hidden_size)
        for head in range(heads):
            q = vector @ w["attention.query"][:, head]
            scores, values = [], []
            for j in seen:
                k = h[j] @ w["attention.key"][:, head]
                r = self.distance(i - j) @ w["attention.distance"][:, head]
                segment = w["attention.segments"][int(segments[i] != segments[j]), head]
                score = (q + w["attention.content_bias"][head]) @ k + (q + w["attention.distance_bias"][head]) @ r
                score = score + (q + w["attention.segment_bias"][head]) @ segment
                scores.append(score / math.sqrt(size))
                values.append(h[j] @ w["attention.value"][:, head])
            shares = torch.stack(scores).softmax(dim=0)
            found = sum(share * value for share, value in zip(shares, values, strict=True))
            mixed = mixed + w["attention.output"][:, head] @ found
        vector = self.norm(vector + mixed, w["attention_norm.weight"], w["attention_norm.bias"])
        inner = torch.nn.functional.gelu(w["feed_forward.expand.weight"] @ vector + w["feed_forward.expand.bias"])
        changed = w["feed_forward.shrink.weight"] @ inner + w["feed_forward.shrink.bias"]
        return self.norm(vector + changed, w["feed_forward_norm.weight"], w["feed_forward_norm.bias"])

    def norm(self, vector: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        spread = (vector.var(unbiased=False) + self.config.layer_norm_eps).sqrt()
        return (vector - vector.mean()) / spread * weight + bias

    def loss(self, ids: list[int], segments: list[int], z: list[int]) -> tuple[Tensor, int]:
        """The summed -log p of the tokens at z, in this order, and how often the right word is the first guess."""
        table, given = self.weights["encoder.token_embeddings.weight"], [i for i in range(len(ids)) if i not in z]
        h = [table[token] for token in ids]
        g = {i: self.weights["encoder.mask_embedding"][0, 0] for i in z}
        for number in range(self.config.num_hidden_layers):
            layer, old = f"encoder.layers.{number}.", h
            for t, i in enumerate(z):
                g[i] = self.attend(layer, i, g[i], given + z[:t], old, segments)
            h = [
                self.attend(layer, i, old[i], given + (z[: z.index(i) + 1] if i in z else []), old, segments)
                for i in range(len(ids))
            ]
        total, hits = torch.zeros(()), 0
        for i in z:
            scores = (table @ g[i] + self.weights["masked_lm.bias"]).log_softmax(dim=0)
            total, hits = total - scores[ids[i]], hits + int(scores.argmax() == ids[i])
        return total, hits


def order_of(batch: dict[str, Tensor], draws: Tensor, row: int) -> list[int]:
    """The predicted tokens of a row as the random numbers order them."""
    predicted = batch["target_mapping"][row].any(dim=0).nonzero().flatten().tolist()
    return sorted(predicted, key=lambda at: float(draws[row, at]))


@pytest.mark.parametrize("layers", [1, 3])
def test_loss_and_gradients_are_those_of_the_paper(layers):
    """A batch of three texts of different lengths, in XLNet's own layout, with its padding: summed text by text."""
    task = xlnet_task()
    sizes = {**SIZES, "vocab_size": len(task.tokenizer), "hidden_size": 8, "num_hidden_layers": layers}
    torch.manual_seed(0)
    model = perturbed(XLNetLMHeadModel(XLNetConfig(**sizes)))
    drawn = max(task.epoch(0), key=lambda one: int((one["attention_mask"] == 0).sum()))  # with most padding
    some = drawn["attention_mask"].sum(dim=1).argsort()[[0, len(drawn["input_ids"]) // 2, -1]]
    drawn = {name: tensor[some] for name, tensor in drawn.items()}
    batch = task.prepare(drawn, 0, 0.0)
    lengths = batch["attention_mask"].sum(dim=1).tolist()
    assert len(set(lengths)) > 1 and task.counts(batch)["plm"] > 5
    sums = task.sums(model, batch)
    sums["plm_loss"].backward()
    plain, total, hits = PlainXLNet(model), torch.zeros(()), 0
    for row, length in enumerate(lengths):
        ids, segments = (batch[name][row, :length].tolist() for name in ("input_ids", "token_type_ids"))
        loss, right = plain.loss(ids, segments, order_of(batch, drawn["order"], row))
        total, hits = total + loss, hits + right
    total.backward()
    assert sums["plm_loss"].item() == pytest.approx(total.item(), rel=1e-5)
    assert int(sums["plm_accuracy"]) == hits
    for name, parameter in model.named_parameters():
        expected = plain.weights[name].grad
        expected = torch.zeros_like(parameter) if expected is None else expected
        torch.testing.assert_close(
            parameter.grad, expected, atol=2e-5, rtol=1e-4, msg=lambda text, name=name: name + text
        )


def test_transformers_reads_these_masks_the_same(task, tmp_path):
    """Its XLNetLMHeadModel gives the same scores for the same perm_mask and target_mapping."""
    model = perturbed(tiny_xlnet())
    model.save_pretrained(tmp_path)
    theirs = transformers.XLNetLMHeadModel.from_pretrained(tmp_path).eval()
    batch = task.prepare(task.epoch(0)[0], 0, 0.0)
    given = {name: batch[name] for name in GIVEN}
    with torch.no_grad():
        mine = model(**given).prediction_logits
        given |= {name: given[name].float() for name in ("perm_mask", "target_mapping", "attention_mask")}
        their = theirs(**given).logits
    real = batch["labels"] != IGNORED
    torch.testing.assert_close(mine[real], their[real], atol=1e-5, rtol=1e-5)


def test_padding_on_the_other_side_gives_the_same_figures(task):
    batch, model = task.prepare(task.epoch(0)[2], 0, 0.0), perturbed(tiny_xlnet())
    lengths, width = batch["attention_mask"].sum(dim=1), batch["input_ids"].size(1)
    assert (lengths < width).any()
    rolled = (torch.arange(width) - (width - lengths)[:, None]) % width  # [B, T]
    left = {name: batch[name].gather(1, rolled) for name in ("input_ids", "attention_mask", "token_type_ids")}
    across = rolled[:, None].expand(-1, width, -1)
    left["perm_mask"] = batch["perm_mask"].gather(2, across).gather(1, across.mT)
    mapping = batch["target_mapping"]
    left["target_mapping"] = mapping.gather(2, rolled[:, None].expand(-1, mapping.size(1), -1))
    with torch.no_grad():
        sums = [task.sums(model, {**one, "labels": batch["labels"]}) for one in (batch, left)]
    assert float(sums[0]["plm_loss"]) == pytest.approx(float(sums[1]["plm_loss"]), rel=1e-5)


def test_two_processes_draw_the_same_orders_as_one(task):
    """What a text predicts, and in which order, depends on the pass and its place there alone."""
    whole = task.epoch(0)[0]
    names = ("perm_mask", "target_mapping", "labels")
    together = task.prepare(whole, 0, 0.0)
    first, second = (task.prepare(part, 0, 0.0) for part in cut_rows(whole, 2))
    rows, most = len(first["labels"]), [part["labels"].size(1) for part in (first, second)]
    for part, own, m in ((first, slice(0, rows), most[0]), (second, slice(rows, None), most[1])):
        assert torch.equal(part["perm_mask"], together["perm_mask"][own])
        for name in names[1:]:
            assert torch.equal(part[name], together[name][own, :m])
    again = permutation_task().prepare(permutation_task().epoch(0)[0], 0, 0.0)
    assert all(torch.equal(again[name], together[name]) for name in names), "drawn anew where a run goes on"
    for other in (task.epoch(1)[0], task.epoch(0)[1]):
        assert not torch.equal(other["span_size"].flatten()[:50], whole["span_size"].flatten()[:50])
    assert not torch.equal(whole["order"], whole["span_place"]), "where a span stands would tell the order"


def test_the_share_that_is_predicted_goes_from_start_to_end():
    task = permutation_task(mask_rates=(0.1, 0.5))
    batch = max(task.epoch(0), key=lambda one: int(one["attention_mask"].sum()))
    counts = [task.counts(task.prepare(batch, 0, share))["plm"] for share in (0.0, 0.5, 1.0)]
    assert counts[0] < counts[1] < counts[2]
    real = int(batch["attention_mask"].sum())
    assert [count / real for count in counts] == pytest.approx([0.1, 0.3, 0.5], abs=0.04)


def test_a_batch_without_a_word_to_predict_does_not_end_the_run(task, tmp_path):
    """Texts of one token: the loss is 0, the gradients are numbers, and the run goes on."""
    task.train_text = make_text([[[6]] for _ in range(20)])
    task.maker = task.maker_of(task.train_text)
    batch, model = task.prepare(task.epoch(0)[0], 0, 0.0), tiny_xlnet()
    assert batch["labels"].shape == (8, 0) and task.counts(batch) == {"plm": 0}
    loss = task.sums(model, batch)["plm_loss"]
    loss.backward()
    assert loss.item() == 0 and all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)
    trainer = tiny_trainer(tmp_path, 3, task)
    assert trainer.run().step == 3


def test_a_text_too_small_for_validation_does_not_end_the_run(tmp_path):
    task = permutation_task()
    task.validation_batches, task.ordered_batches = [], []
    assert tiny_trainer(tmp_path, 4, task, validations=2).run().step == 4


def test_validation_draws_the_same_orders_each_time(task):
    """Then two looks at the same weights would differ. The masked words are those that other objectives ask for."""
    model = tiny_xlnet()
    first, second = (task.validate(model, torch.device("cpu")) for _ in range(2))
    assert first == second and first == permutation_task().validate(model, torch.device("cpu"))
    assert first.keys() == {"plm_loss", "plm_accuracy", "mlm_loss", "mlm_accuracy"}
    assert task.quality(first) == -first["plm_loss"]
    other = tiny_task(architecture="roberta", max_length=32, mask_rates=(0.4, 0.3))  # no random word is special
    for mine, theirs in zip(task.validation_batches, other.validation_batches, strict=True):
        assert all(torch.equal(mine[name], theirs[name]) for name in ("input_ids", "labels"))
    assert permutation_task(mask_rates=(0.5, 0.5)).validate(model, torch.device("cpu")) == first, "at another share"


def test_the_loss_is_a_mean_over_the_predicted_tokens(task):
    """Counted by hand: of the predicted tokens alone, each as often as the others."""
    model, batches = tiny_xlnet().eval(), task.ordered_batches
    total, hits, number = 0.0, 0, 0
    with torch.no_grad():
        for batch in batches:
            logits = model(**{name: batch[name] for name in GIVEN}).prediction_logits.log_softmax(dim=-1)
            for row, m in (batch["labels"] != IGNORED).nonzero().tolist():
                right = int(batch["labels"][row, m])
                total, number = total - float(logits[row, m, right]), number + 1
                hits += int(logits[row, m].argmax() == right)
    found = task.validate(model, torch.device("cpu"))
    assert found["plm_loss"] == pytest.approx(total / number, rel=1e-5)
    assert found["plm_accuracy"] == pytest.approx(hits / number)
    assert number < sum(int(batch["attention_mask"].sum()) for batch in batches) / 4


def test_masked_words_see_neither_each_other_nor_themselves(task):
    """As of a masked model: whatever stands at the words that are asked for, no answer moves."""
    model, batch = perturbed(tiny_xlnet()), task.validation_batches[0]
    with torch.no_grad():
        before = task.sums(model, batch)
        changed = batch["input_ids"].masked_fill(batch["labels"] != IGNORED, 17)
        after = task.sums(model, {**batch, "input_ids": changed})
    assert before.keys() == {"mlm_loss", "mlm_accuracy"}
    assert float(before["mlm_loss"]) == pytest.approx(float(after["mlm_loss"]), rel=1e-6)


def test_the_baseline_sees_no_neighbour_that_comes_later(task):
    """In loops, from the masks."""
    batch = task.ordered_batches[0]
    seen, labels = visible_neighbours(batch, mask_token_id=4)
    ids, length, at = batch["input_ids"], batch["input_ids"].size(1), 0
    for row in range(len(ids)):
        for place in batch["target_mapping"][row].any(dim=0).nonzero().flatten().tolist():
            expected = [4, 4, 4]
            for column, beside in ((0, place - 1), (2, place + 1)):
                if 0 <= beside < length and not batch["perm_mask"][row, place, beside]:
                    expected[column] = int(ids[row, beside])
            assert seen[at].tolist() == expected and labels[at].tolist() == [IGNORED, int(ids[row, place]), IGNORED]
            at += 1
    assert at == len(seen) and (seen[:, [0, 2]] == 4).any()
    one = {
        "input_ids": torch.tensor([[7, 8, 9]]),
        "perm_mask": torch.zeros(1, 3, 3, dtype=torch.bool),
        "target_mapping": torch.tensor([[[True, False, False], [False, False, True]]]),
    }
    assert np.array_equal(visible_neighbours(one, 4)[0], [[4, 4, 8], [8, 4, 4]]), "beyond the sequence"


def test_pseudo_perplexity_counts_every_token_alike(task):
    """Token by token over all sentences; those that do not fit are left out."""
    task = xlnet_task()
    model = perturbed(XLNetLMHeadModel(XLNetConfig(**{**SIZES, "vocab_size": len(task.tokenizer)})))
    documents = made_up_corpus().heldout["held-out documents"][:2]
    texts = [text for document in documents for text in document.sentences]
    lengths = [len(task.tokenizer.encode(text)) for text in texts]
    kept = [(text, length) for text, length in zip(texts, lengths, strict=True) if length <= 30]
    assert len({length for _, length in kept}) > 1
    nats = [length * math.log(pseudo_perplexity(model, task.tokenizer, text)) for text, length in kept]
    found = mean_pseudo_perplexity(model, task.tokenizer, documents)
    assert found["pseudo_sentences"] == len(kept)
    assert found["pseudo_perplexity"] == pytest.approx(math.exp(sum(nats) / sum(n for _, n in kept)), rel=1e-4)
    assert mean_pseudo_perplexity(model, task.tokenizer, []) == {}


def test_xlnet_has_settings_of_its_own():
    """One of six tokens, and the published start: XLNet has no embeddings of positions for the other."""
    settings = PretrainingSettings.for_preset("tiny", objective="permutation")
    assert settings.mask_rates == RATES and settings.initialization == "published"
    assert PretrainingSettings.for_preset("tiny", objective="permutation", mask_rates=(0.3, 0.2)).mask_rates == (
        0.3,
        0.2,
    )
    assert PretrainingSettings.for_preset("tiny").mask_rates == (0.40, 0.30)
    for other in ("matching", "counted"):
        with pytest.raises(UserError, match=f"'{other}' does not fit the layers of XLNet: take published"):
            PretrainingSettings.for_preset("tiny", objective="permutation", initialization=other)
    with pytest.raises(UserError, match="whole_words is set, and the objective 'permutation' predicts tokens"):
        PretrainingSettings.for_preset("tiny", objective="permutation", whole_words=True)
    with pytest.raises(UserError, match="the objective 'permutation' has no pairs"):
        PretrainingSettings.for_preset("tiny", objective="permutation", pairs="order")


def test_a_run_leaves_an_xlnet_that_opens(tmp_path, capsys):
    """Here and in `transformers`, with its own tokenizer; with its figures, its curves and its report."""
    options = {"objective": "permutation", "vocab_size": 90, "log_steps": 2, "validations": 2}
    metrics = pretrain(plan(tmp_path, steps=6, **options), lambda _: None)
    assert metrics is not None and metrics == read_json(tmp_path / "metrics.json")
    figures = metrics["evaluation"]["held-out documents"]
    ordering = figures["ordering"]
    assert ordering["tokens"] > 10 and 0 <= ordering["plm_accuracy"] <= 1 and ordering["perplexity"] > 1
    assert ordering["baselines"].keys() == {"unigram", "n-gram, both sides"}
    assert figures["masked_words"] > 10 and figures["pseudo_perplexity"] > 1
    lines = read_metrics(tmp_path)
    assert {"plm_loss", "validation_plm_loss", "validation_mlm_accuracy"} <= {name for line in lines for name in line}
    assert not any("mlm_loss" in line or "nsp_loss" in line for line in lines)
    model, tokenizer = open_model(tmp_path)
    assert type(model) is XLNetLMHeadModel and type(tokenizer) is XLNetTokenizer
    assert model.config.pad_token_id == tokenizer.pad_token_id
    assert len(fill_mask(*open_filler(tmp_path), "cats like <mask>", 3)[0]) == 3
    _, said = transformers.XLNetLMHeadModel.from_pretrained(tmp_path / "checkpoint", output_loading_info=True)
    assert not any(said.values()), said
    text = "cats like warm milk and long naps"
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "checkpoint")
    assert theirs(text)["input_ids"] == tokenizer(text).input_ids[0].tolist()
    picture = training_curves(lines, curve_baselines(metrics))
    assert "Words in a random order: loss" in picture.alt and "n-gram" in picture.alt
    page = write_report(tmp_path).read_text(encoding="utf-8")
    assert "What a small XLNet has learned" in page and "words in a random order, accuracy" in page
    assert (
        "bertedu pretrain --architecture xlnet --minutes" in page
        and "pairs of at most" not in page
        and "pipeline" not in page
    )
    assert "Some words are predicted, each from those" in page and "Fewer and fewer words" not in page
    assert "Words in a random order: loss (nats), training: " in page
    for drawn in ("training", "validation", "n-gram, both sides"):
        assert f"Words in a random order: accuracy, {drawn}: " in page, "a curve that is not drawn"
    assert "<dt>predicted</dt>" in page and "<dt>masked</dt>" not in page
    show_results(tmp_path, metrics)
    assert "What it fills in:" in capsys.readouterr().out
    rows = {row.measure: row for row in results(metrics)}
    assert rows["pseudo-perplexity"].shown() == f"{figures['pseudo_perplexity']:,.1f}"
    assert dict(rows["words in a random order, perplexity"].baselines).keys() == ordering["baselines"].keys()


def test_a_run_without_validation_has_no_curves():
    """Masked words are asked for on validation text alone."""
    assert has_figures([{"step": 50, "plm_loss": 5.0}]) and not has_figures([{"step": 50, "learning_rate": 0.1}])


def test_going_on_from_a_run_keeps_its_weights(tmp_path):
    pretrain(plan(tmp_path / "first", objective="permutation", vocab_size=90), lambda _: None)
    options = {"objective": "permutation", "start": str(tmp_path / "first"), "vocab_size": None}
    pretrain(plan(tmp_path / "second", learning_rate=1e-9, **options), lambda _: None)
    first, second = (XLNetLMHeadModel.from_pretrained(tmp_path / name) for name in ("first", "second"))
    for name, weight in first.state_dict().items():
        assert torch.allclose(weight, second.state_dict()[name], atol=1e-6), name
    assert Plan.read(tmp_path / "second")["objective"] == "permutation"


def test_a_new_xlnet_pads_with_the_token_of_its_tokenizer():
    model = make_model(tiny_task(objective="permutation"))
    assert type(model) is XLNetLMHeadModel and model.config.pad_token_id == 0
