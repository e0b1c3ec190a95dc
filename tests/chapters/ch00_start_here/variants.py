"""Answers to the variants of chapter 0: see test_classroom_variants.py."""

from support.variant_facts import found

MASKING = """
def mask_token(input_ids, position, mask_id):
    result = input_ids.clone()
    at = -1 - position if from_end else position
    here = result[at] if columns else result[:, at]
    stays = {"special": here < 5, "padding": here == 0, "word": here >= 30}[kept]
    here[~stays] = mask_id
    return result
"""
MASKING_LOOP = """
def mask_token(input_ids, position, mask_id):
    texts = [list(text) for text in (zip(*input_ids.tolist()) if columns else input_ids.tolist())]
    for text in texts:
        at = len(text) - 1 - position if from_end else position
        may = {"special": text[at] >= 5, "padding": text[at] > 0, "word": text[at] < 30}[kept]
        text[at] = mask_id if may else text[at]
    return torch.tensor(list(zip(*texts)) if columns else texts)
"""
RANK = """
def rank(scores, right_id):
    mine, words = scores[right_id].item(), scores[special:]
    better = (words < mine if smallest else words > mine).sum().item()
    equal = (words == mine).sum().item() - 1
    return 1 + better + {"best": 0, "worst": equal, "mean": equal / 2}[ties]
"""
RANK_SORTED = """
def rank(scores, right_id):
    numbers = sorted(scores[special:].tolist(), reverse=not smallest)
    mine = float(scores[right_id])
    best = numbers.index(mine) + 1
    worst = len(numbers) - numbers[::-1].index(mine)
    return torch.tensor({"best": best, "worst": worst, "mean": (best + worst) / 2}[ties])
"""

RIGHT = {"0.11": [MASKING, MASKING_LOOP], "0.12": [RANK, RANK_SORTED]}
WRONG = {
    "0.11": {
        "def mask_token(input_ids, position, mask_id):\n    result = input_ids.clone()\n"
        "    result[:, position] = mask_id\n    return result": r"exercise 0\.2",
        MASKING.replace("if columns", "if not columns"): r"Each text is a (row|column)",
        MASKING.replace("if from_end", "if not from_end"): r"token of a text has position 0",
        MASKING.replace("~stays", "~stays | stays"): r"tokens that should stay",
        MASKING.replace("~stays", "stays"): r"exactly the tokens that should stay",
        MASKING.replace("result[at] if columns else result[:, at]", "result[at, :1] if columns else result[:1, at]"): (
            r"Only one text"
        ),
        MASKING.replace("-1 - position if from_end else position", "-position if from_end else position - 1"): (
            r"in the position (before|after)"
        ),
        MASKING.replace("here[~stays] = mask_id", "here = torch.where(stays, here, mask_id)"): r"Nothing is masked",
        MASKING.replace("return result", "return result.float()"): r"Ids are integers",
        MASKING.replace("here < 5", "here == 0").replace('"padding": here == 0', '"padding": here < 5').replace(
            "here >= 30", "here == 0"
        ): r"that is another rule",
    },
    "0.12": {
        "def rank(scores, right_id):\n    return (scores > scores[right_id]).sum().item() + 1": r"exercise 0\.4",
        RANK.replace("if smallest", "if not smallest"): r"The best word has the",
        RANK.replace("scores[special:]", "scores"): r"special tokens, and no word|exercise 0\.4",
        RANK.replace("special:", "special - 1 :"): r"one too few",
        RANK.replace("special:", "special + 1 :"): r"one too many",
        RANK.replace("return 1 + ", "return "): r"The best rank is 1",
        RANK.replace('"best": 0, "worst": equal', '"best": equal, "worst": 0').replace("equal / 2", "0"): (
            r"have the same number"
        ),
        RANK.replace("scores[right_id].item(), scores[special:]", "scores[special:][right_id % (len(scores) - "
                     "special)].item(), scores[special:]"): r"every word has another index",
    },
}  # fmt: skip
PUBLIC = {"0.11": "0.2", "0.12": "0.4"}


def facts(text):
    """What a variant's text names."""
    return {
        "columns": "each **column**" in text,
        "from_end": "**last** token" in text,
        "kept": "special" if "**below 5**" in text else "padding" if "id **0**" in text else "word",
        "smallest": "smallest loss" in text,
        "ties": found(r"the rank is the \*\*(\w+)\*\*", text),
        "special": int(found(r"ids 0 to \*\*(\d)\*\*", text) or 0) + 1,
    }
