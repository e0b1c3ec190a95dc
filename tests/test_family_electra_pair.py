"""Generator and discriminator: the joint loss against a second implementation, what is shared, how they are saved."""

import math

import pytest
import torch
import transformers
from support.family_parity import CLOSE, masked_labels, padded_batch, perturbed
from torch.nn.functional import softplus
from torch.testing import assert_close

from bertedu.errors import UserError
from bertedu.family.electra import NAMES, ElectraConfig, ElectraForPreTraining
from bertedu.family.electra_pair import (
    DETECTION_WEIGHT,
    GeneratorAndDiscriminator,
    generator_config,
    sample_tokens,
)
from bertedu.inference import open_model
from bertedu.model.heads import MaskedLM
from bertedu.tokenization import BertTokenizer
from bertedu.tokenization.training import SPECIAL_TOKENS

CONFIGS = [
    ElectraConfig(40, 16, 2, 2, 24, max_position_embeddings=14, embedding_size=8),
    ElectraConfig(40, 16, 1, 4, 24, max_position_embeddings=14, embedding_size=16, pad_token_id=3),
]
MASK = 4


def pair_of(config: ElectraConfig, seed: int = 1) -> GeneratorAndDiscriminator:
    torch.manual_seed(seed)
    return perturbed(GeneratorAndDiscriminator.from_config(config))


def masked_batch(config: ElectraConfig) -> dict[str, torch.Tensor]:
    batch = padded_batch(config, segments=2)
    labels = masked_labels(batch)
    ids = batch["input_ids"].masked_fill(labels != -100, MASK)
    ids[0, 0] = labels[0, 0]  # one of the chosen is kept as it is
    at = torch.rand(ids.shape, generator=torch.Generator().manual_seed(6))
    return {**batch, "input_ids": ids, "labels": labels, "sample_at": at}


def joint_loss(discriminator, generator, batch):
    """After `run_pretraining.py` of google-research/electra, text by text: the loss, the sampled ids and the labels."""
    words, word_losses, told, tokens = 0, 0.0, 0.0, 0
    all_seen, all_replaced = [], []
    for row in range(len(batch["input_ids"])):
        ids, mask, kinds, right, at = (
            batch[name][row : row + 1]
            for name in ("input_ids", "attention_mask", "token_type_ids", "labels", "sample_at")
        )
        logits = generator(input_ids=ids, attention_mask=mask, token_type_ids=kinds).logits[0]
        original, updated = ids[0].tolist(), ids[0].tolist()
        for place in range(ids.size(1)):
            if right[0, place] == -100:
                continue
            original[place] = int(right[0, place])
            log_probabilities = logits[place].log_softmax(-1)
            word_losses, words = word_losses - log_probabilities[original[place]], words + 1
            reached, point = 0.0, float(at[0, place])
            for token, probability in enumerate(log_probabilities.exp().tolist()):
                if reached <= point:
                    updated[place] = token
                reached += probability
        replaced = [int(new != old) for new, old in zip(updated, original, strict=True)]
        scores = discriminator(input_ids=torch.tensor([updated]), attention_mask=mask, token_type_ids=kinds).logits[0]
        for place in range(int(mask.sum())):
            told = told + softplus(-scores[place] if replaced[place] else scores[place])
            tokens += 1
        all_seen.append(updated)
        all_replaced.append(replaced)
    return word_losses / words + 50 * told / tokens, all_seen, all_replaced


def their_pair(folder):
    """Both in `transformers`, with the embeddings shared there too."""
    discriminator = transformers.ElectraForPreTraining.from_pretrained(folder, attn_implementation="eager").eval()
    generator = transformers.ElectraForMaskedLM.from_pretrained(
        folder / "generator", attn_implementation="eager"
    ).eval()
    generator.electra.embeddings = discriminator.electra.embeddings
    generator.generator_lm_head.weight = discriminator.electra.embeddings.word_embeddings.weight
    return discriminator, generator


@pytest.mark.parametrize("config", CONFIGS)
def test_the_joint_loss_and_its_gradients_are_what_google_computes(config, tmp_path):
    """A gradient through the sample, a mean over the masked tokens, padding that counts, another weight than 50."""
    pair, batch = pair_of(config), masked_batch(config)
    pair.save_pretrained(tmp_path)
    theirs = their_pair(tmp_path)
    batch["labels"][1, 0] = pair(**batch).seen[1, 0]  # a lucky guess
    expected, seen, replaced = joint_loss(*theirs, batch)
    output = pair(**batch)
    assert output.seen.tolist() == seen and output.replaced.int().tolist() == replaced
    assert 0 < output.replaced.sum() < (batch["labels"] != -100).sum()
    assert_close(output.loss, expected, **CLOSE)
    output.loss.backward()
    expected.backward()
    for name, model, kind in (("discriminator", theirs[0], "ForPreTraining"), ("generator", theirs[1], "ForMaskedLM")):
        by_name = dict(model.named_parameters(remove_duplicate=False))
        for ours, weight in pair.get_submodule(name).named_parameters():
            their = by_name[NAMES.to_transformers(ours, "encoder", kind)]
            mine, right = (torch.zeros_like(one) if one.grad is None else one.grad for one in (weight, their))
            assert_close(mine, right, atol=1e-4, rtol=1e-4, msg=lambda text, ours=ours: f"{ours}: {text}")


