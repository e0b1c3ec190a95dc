"""Answers to exercise 17.4: right ones, and mistakes with the words that they must hear."""

import torch

NAMES = ("token", "position", "token_type", "norm")


def module_by_module(generator, discriminator):
    ours, theirs = discriminator.encoder.embeddings, generator.encoder.embeddings
    for name in NAMES:
        setattr(theirs, name, getattr(ours, name))
    generator.masked_lm.decoder.weight = ours.token.weight
    return generator, discriminator


def weight_by_weight(generator, discriminator):
    ours, theirs = discriminator.encoder.embeddings, generator.encoder.embeddings
    theirs.token.weight = ours.token.weight
    theirs.position.weight = ours.position.weight
    theirs.token_type.weight = ours.token_type.weight
    theirs.norm.weight, theirs.norm.bias = ours.norm.weight, ours.norm.bias
    generator.masked_lm.decoder.weight = theirs.token.weight
    return generator, discriminator


def the_other_way(generator, discriminator):
    for name in NAMES:
        setattr(discriminator.encoder.embeddings, name, getattr(generator.encoder.embeddings, name))
    return [generator, discriminator]


def copied_numbers(generator, discriminator):
    for name in NAMES:
        part = getattr(discriminator.encoder.embeddings, name)
        getattr(generator.encoder.embeddings, name).load_state_dict(part.state_dict())
    return generator, discriminator


def same_storage(generator, discriminator):
    ours, theirs = discriminator.encoder.embeddings, generator.encoder.embeddings
    for name in NAMES:
        for their, our in zip(getattr(theirs, name).parameters(), getattr(ours, name).parameters()):  # noqa: B905
            their.data = our.data
    return generator, discriminator


def decoder_forgotten(generator, discriminator):
    for name in NAMES:
        setattr(generator.encoder.embeddings, name, getattr(discriminator.encoder.embeddings, name))
    return generator, discriminator


def decoder_is_a_table(generator, discriminator):
    decoder_forgotten(generator, discriminator)
    generator.masked_lm.decoder = discriminator.encoder.embeddings.token
    return generator, discriminator


def decoder_of_its_own(generator, discriminator):
    decoder_forgotten(generator, discriminator)
    generator.masked_lm.decoder.weight = torch.nn.Parameter(discriminator.encoder.embeddings.token.weight)
    return generator, discriminator


def norm_forgotten(generator, discriminator):
    for name in NAMES[:3]:
        setattr(generator.encoder.embeddings, name, getattr(discriminator.encoder.embeddings, name))
    generator.masked_lm.decoder.weight = discriminator.encoder.embeddings.token.weight
    return generator, discriminator


def tokens_only(generator, discriminator):
    table = discriminator.encoder.embeddings.token.weight
    generator.encoder.embeddings.token.weight = generator.masked_lm.decoder.weight = table
    return generator, discriminator


def all_of_the_embeddings(generator, discriminator):
    generator.encoder.embeddings = discriminator.encoder.embeddings
    return generator, discriminator


def nothing_shared(generator, discriminator):
    return generator, discriminator


def returned_nothing(generator, discriminator):
    module_by_module(generator, discriminator)


def other_order(generator, discriminator):
    return module_by_module(generator, discriminator)[::-1]


def no_parameter(generator, discriminator):
    generator.encoder.embeddings.token.weight = discriminator.encoder.embeddings.token.weight.detach()
    return generator, discriminator


ANSWERS = {
    "17.4": {
        "accepted": [module_by_module, weight_by_weight],
        "wrong": [
            (the_other_way, "asks for the reverse"),
            (copied_numbers, "the numbers are equal"),
            (same_storage, "two Parameters lie over the same numbers"),
            (decoder_forgotten, "still has another table"),
            (decoder_is_a_table, "It stays a linear layer"),
            (decoder_of_its_own, "a Parameter of its own"),
            (norm_forgotten, "`norm.weight` is not shared"),
            (tokens_only, "`position.weight` is not shared"),
            (all_of_the_embeddings, "lost its own layer"),
            (nothing_shared, "the generator has its own"),
            (returned_nothing, "returned None"),
            (other_order, "wrong order"),
            (no_parameter, "must be a Parameter"),
        ],
    }
}
