"""Exercises 17.4 and 17.5: what the two models share, and what the discriminator reads."""

from typing import Any

import torch
from torch import Tensor, nn

from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.family.electra import ElectraConfig, ElectraForPreTraining
from bertedu.family.electra_pair import generator_config
from bertedu.model.heads import IGNORED, MaskedLM

SHARED = ("token", "position", "token_type", "norm")
MASK = 4
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


@exercise(
    "17.5",
    "Repair the corruption",
    difficulty=3,
    minutes=10,
    hints=(
        "What does seen[chosen] return: a part of seen, or a copy of that part? Print `seen` after the line.",
        "Start from the text without masks. An assignment, seen[chosen] = sampled, writes into seen itself.",
    ),
)
def repaired_corrupt(case: Case) -> None:
    """A text with masked and with kept tokens, lucky guesses among both."""
    case.causes["shape mismatch"] = (
        "There is one sample for each chosen token: where labels is not -100. Some chosen tokens are not [MASK]."
    )
    text = case.randint(5, 30, (2, 6))
    chosen = torch.zeros(2, 6).bool()
    for row, column in ((0, 1), (0, 3), (0, 4), (1, 0), (1, 2), (1, 5)):
        chosen[row, column] = True
    labels, masked = text.masked_fill(~chosen, IGNORED), text.masked_fill(chosen, MASK)
    masked[0, 3], masked[1, 2] = text[0, 3], text[1, 2]  # chosen, and shown as they are
    sampled = text[chosen] + 30
    sampled[[0, 3, 4]] = text[chosen][[0, 3, 4]]  # lucky guesses
    tried = "2 texts with 6 chosen tokens, 4 of them masked, and 3 lucky guesses"
    seen, replaced = case.parts(case.call(masked, labels, sampled, tried=tried), "seen", "replaced")
    if isinstance(seen, Tensor) and seen.dtype == torch.bool:
        case.fail("But the two come in the wrong order: return seen first, then replaced.")
    case.same_shape("seen", seen, [2, 6])
    case.same_shape("replaced", replaced, [2, 6])
    right = text.masked_scatter(chosen, sampled)
    examine_seen(case, seen, right, masked, labels, sampled)
    examine_labels(case, replaced.double(), right, text, masked, labels)
    nothing = torch.full((1, 3), IGNORED)
    plain, empty = torch.tensor([[2, 8, 3]]), torch.zeros(0).long()
    result = case.call(plain, nothing, empty, tried="a text in which nothing was chosen")
    seen, replaced = case.parts(result, "seen", "replaced")
    case.close("seen", seen, plain, "Without samples the text stays as it is.")
    case.close("replaced", replaced.double(), torch.zeros(1, 3).double(), "Nothing was replaced.")


def examine_seen(case: Case, seen: Tensor, right: Tensor, masked: Tensor, labels: Tensor, sampled: Tensor) -> None:
    """What the discriminator reads."""
    text = torch.where(labels != IGNORED, labels, masked)
    if seen.is_floating_point():
        case.fail("But seen holds floats. Ids are whole numbers, because they count the rows of the embedding table.")
    if bool((seen == MASK).any()):
        case.fail(
            f"But the discriminator still reads [MASK] at {int((seen == MASK).sum())} tokens.",
            "Then `is this [MASK]?` is all that it has to learn. The samples must be written into `seen` itself.",
        )
    if bool((seen == IGNORED).any()):
        case.fail("But seen contains -100: that is a label for `nothing is asked`, and not a token.")
    only_masked = text.masked_scatter(masked == MASK, sampled)
    mistakes = {
        "This is the text itself: the samples are missing. seen[chosen] makes a copy, and the copy was changed.": text,
        "You put samples only where [MASK] stands. A token that was chosen and kept gets a sample too, and without it "
        "all later samples are one token off.": only_masked,
        "A token that was chosen and kept has no sample: put one at every chosen token.": torch.where(
            masked == MASK, right, text
        ),
    }
    case.close("seen", seen, right, "At the chosen tokens stand the samples, in reading order.", mistakes=mistakes)


def examine_labels(case: Case, replaced: Tensor, right: Tensor, text: Tensor, masked: Tensor, labels: Tensor) -> None:
    """Which tokens are labelled as replaced."""
    mistakes = {
        "You labelled all chosen tokens. A lucky guess is original: the right word stands there.": labels != IGNORED,
        "You compared with the masked text. There a lucky guess differs from [MASK], and counts as replaced.": (
            right != masked
        ),
        "You compared with the labels. They are -100 at most tokens, and every id differs from -100.": right != labels,
        "0 and 1 are swapped: 1 stands for replaced.": right == text,
        "You labelled the masked tokens. A token that was chosen and kept may be replaced too, and a lucky guess is "
        "original.": masked == MASK,
    }
    case.close(
        "replaced",
        replaced,
        (right != text).double(),
        "seen is right. A token is replaced where it differs from the text without masks.",
        mistakes={sentence: wrong.double() for sentence, wrong in mistakes.items()},
    )
