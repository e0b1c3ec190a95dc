"""Answers to exercises 17.4 and 17.5: right ones, and mistakes with the words that they must hear."""

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


def by_assignment(masked, labels, sampled):
    chosen = labels != -100
    text = torch.where(chosen, labels, masked)
    seen = text.clone()
    seen[chosen] = sampled
    return seen, seen != text


def by_scatter(masked, labels, sampled):
    chosen = labels.ne(-100)
    seen = masked.masked_scatter(chosen, sampled)
    replaced = (chosen & (seen != labels)).long()
    return seen, replaced


def in_a_loop(masked, labels, sampled):
    seen, replaced, k = masked.clone(), torch.zeros(masked.shape), 0
    for i, row in enumerate(labels.tolist()):
        for j, label in enumerate(row):
            if label != -100:
                seen[i, j], replaced[i, j] = sampled[k], float(sampled[k] != label)
                k += 1
    return seen, replaced


def written_into_a_copy(masked, labels, sampled):
    chosen = labels != -100
    text = torch.where(chosen, labels, masked)
    seen = masked.clone()
    seen[chosen].copy_(sampled)
    return seen, seen != text


def copy_of_the_text(masked, labels, sampled):
    chosen = labels != -100
    text = torch.where(chosen, labels, masked)
    seen = text.clone()
    seen[chosen].copy_(sampled)
    return seen, seen != text


def at_masks_only(masked, labels, sampled):
    text = torch.where(labels != -100, labels, masked)
    seen = text.masked_scatter(masked == 4, sampled)
    return seen, seen != text


def assigned_at_masks(masked, labels, sampled):
    seen = masked.clone()
    seen[masked == 4] = sampled
    return seen, seen != masked


def all_chosen(masked, labels, sampled):
    return by_assignment(masked, labels, sampled)[0], labels != -100


def against_the_masked(masked, labels, sampled):
    seen = by_assignment(masked, labels, sampled)[0]
    return seen, seen != masked


def against_the_labels(masked, labels, sampled):
    seen = by_assignment(masked, labels, sampled)[0]
    return seen, seen != labels


def original_is_one(masked, labels, sampled):
    seen, replaced = by_assignment(masked, labels, sampled)
    return seen, ~replaced


def labels_as_text(masked, labels, sampled):
    seen = labels.clone()
    seen[labels != -100] = sampled
    return seen, seen != labels


def ids_as_floats(masked, labels, sampled):
    chosen = labels != -100
    text = torch.where(chosen, labels, masked)
    return text.double().masked_scatter(chosen, sampled.double()), text.masked_scatter(chosen, sampled) != text


def wrong_way_round(masked, labels, sampled):
    return by_assignment(masked, labels, sampled)[::-1]


def into_the_input(masked, labels, sampled):
    chosen = labels != -100
    text = torch.where(chosen, labels, masked)
    masked[chosen] = sampled
    return masked, masked != text


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
    },
    "17.5": {
        "accepted": [by_assignment, by_scatter, in_a_loop],
        "wrong": [
            (written_into_a_copy, "still reads [MASK]"),
            (copy_of_the_text, "the copy was changed"),
            (at_masks_only, "one token off"),
            (assigned_at_masks, "Some chosen tokens are not [MASK]"),
            (all_chosen, "A lucky guess is original"),
            (against_the_masked, "compared with the masked text"),
            (against_the_labels, "compared with the labels"),
            (original_is_one, "1 stands for replaced"),
            (labels_as_text, "seen contains -100"),
            (wrong_way_round, "in the wrong order"),
            (into_the_input, "changed its input"),
            (ids_as_floats, "Ids are whole numbers"),
        ],
    },
}
