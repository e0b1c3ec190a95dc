"""Answers to exercise 1.1: right ones, and mistakes with the words that they must hear."""

ANSWERS = {
    "1.1": {
        "accepted": [
            [["unh", "##app", "##y"], ["[UNK]"], ["[UNK]"]],
            (("unh", "##app", "##y"), ("[UNK]",), ("[UNK]",)),
        ],
        "wrong": [
            ([["un", "##happy"], ["[UNK]"], ["[UNK]"]], "the greedy rule does not compare splits"),
            ([["unh", "app", "y"], ["[UNK]"], ["[UNK]"]], "is written with ##"),
            ([["un", "happy"], ["[UNK]"], ["[UNK]"]], "unh is longer than un"),
            ([["un", "h", "app", "y"], ["[UNK]"], ["[UNK]"]], "the longest piece that it begins with"),
            ([["unh", "##app", "##y"], ["unh", "##app", "[UNK]"], ["[UNK]"]], "the whole word becomes one [UNK]"),
            ([["unh", "##app", "##y"], ["unh", "##app", "##er"], ["[UNK]"]], "the rest is ier"),
            ([["unh", "##app", "##y"], ["[UNK]"], ["##happy"]], "can only continue a word"),
            ([["unh", "##app", "##y"], ["[UNK]"], ["happy"]], "a piece without ##"),
            ([["[UNK]"], ["[UNK]"], ["[UNK]"]], "the longest piece that it begins with"),
            (["unh", "##app", "##y"], "a list of three lists"),
        ],
    }
}
