"""Answers to the variants of chapter 18: see test_classroom_variants.py."""

from support.variant_facts import found

ROWS = """
def relative_rows(length, span):
    at = torch.arange(length)
    distance = sign * (at[:, None] - at)
    near = distance.clamp(-span, span)
    rows = near % (2 * span + 1) if wraps else near + span
    return rows if clamps else torch.where(distance.abs() > span, 2 * span + 1, rows)
"""
ROWS_LOOP = """
def relative_rows(length, span):
    table = [*range(0, span + 1), *range(-span, 0)] if wraps else list(range(-span, span + 1))
    rows = torch.full((length, length), 2 * span + 1)
    for i in range(length):
        for j in range(length):
            distance = sign * (i - j)
            if clamps:
                distance = max(-span, min(span, distance))
            if distance in table:
                rows[i, j] = table.index(distance)
    return rows
"""
PUBLIC_ROWS = """
def relative_rows(length, span):
    positions = torch.arange(length)
    return (positions[:, None] - positions[None, :] + span).clamp(0, 2 * span - 1)
"""
MASKS = """
def order_masks(order):
    when = torch.tensor(order) if by_word else torch.tensor(order).argsort()
    first = when < given
    sees = (when < when[:, None]) & ~(first & first[:, None])
    content = sees | (first & first[:, None]) | torch.eye(len(order), dtype=torch.bool)
    rows = when.argsort()[given:] if in_order else torch.arange(len(order))[~first]
    return content ^ hides, sees[rows] ^ hides
"""
MASKS_SETS = """
def order_masks(order):
    T = len(order)
    places = sorted(range(T), key=lambda p: order[p]) if by_word else list(order)
    content, query = torch.zeros(T, T), torch.zeros(T, T)
    for n, place in enumerate(places):
        before = places[:given] if n < given else places[:n]
        content[place, before] = query[place, before] = 1
        content[place, place] = 1
    rows = places[given:] if in_order else sorted(places[given:])
    result = content.bool(), query[rows].bool()
    return [~m if hides else m for m in result]
"""
PUBLIC_MASKS = """
def order_masks(order):
    when = torch.empty(len(order), dtype=torch.long)
    when[torch.tensor(order)] = torch.arange(len(order))
    query = when[None, :] < when[:, None]
    return query | torch.eye(len(order), dtype=torch.bool), query
"""

RIGHT = {
    "18.11": [ROWS, ROWS_LOOP],
    "18.12": [MASKS, MASKS_SETS],
}
WRONG = {
    "18.11": {
        PUBLIC_ROWS: r"the chapter's exercise 18\.1",
        ROWS.replace("sign *", "-sign *"): r"sign of the distance is wrong",
        ROWS.replace("if wraps", "if not wraps"): r"rows have another order",
        ROWS.replace("if clamps", "if not clamps"): r"A distance beyond s gets",
        "def relative_rows(length, span):\n    at = torch.arange(length)\n"
        "    return (sign * (at[:, None] - at) + span).clamp(0, 2 * span - 1)": r"only 2s rows|exercise 18\.1",
        ROWS.replace("distance = sign * (at[:, None] - at)", "distance = (at[:, None] - at).abs()"): (
            r"sign of the distance is|row \d of"
        ),
        ROWS.replace("near % (2 * span + 1) if wraps else near + span", "near"): (
            r"some are negative|another order|row \d of"
        ),
        ROWS.replace("return rows", "return rows.float()").replace("span + 1, rows)", "span + 1, rows).float()"): (
            r"numbered by integers"
        ),
    },
    "18.12": {
        PUBLIC_MASKS: r"the chapter's exercise 18\.3",
        MASKS.replace("^ hides", "^ (not hides)"): r"It is the opposite",
        MASKS.replace("if by_word", "if not by_word"): r"You read the order the other way",
        MASKS.replace("if in_order", "if not in_order"): r"rows stand in another order",
        MASKS.replace("sees[rows]", "sees"): r"leave them out",
        MASKS.replace("sees[rows]", "content[rows]"): r"must not see itself",
        MASKS.replace(" | torch.eye(len(order), dtype=torch.bool)", " & ~torch.eye(len(order), dtype=torch.bool)"): (
            r"each word sees itself"
        ),
        MASKS.replace("sees | (first & first[:, None])", "(when < when[:, None])"): r"also those that come later",
        MASKS.replace("sees | (first & first[:, None])", "sees"): r"given words see each other",
        MASKS.replace("when < when[:, None]", "when[:, None] < when").replace(
            "content ^", "content.T ^"
        ): r"should be|must not see",
    },
}
PUBLIC = {"18.11": "18.1", "18.12": "18.3"}


def facts(text):
    """The conventions that a variant's text names."""
    return {
        "sign": -1 if "**j − i**" in text else 1,
        "wraps": "Distance 0 has row 0" in text,
        "clamps": "row of the nearest distance" in text,
        "given": int(found(r"\*\*first (\d)\*\*", text) or 0),
        "by_word": "**when**" in text,
        "hides": "**may not**" in text,
        "in_order": "which they are predicted" in text,
    }