def test_a_sample_is_a_draw_from_the_softmax():
    """Counted over 200,000 draws, beside Gumbel noise and argmax, as Google's code draws."""
    generator = torch.Generator().manual_seed(0)
    logits = torch.tensor([1.5, -1.0, 0.0, -30.0, 0.7])
    draws = 200_000
    counted = sample_tokens(logits.expand(draws, -1), torch.rand(draws, generator=generator)).bincount(minlength=5)
    noise = -torch.rand(draws, 5, generator=generator).log().neg().log()
    gumbel = (logits + noise).argmax(dim=-1).bincount(minlength=5)
    wanted = logits.softmax(-1)
    for found in (counted, gumbel):
        assert_close(found / draws, wanted, atol=0.005, rtol=0)
    assert counted[3] == 0
    edges = torch.tensor([0.0, 1.0])
    assert sample_tokens(torch.tensor([[-math.inf, 0.0, -math.inf]] * 2), edges).tolist()[0] == 1
    assert sample_tokens(logits.expand(2, -1), edges).max() < 5


def test_a_sample_passes_no_gradient_to_the_generator():
    """Only through the embeddings that both share may the discriminator's loss reach it."""
    pair, batch = pair_of(CONFIGS[0]), masked_batch(CONFIGS[0])
    output = pair(**batch)
    output.detector_logits.sum().backward()
    own = [name for name, weight in pair.generator.named_parameters() if weight.grad is not None]
    assert own and all(name.startswith("encoder.embeddings.") and "project" not in name for name in own)


def test_the_mask_token_does_not_reach_the_discriminator():
    """It would learn that [MASK] is wrong, and nothing about words."""
    batch = masked_batch(CONFIGS[0])
    output = pair_of(CONFIGS[0])(**batch)
    text = torch.where(batch["labels"] != -100, batch["labels"], batch["input_ids"])
    assert (output.seen == text)[batch["labels"] == -100].all()
    assert torch.equal(output.replaced, output.seen != text)


def test_generator_and_discriminator_share_their_embeddings():
    pair = pair_of(CONFIGS[0])
    ours, theirs = (model.encoder.embeddings for model in (pair.discriminator, pair.generator))
    for name in ("token", "position", "token_type", "norm"):
        assert getattr(ours, name) is getattr(theirs, name), name
    assert pair.generator.masked_lm.decoder.weight is ours.token.weight
    assert ours.project is not theirs.project and ours.project.weight.shape != theirs.project.weight.shape


def test_a_generator_has_the_published_sizes():
    """Small: a quarter; Base: a third, as in google/electra-base-generator."""
    small, base = generator_config(ElectraConfig()), generator_config(ElectraConfig.preset("base"), 1 / 3)
    assert (small.hidden_size, small.num_attention_heads, small.intermediate_size) == (64, 1, 256)
    assert (base.hidden_size, base.num_attention_heads, base.intermediate_size) == (256, 4, 1024)
    assert base.num_hidden_layers == 12 and base.embedding_size == 768 and DETECTION_WEIGHT == 50


def test_every_weight_of_the_pair_has_a_depth():
    pair = pair_of(CONFIGS[0])
    depths = {name: pair.depth(name) for name, _ in pair.named_parameters()}
    assert depths["discriminator.encoder.embeddings.token.weight"] == 0
    assert depths["generator.encoder.encoder.layers.1.attention.query.weight"] == 2
    assert depths["generator.masked_lm.dense.weight"] == depths["discriminator.detector.dense.weight"] == 3


def test_a_saved_pair_opens_as_it_was(tmp_path):
    """The folder is the discriminator's, and the one in it the generator's; each opens alone, here and there."""
    config = ElectraConfig(7, 16, 2, 2, 24, max_position_embeddings=14, embedding_size=8)
    pair = pair_of(config)
    pair.save_pretrained(tmp_path)
    again = GeneratorAndDiscriminator.from_pretrained(tmp_path)
    assert all(torch.equal(old, again.state_dict()[name]) for name, old in pair.state_dict().items())
    assert again.generator.encoder.embeddings.norm is again.discriminator.encoder.embeddings.norm
    assert again.identity() == pair.identity() and "generator" in pair.identity()
    tokenizer = BertTokenizer([*SPECIAL_TOKENS, "cat", "."])
    for folder, kind in ((tmp_path, ElectraForPreTraining), (tmp_path / "generator", MaskedLM)):
        tokenizer.save_pretrained(folder)
        assert type(open_model(folder)[0]) is kind
    for auto, folder in (("PreTraining", tmp_path), ("MaskedLM", tmp_path / "generator")):
        opener = getattr(transformers, f"AutoModelFor{auto}")
        _, report = opener.from_pretrained(folder, output_loading_info=True)
        assert not any(report.values()), report


def test_a_pair_that_is_none_is_refused(tmp_path):
    first, second = (pair_of(CONFIGS[0], seed) for seed in (1, 2))
    first.discriminator.save_pretrained(tmp_path)
    with pytest.raises(UserError, match=r"has no folder generator/, and ELECTRA is trained with its generator"):
        GeneratorAndDiscriminator.from_pretrained(tmp_path)
    second.generator.save_pretrained(tmp_path / "generator")
    with pytest.raises(UserError, match=r"its embeddings are not those of the discriminator"):
        GeneratorAndDiscriminator.from_pretrained(tmp_path)
