"""Small models with random weights, and whether two have the same: what the tests of checkpoints share."""

import warnings

import torch

from bertedu import BertConfig, BertForPreTraining

CONFIG = BertConfig(30, 16, 2, 2, 32, max_position_embeddings=8, initializer_range=0.2)


def random_model(model_class=BertForPreTraining, config=CONFIG):
    torch.manual_seed(0)
    model = model_class(config)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model.eval()


def assert_same_weights(one, other) -> None:
    assert one.state_dict().keys() == other.state_dict().keys()
    for name, tensor in one.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name]), name


def load_quietly(model_class, folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return model_class.from_pretrained(folder)
