"""Dropout of every member: each one that its config names is applied, in the encoder and below the head of a task."""

import pytest
import torch
from support.members import SIZES
from torch import nn

from bertedu.config import TaskConfig
from bertedu.family import MEMBERS
from bertedu.family.deberta.attention import Context
from bertedu.family.deberta.v1 import ARCHITECTURE as DEBERTA
from bertedu.finetuning.starting import with_dropout
from bertedu.model.architecture import architecture
from bertedu.model.heads import MaskedLM
from bertedu.registry import TASKS

LABELS = TaskConfig(labels=("a", "b", "c"))
MEAN = TaskConfig(labels=("a", "b", "c"), pooling="mean")  # where a member has nothing in a pooler's place
POOLED = [network for task in ("similarity", "ordinal-regression") for network in TASKS[task].networks]
NETWORKS = list(dict.fromkeys(network for task in TASKS.values() for network in task.networks))


def config_of(model_type: str, share: float):
    """A narrow config of a member, with this dropout everywhere."""
    sizes = {
        **{"vocab_size": 30, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2},
        **{"intermediate_size": 96, "max_position_embeddings": 12},
    }
    changes = {name: value for name, value in SIZES.get(model_type, {}).items() if name != "num_hidden_groups"}
    if model_type == "deberta-v2":  # the large published ones have a convolution
        changes["conv_kernel_size"] = 3
    return with_dropout(architecture(model_type).config(**{**sizes, **changes}), share)


def batch_of(network: type) -> tuple[torch.Tensor, ...]:
    """Two texts of eight tokens, or of two choices each."""
    ids = torch.randint(6, 30, (2, 8), generator=torch.Generator().manual_seed(0))
    ids = torch.stack([ids, ids.flip(0)], dim=1) if network.kind == "ForMultipleChoice" else ids
    return ids, torch.ones_like(ids), torch.zeros_like(ids)


@pytest.mark.parametrize("model_type", MEMBERS)
@pytest.mark.parametrize("network", [MaskedLM, *NETWORKS], ids=lambda network: network.kind)
def test_every_dropout_of_a_member_is_applied(model_type, network):
    """Each of its modules, once at least, and some numbers of what it got are 0 afterwards."""
    model = network.from_config(config_of(model_type, 0.5), MEAN if network in POOLED else LABELS).train()
    dropped: dict[nn.Module, bool] = {}
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            dropped[module] = False
            module.register_forward_hook(
                lambda module, given, found: dropped.update({module: bool(((found == 0) & (given[0] != 0)).any())})
            )
    model(*batch_of(network))
    names = {module: name for name, module in model.named_modules()}
    unused = [names[module] for module, used in dropped.items() if not used]
    if architecture(model_type).for_masked_lm is None or network is not MaskedLM:
        assert not unused and dropped, unused
    assert {module.p for module in dropped} == {0.5}, "the config's share does not reach one of them"


# How many dropouts lie between the encoder's last layer and the scores of a text's classes. ALBERT, DeBERTa and
# XLNet have one more or less than BERT where their published code has.
@pytest.mark.parametrize(
    ("model_type", "count"), [("bert", 1), ("roberta", 2), ("electra", 2), ("albert", 1), ("distilbert", 1)]
)
def test_the_classifier_of_a_member_has_the_dropouts_of_its_paper(model_type, count):
    """ELECTRA's and RoBERTa's: before the dense layer, and before the last one."""
    model = TASKS["classification"].networks[0].from_config(config_of(model_type, 0.5), LABELS)
    above = [name for name, module in model.named_modules() if isinstance(module, nn.Dropout)]
    assert sum(not name.startswith("encoder.") for name in above) == count


def test_albert_drops_before_its_last_layer_alone():
    """Its layers have no dropout as published, its classifiers 0.1."""
    config = architecture("albert").config()
    assert (config.hidden_dropout_prob, config.head_dropout_prob) == (0.0, 0.1)


def test_a_classifier_of_electra_reads_cls_through_dropout():
    """Half of the numbers that its dense layer gets are 0."""
    model = TASKS["classification"].networks[0].from_config(config_of("electra", 0.5), LABELS).train()
    seen = []
    model.transform.dense.register_forward_hook(lambda module, given, found: seen.append(given[0]))
    model(*batch_of(type(model)))
    assert 0.3 < float((seen[0] == 0).float().mean()) < 0.7


def test_debertas_distances_go_through_dropout():
    """Without dropout of the attention weights, that of the distances alone tells two passes apart."""
    config = with_dropout(config_of("deberta", 0.0), 0.0)
    attention = DEBERTA.encoder(config).encoder.layers[0].attention
    attention.position_dropout.p = 0.5
    seen = []
    attention.position_dropout.register_forward_hook(lambda module, given, found: seen.append((given[0], found)))
    vectors = torch.randn(2 * 8, 64, generator=torch.Generator().manual_seed(1))
    places = torch.arange(8)
    index = (places[:, None] - places[None, :] + 8).clamp(0, 15)
    context = Context(vectors, index, torch.ones(1, 8, dtype=torch.bool))
    states = torch.randn(1, 8, 64, generator=torch.Generator().manual_seed(2))
    first, second = (attention.train()(states, context)[0] for _ in range(2))
    assert not torch.equal(first, second)
    assert seen and torch.equal(seen[0][0], vectors) and bool((seen[0][1] == 0).any())
