"""Answers to exercise 15.3: right ones, and mistakes with the words that they must hear."""


def plainly(word_of, starts, lengths, budget):
    chosen = [False] * len(word_of)
    for start in starts:
        if budget == 0 or chosen[start] or word_of[start] == 0:
            continue
        for word in range(word_of[start], word_of[start] + lengths[start]):
            tokens = [i for i, number in enumerate(word_of) if number == word]
            cost = sum(not chosen[i] for i in tokens)
            if not tokens or cost > budget:
                break
            for i in tokens:
                chosen[i] = True
            budget -= cost
    return chosen


def with_sets(word_of, starts, lengths, budget):
    masked = set()
    for start in starts:
        if not word_of[start] or start in masked:
            continue
        for word in range(word_of[start], word_of[start] + lengths[start]):
            new = {i for i, number in enumerate(word_of) if number == word} - masked
            if word not in word_of or len(masked) + len(new) > budget:
                break
            masked |= new
    return [i in masked for i in range(len(word_of))]


def walking(word_of, starts, lengths, budget):
    chosen = [0] * len(word_of)
    for start in starts:
        if chosen[start] or word_of[start] == 0:
            continue
        i = word_of.index(word_of[start])
        for _ in range(lengths[start]):
            if i >= len(word_of) or word_of[i] == 0:
                break
            stop = i + word_of.count(word_of[i])
            cost = (stop - i) * (not chosen[i])
            if cost > budget:
                break
            chosen[i:stop] = [1] * (stop - i)
            budget, i = budget - cost, stop
    return tuple(chosen)


def span_by_span(word_of, starts, lengths, budget, first=True, whole=True, text_only=True, go_on=False):
    """With the mistakes that its arguments name."""
    chosen, left = [False] * len(word_of), budget
    for start in starts:
        if chosen[start] or (word_of[start] == 0 and text_only) or left <= 0:
            continue
        i = word_of.index(word_of[start]) if first else start
        for _ in range(lengths[start]):
            if i >= len(word_of) or (word_of[i] == 0 and text_only):
                break
            stop = i + 1
            while whole and stop < len(word_of) and word_of[stop] == word_of[i] and word_of[i]:
                stop += 1
            new = [j for j in range(i, stop) if not chosen[j]]
            if len(new) > left:
                if go_on:
                    i = stop
                    continue
                break
            for j in new:
                chosen[j] = True
            left, i = left - len(new), stop
    return chosen


def from_the_inner_piece(*inputs):
    return span_by_span(*inputs, first=False)


def counts_tokens(*inputs):
    return span_by_span(*inputs, whole=False)


def over_sep(*inputs):
    return span_by_span(*inputs, text_only=False)


def passes_over_long_words(*inputs):
    return span_by_span(*inputs, go_on=True)


def cuts_the_last_word(word_of, starts, lengths, budget):
    chosen = [False] * len(word_of)
    for start in starts:
        if chosen[start] or word_of[start] == 0:
            continue
        for word in range(word_of[start], word_of[start] + lengths[start]):
            for i, number in enumerate(word_of):
                if number == word and sum(chosen) < budget:
                    chosen[i] = True
    return chosen


def exceeds(word_of, starts, lengths, budget):
    chosen = [False] * len(word_of)
    for start in starts:
        if chosen[start] or word_of[start] == 0 or sum(chosen) >= budget:
            continue
        for number in word_of:
            if word_of[start] <= number < word_of[start] + lengths[start] and sum(chosen) < budget:
                for j, other in enumerate(word_of):
                    if other == number:
                        chosen[j] = True
    return chosen


def only_the_first_span(word_of, starts, lengths, budget):
    return plainly(word_of, starts[:1], lengths, budget)


def smaller_than_the_budget(word_of, starts, lengths, budget):
    return plainly(word_of, starts, lengths, max(0, budget - 1))


