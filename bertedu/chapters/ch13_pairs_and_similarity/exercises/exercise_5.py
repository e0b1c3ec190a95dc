"""Exercise 13.5: Columns by their names."""

import torch
from torch import Tensor

from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "13.5",
    "Columns by their names",
    difficulty=3,
    minutes=8,
    hints=(
        "For each label of the data, in the data's order: in which column does the model have it?",
        "columns = [model_labels.index(label) for label in data_labels], both in lower case; then logits[:, columns].",
    ),
)
def by_name(case: Case) -> None:
    """Three labels that move in a cycle, two swapped, capitals, the same order."""
    names = "The labels are names, and columns are selected by numbers: look up the number of each name."
    case.causes = {words: names for words in ("invalid data type 'str'", "only integers", "too many indices")}
    case.causes["is not in list"] = "Compare both in lower case: ENTAILMENT and entailment are the same label."
    data = ["entailment", "neutral", "contradiction"]
    model = ["contradiction", "entailment", "neutral"]
    logits = case.randn(4, 3)
    got = case.call(logits, list(model), list(data), tried="4 rows of logits; " + orders(model, data))
    if isinstance(got, Tensor) and got.shape == (4,):
        case.fail("But that is one number a row. Return the logits themselves, with their columns in another order.")
    if isinstance(got, Tensor) and got.shape == (3, 3):
        case.fail("But three of the four rows came back. To select columns, index the second axis: logits[:, …].")
    case.same_shape("the result", got, [4, 3], "Every row keeps its three logits. Only their order changes.")
    mistakes = {
        "Nothing has changed. Column 0 is the model's contradiction, but the data's 0 is entailment.": logits,
        "That is the inverse order: you looked up the model's labels in the data. Look up the data's labels in "
        "the model.": logits[:, [data.index(label) for label in model]],
        "You reversed the columns. That is right for some orders only: go by the names.": logits.flip(-1),
        "The columns are in alphabetical order. Whose order does the task ask for?": logits[
            :, sorted(range(3), key=lambda n: model[n])
        ],
        "You sorted the logits by size. The names have no influence on that.": logits.sort(dim=-1, descending=True)[0],
    }
    right = logits[:, [1, 2, 0]]
    mistakes["Those are probabilities. Return the logits, only in another order."] = right.softmax(dim=-1)
    if case.in_place and not torch.equal(got, right):
        case.fail("But it overwrites columns of logits that it still needs. Write into a new tensor.")
    case.close("the result", got, right, "Column 0 of the result must be the model's entailment.", mistakes=mistakes)
    swapped = ["contradiction", "neutral", "entailment"]
    got = case.call(logits, swapped, list(data), tried="another model; " + orders(swapped, data))
    case.close(
        "the result", got, logits.flip(-1), "This model has its own order. Look it up instead of writing it down."
    )
    capitals = [label.upper() for label in swapped]
    got = case.call(logits, capitals, list(data), tried="a model with labels in capitals: " + ", ".join(capitals))
    case.close("the result", got, logits.flip(-1), "ENTAILMENT and entailment are the same label.")
    got = case.call(logits, list(data), list(data), tried="a model that has the data's order")
    case.close("the result", got, logits, "Both orders are the same here, so nothing changes.")


def orders(model: list[str], data: list[str]) -> str:
    """Both orders in words."""
    return f"the model's order is {', '.join(model)}, the data's order is {', '.join(data)}"
