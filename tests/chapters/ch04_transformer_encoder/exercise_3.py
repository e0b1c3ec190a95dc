"""Answers to exercise 4.3: right ones, and mistakes with the words that they must hear."""


# 4.3 -------------------------------------------------------------------------------------------------------------


def two_lines(x, attention, attention_norm, feed_forward, feed_forward_norm):
    x = attention_norm(x + attention(x))
    return feed_forward_norm(x + feed_forward(x))


def step_by_step(x, attend, norm_1, think, norm_2):
    for sublayer, norm in ((attend, norm_1), (think, norm_2)):
        update = sublayer(x)
        x = norm(update + x)
    return x


def pre_norm(x, attention, attention_norm, feed_forward, feed_forward_norm):
    x = x + attention(attention_norm(x))
    return x + feed_forward(feed_forward_norm(x))


def old_x(x, attention, attention_norm, feed_forward, feed_forward_norm):
    mixed = attention_norm(x + attention(x))
    return feed_forward_norm(x + feed_forward(mixed))


def no_residual(x, attention, attention_norm, feed_forward, feed_forward_norm):
    return feed_forward_norm(feed_forward(attention_norm(attention(x))))


def norm_of_update(x, attention, attention_norm, feed_forward, feed_forward_norm):
    x = x + attention_norm(attention(x))
    return x + feed_forward_norm(feed_forward(x))


def first_text_only(x, attention, attention_norm, feed_forward, feed_forward_norm):
    x = attention_norm(x + attention(x)[0])  # the package's attention returns two things, this one a tensor
    return feed_forward_norm(x + feed_forward(x))


def one_norm_twice(x, attention, attention_norm, feed_forward, feed_forward_norm):
    x = attention_norm(x + attention(x))
    return attention_norm(x + feed_forward(x))


def half(x, attention, attention_norm, feed_forward, feed_forward_norm):
    return attention_norm(x + attention(x))


def in_place(x, attention, attention_norm, feed_forward, feed_forward_norm):
    x += attention(x)
    x = attention_norm(x)
    return feed_forward_norm(x + feed_forward(x))


ANSWERS = {
    "4.3": {
        "accepted": [two_lines, step_by_step],
        "wrong": [
            (pre_norm, "This is pre-norm"),
            (old_x, "second addition uses the original x"),
            (no_residual, "There is no residual connection"),
            (norm_of_update, "Add first, then normalize"),
            (first_text_only, "With [0] you keep only its first text"),
            (one_norm_twice, "use the first norm twice"),
            (half, "What follows it?"),
            (in_place, "changed its input `x` in place"),
        ],
    }
}