def pays_twice(word_of, starts, lengths, budget):
    chosen = [False] * len(word_of)
    for start in starts:
        if chosen[start] or word_of[start] == 0:
            continue
        for word in range(word_of[start], word_of[start] + lengths[start]):
            tokens = [i for i, number in enumerate(word_of) if number == word]
            if not tokens or len(tokens) > budget:
                break
            for i in tokens:
                chosen[i] = True
            budget -= len(tokens)
    return chosen


def ends_at_masked(word_of, starts, lengths, budget):
    chosen = [False] * len(word_of)
    for start in starts:
        if chosen[start] or word_of[start] == 0:
            continue
        for word in range(word_of[start], word_of[start] + lengths[start]):
            tokens = [i for i, number in enumerate(word_of) if number == word]
            if not tokens or len(tokens) > budget or chosen[tokens[0]]:
                break
            for i in tokens:
                chosen[i] = True
            budget -= len(tokens)
    return chosen


def compares_all_tokens(word_of, starts, lengths, budget):  # and pays for those that are not masked yet
    chosen = [False] * len(word_of)
    for start in starts:
        if budget == 0 or chosen[start] or word_of[start] == 0:
            continue
        for word in range(word_of[start], word_of[start] + lengths[start]):
            tokens = [i for i, number in enumerate(word_of) if number == word]
            if not tokens or len(tokens) > budget:
                break
            budget -= sum(not chosen[i] for i in tokens)
            for i in tokens:
                chosen[i] = True
    return chosen


def ignores_the_budget(word_of, starts, lengths, budget):
    return plainly(word_of, starts, lengths, len(word_of))


def needs_a_next_token(word_of, starts, lengths, budget):
    chosen = plainly(word_of, starts, lengths, budget)
    for i, yes in enumerate(chosen):
        if yes and word_of[i + 3] == word_of[i]:  # reads beyond the text
            chosen[i] = True
    return chosen


def passes_over_the_first_word(word_of, starts, lengths, budget):
    chosen = [False] * len(word_of)
    for start in starts:
        if budget == 0 or chosen[start] or word_of[start] == 0:
            continue
        for word in range(word_of[start], word_of[start] + lengths[start]):
            tokens = [i for i, number in enumerate(word_of) if number == word and not chosen[i]]
            if word not in word_of or (len(tokens) > budget and word > word_of[start]):
                break
            if len(tokens) <= budget:
                for i in tokens:
                    chosen[i] = True
                budget -= len(tokens)
    return chosen


def masked_starts_too(word_of, starts, lengths, budget):
    chosen = [False] * len(word_of)
    for start in starts:
        if word_of[start] == 0:
            continue
        for word in range(word_of[start], word_of[start] + lengths[start]):
            tokens = [i for i, number in enumerate(word_of) if number == word and not chosen[i]]
            if word not in word_of or len(tokens) > budget:
                break
            for i in tokens:
                chosen[i] = True
            budget -= len(tokens)
    return chosen


def positions_only(word_of, starts, lengths, budget):
    return [i for i, yes in enumerate(plainly(word_of, starts, lengths, budget)) if yes]


ANSWERS = {
    "15.3": {
        "accepted": [plainly, with_sets, walking],
        "wrong": [
            (from_the_inner_piece, "begin with the first token of its word"),
            (counts_tokens, "The lengths count words"),
            (over_sep, "Token 10 is [SEP]"),
            (passes_over_long_words, "The span should end there"),
            (cuts_the_last_word, "A part of a word is masked"),
            (exceeds, "and the budget is 3"),
            (only_the_first_span, "Go on with the next start"),
            (smaller_than_the_budget, "still fits"),
            (pays_twice, "paid for twice"),
            (ends_at_masked, "ended at the masked word"),
            (compares_all_tokens, "that are not masked yet"),
            (ignores_the_budget, "what the budget has left"),
            (needs_a_next_token, "reach the end of the text"),
            (passes_over_the_first_word, "so the span is over"),
            (masked_starts_too, "such a start is skipped"),
            (positions_only, "one entry for each of the 11 tokens"),
        ],
    }
}
