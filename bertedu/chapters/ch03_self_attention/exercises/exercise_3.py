"""Exercise 3.3: Put the heads side by side."""

from bertedu.chapters.ch03_self_attention.exercises.shared import is_shaped
from bertedu.course.case import Case
from bertedu.course.exercise import exercise


@exercise(
    "3.3",
    "Put the heads side by side",
    difficulty=2,
    minutes=8,
    hints=(
        "The split first cut the last axis, then swapped T and H. Undo the second step first.",
        "Swap the axes 1 and 2 back with transpose. Then join the last two axes, H and d, with flatten.",
    ),
)
def merge_heads(case: Case) -> None:
    case.causes["view size is not compatible"] = (
        "view joins axes only where their numbers lie side by side in memory, and swapping two axes (the split did, "
        "before x came here) moves no numbers. Swap T and H first, then use reshape or flatten: they copy if needed."
    )
    whole = case.randn(2, 5, 12)  # [B, T, D]
    heads = whole.unflatten(-1, (3, 4)).transpose(1, 2)  # [B, H, T, d] = [2, 3, 5, 4]
    merged = case.call(heads, tried="2 sentences of 5 tokens with 3 heads of 4")
    if is_shaped(merged, [2, 5, 3, 4]):
        case.fail("But the result is [2, 5, 3, 4]: T and H are in the right order. Now join H and d to one axis.")
    if is_shaped(merged, [2, 3, 20]):
        case.fail("But the result is [2, 3, 20]: you joined T and d. To join H and d instead, swap T and H first.")
    case.same_shape("merged", merged, [2, 5, 12], "One vector for each token: B, T and D = H·d.")
    mistakes = {
        "The shape is right, but the content is not: the vector of token 0 contains entries of other tokens. "
        "reshape alone takes all tokens of head 0, then those of head 1. Swap T and H first.": heads.reshape(2, 5, 12),
        "Each vector has the right numbers in the wrong order. All entries of head 0 should come first.": (
            heads.permute(0, 2, 3, 1).flatten(-2)
        ),
    }
    case.close("merged", merged, whole, "Splitting and merging should give back what went in.", mistakes=mistakes)
    for batch, count, length, size in ((1, 1, 4, 6), (3, 4, 1, 2)):
        whole = case.randn(batch, length, count * size)
        heads = whole.unflatten(-1, (count, size)).transpose(1, 2)
        tried = "a single head" if count == 1 else "texts of one token with 4 heads"
        case.close("merged", case.call(heads, tried=tried), whole, "Read all sizes from the shape of x.")
    case.gradient_flows(case.randn(2, 3, 5, 4), names=("x",), tried="3 heads")
