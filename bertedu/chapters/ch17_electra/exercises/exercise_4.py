"""Exercise 17.4: Shared, or equal?"""

from typing import Any

import torch
from torch import nn

from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.family.electra import ElectraConfig, ElectraForPreTraining
from bertedu.family.electra_pair import generator_config
from bertedu.model.heads import MaskedLM

SHARED = ("token", "position", "token_type", "norm")


CONFIG = ElectraConfig(30, 16, 1, 2, 32, max_position_embeddings=8, embedding_size=16)


def new_models() -> tuple[MaskedLM, ElectraForPreTraining]:
    """A generator and a discriminator that share nothing, and in which no two weights have the same numbers."""
    with torch.random.fork_rng(), torch.no_grad():
        torch.manual_seed(4)
        generator, discriminator = MaskedLM(generator_config(CONFIG)), ElectraForPreTraining(CONFIG)
        for weight in (*generator.parameters(), *discriminator.parameters()):
            weight.add_(0.01 * torch.randn_like(weight))
    return generator, discriminator


def embeddings_of(model: nn.Module) -> Any:
    """The embeddings of one of the two."""
    return model.get_submodule("encoder.embeddings")


@exercise(
    "17.4",
    "Shared, or equal?",
    difficulty=3,
    minutes=15,
    runs="beside",
    hints=(
        "load_state_dict copies numbers. Which assignment makes two names stand for the same module?",
        "For each name: setattr(theirs, name, getattr(ours, name)). Then give generator.masked_lm.decoder the shared "
        "table of tokens as its weight.",
    ),
)
def share(case: Case) -> None:
    """By identity, part by part, and then by one step of training."""
    case.causes["cannot assign"] = "A weight must be a Parameter: assign the other model's weight itself, not a copy."
    generator, discriminator = new_models()
    own = embeddings_of(generator).project
    given = embeddings_of(generator).token.weight
    result = case.call(generator, discriminator, tried="a small generator and discriminator", keeps_inputs=False)
    generator, discriminator = case.parts(result, "generator", "discriminator")
    if isinstance(generator, ElectraForPreTraining) and isinstance(discriminator, MaskedLM):
        case.fail("But the two models come in the wrong order: return the generator first.")
    case.is_a("the first", generator, MaskedLM, "the generator")
    case.is_a("the second", discriminator, ElectraForPreTraining, "the discriminator")
    theirs, ours = embeddings_of(generator), embeddings_of(discriminator)
    if theirs is ours or theirs.project is not own:
        case.fail(
            "But the generator has lost its own layer `project`: you gave it all of the discriminator's embeddings.",
            "Share the four parts inside them, one by one. The generator's layers are narrower.",
        )
    for name in SHARED:
        part_is_shared(case, name, getattr(theirs, name), getattr(ours, name))
    if ours.token.weight is given:
        case.fail(
            "But the discriminator uses the generator's parts now. The task asks for the reverse.",
            "The discriminator is the model that you keep. The generator takes its parts over.",
        )
    table, decoder = ours.token.weight, generator.get_submodule("masked_lm.decoder")
    if isinstance(decoder, nn.Embedding):
        case.fail("But generator.masked_lm.decoder is a table now. It stays a linear layer: only its weight is shared.")
    if decoder.weight is not table and decoder.weight.data_ptr() == table.data_ptr():
        case.almost(
            "The four parts are shared. But the decoder has a Parameter of its own over the table's numbers.",
            "An optimizer would change these numbers twice. Assign the table's weight itself.",
        )
    if decoder.weight is not table:
        case.almost(
            "The four parts are shared. But generator.masked_lm.decoder still has another table.",
            "It was tied to the generator's former embeddings, so it needs the new weight too.",
        )
    ids = torch.tensor([[2, 9, 11, 3]])
    case.begin("I let both models read a text.", "a text that both read")
    loss = case.protected(lambda: generator(ids).prediction_logits.square().mean() + discriminator(ids).logits.sum())
    loss.backward()
    case.expect(table.grad is not None, "But no gradient reaches the shared table.")
    case.close_with("Both losses now meet in one table, and in one LayerNorm.")


def part_is_shared(case: Case, name: str, theirs: nn.Module, ours: nn.Module) -> None:
    """The same module, or the same weights in two modules."""
    if theirs is ours:
        return
    for (weight, their), our in zip(theirs.named_parameters(), ours.parameters(), strict=True):
        if their is our:
            continue
        said = f"But `{name}.{weight}` is not shared: "
        if their.data_ptr() == our.data_ptr():
            case.fail(
                said + "two Parameters lie over the same numbers, and each gets a gradient of its own.",
                "An optimizer would change these numbers twice. Assign the Parameter or the module, not its .data.",
            )
        if torch.equal(their, our):
            case.fail(
                said + "the numbers are equal, but there are two weights, and training will separate them.",
                "Make the generator's name stand for the discriminator's module.",
            )
        case.fail(said + f"the generator has its own. Four parts are shared: {', '.join(SHARED)}.")
