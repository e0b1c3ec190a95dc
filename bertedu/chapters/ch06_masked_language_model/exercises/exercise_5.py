"""Exercise 6.5: The batch, repaired."""

import torch

from bertedu.chapters.ch06_masked_language_model.exercises.shared import FIRST_WORD, MASK, VOCAB
from bertedu.course.case import Case
from bertedu.course.exercise import exercise
from bertedu.model.heads import IGNORED


@exercise(
    "6.5",
    "The batch, repaired",
    difficulty=3,
    minutes=10,
    hints=(
        "Print the labels of one text below what the model sees. How many labels ask for a token that it can see?",
        "Two variables hold ids. Which of them does the last line return?",
    ),
)
def repaired_batch(case: Case) -> None:
    """A chosen token is hidden and has its label, and nothing else is changed."""
    ids = case.randint(FIRST_WORD, VOCAB, (2, 8))
    ids[:, 0], ids[:, -1] = 2, 3
    special = ids < FIRST_WORD
    chosen = torch.zeros(2, 8, dtype=torch.bool)
    chosen[0, 2:4] = chosen[1, 5] = True
    result = case.call(ids, chosen, special, tried="2 texts of 8 tokens, of which 2 and 1 are chosen")
    if not hasattr(result, "keys") or set(result.keys()) != {"input_ids", "labels"}:
        case.fail('But it should return what the broken function returned: a dict with "input_ids" and "labels".')
    seen, labels = result["input_ids"], result["labels"]
    case.same_shape("input_ids", seen, ids)
    case.same_shape("labels", labels, ids)
    hidden = ids.masked_fill(chosen, MASK)
    case.close(
        "input_ids",
        seen,
        hidden,
        "The chosen tokens should be [MASK], and all others unchanged.",
        mistakes={"That is what the broken function returns: the model sees every word that it is asked for.": ids},
    )
    case.close(
        "labels",
        labels,
        ids.masked_fill(~chosen, IGNORED),
        f"A label is the original id where a token was chosen, and {IGNORED} everywhere else.",
        mistakes={
            "It asks for every word now, and most are visible. The labels were right before: leave them.": (
                ids.masked_fill(special, IGNORED)
            ),
            "Even [CLS] and [SEP] have a label now.": ids,
            "Those labels say [MASK]: they were taken from what the model sees, after masking.": (
                hidden.masked_fill(~chosen, IGNORED)
            ),
            "The labels are where the tokens were *not* chosen: the mask is inverted.": ids.masked_fill(
                chosen | special, IGNORED
            ),
            f"Where nothing is asked you put 0, the id of [PAD]. cross_entropy ignores {IGNORED}.": (
                ids.masked_fill(~chosen, 0)
            ),
        },
    )
    case.close_with("Now every token that has a label is hidden.")
