"""Answers to the variants of chapter 4: see test_classroom_variants.py."""

from support.variant_facts import found

LAYER = """
def encoder_layer(x, attention, attention_norm, feed_forward, feed_forward_norm):
    if kind == "parallel":
        return factor * x + attention(attention_norm(x)) + feed_forward(feed_forward_norm(x))
    halves = [(attention, attention_norm), (feed_forward, feed_forward_norm)]
    for part, norm in reversed(halves) if feed_forward_first else halves:
        if kind == "pre":
            x = factor * x + part(norm(x))
        elif kind == "post":
            x = norm(factor * x + part(x))
        else:
            x = factor * x + norm(part(x))
    return x
"""
LAYER_COMPOSED = """
def encoder_layer(x, attention, attention_norm, feed_forward, feed_forward_norm):
    def half(x, part, norm):
        inner = norm if kind in ("pre", "parallel") else torch.nn.Identity()
        outer = norm if kind == "update" else torch.nn.Identity()
        last = norm if kind == "post" else torch.nn.Identity()
        return last(torch.add(outer(part(inner(x))), x, alpha=factor))
    one, two = (attention, attention_norm), (feed_forward, feed_forward_norm)
    if feed_forward_first:
        one, two = two, one
    if kind == "parallel":
        return half(x, *one) + half(x, *two) - factor * x
    return half(half(x, *one), *two)
"""
PUBLIC_LAYER = """
def encoder_layer(x, attention, attention_norm, feed_forward, feed_forward_norm):
    x = attention_norm(x + attention(x))
    return feed_forward_norm(x + feed_forward(x))
"""
STACK = """
def drop(x, p, training):
    if not training:
        return x
    keeps = p if p_keeps else 1 - p
    return x * (torch.rand(x.shape) < keeps) / keeps
def run_layers_repaired(x, layers, p, training):
    states = [x]
    for attention, norm_1, feed_forward, norm_2 in layers:
        start = x
        if pre_norm:
            x = x + drop(attention(norm_1(x)), p, training)
            x = x + drop(feed_forward(norm_2(x)), p, training)
        else:
            x = norm_1(x + drop(attention(x), p, training))
            x = norm_2(x + drop(feed_forward(x), p, training))
        states.append(x)
    return states[::-1] if newest_first else states
"""
STACK_WITH_TORCH = """
def run_layers_repaired(x, layers, p, training):
    dropped = torch.nn.Dropout(1 - p if p_keeps else p).train(training)
    states = (x,)
    for layer in layers:
        for part, norm in (layer[:2], layer[2:]):
            x = x + dropped(part(norm(x))) if pre_norm else norm(x + dropped(part(x)))
        states = (x, *states) if newest_first else (*states, x)
    return states
"""
AS_GIVEN = "exec(given.replace('run_layers', 'run_layers_repaired'), globals())"

RIGHT = {"4.11": [LAYER, LAYER_COMPOSED], "4.12": [STACK, STACK_WITH_TORCH]}
WRONG = {
    "4.11": {
        PUBLIC_LAYER: r"exercise 4\.3",
        LAYER.replace("factor * ", ""): r"lacks its factor|exercise 4\.3",
        LAYER.replace("factor * x + attention(attention_norm(x)) + feed_forward(feed_forward_norm(x))",
                      "x + factor * (attention(attention_norm(x)) + feed_forward(feed_forward_norm(x)))")
        .replace("factor * x + part", "x + factor * part").replace("factor * x + norm", "x + factor * norm"): (
            r"You multiply the update"),
        LAYER.replace("factor * x + ", ""): r"no residual connection",
        LAYER.replace("attention(attention_norm(x)) + feed_forward(feed_forward_norm(x))",
                      "attention(feed_forward_norm(x)) + feed_forward(attention_norm(x))")
        .replace("[(attention, attention_norm), (feed_forward, feed_forward_norm)]",
                 "[(attention, feed_forward_norm), (feed_forward, attention_norm)]"): r"norms are swapped",
        LAYER.replace('kind == "pre"', 'kind == "POST"').replace('kind == "post"', 'kind == "pre"').replace(
            '"POST"', '"post"').replace('kind == "parallel"', "False").replace("            x = factor * x + norm(part",
            "            x = factor * x + part(norm") : r"That is (pre|post)-norm",
        LAYER.replace("if feed_forward_first", "if not feed_forward_first and kind != 'parallel'").replace(
            'if kind == "parallel"', "if False"): r"comes first here|normalizes its updates",
        LAYER.replace(" + feed_forward(feed_forward_norm(x))", "").replace("    return x\n", "").replace(
            "            x = ", "            return "): r"second sublayer is missing",
    },
    "4.12": {
        AS_GIVEN: r"as it was|second call gives other|input is one of them",
        STACK.replace("* (torch.rand(x.shape) < keeps) / keeps", "* (torch.rand(x.shape) < keeps)"): r"not scaled",
        STACK.replace("/ keeps", "/ (1 - keeps)"): r"Divide by the probability",
        STACK.replace("rand(x.shape) < keeps", "rand(x.shape) > keeps"): r"of the numbers are kept",
        STACK.replace("if not training", "if False"): r"training is False",
        STACK.replace("if not training", "if True"): r"nothing is dropped",
        STACK.replace("rand(x.shape)", "rand(x.shape[-1])"): r"every token loses",
        STACK.replace("x + drop(feed", "start + drop(feed"): r"second addition takes|as it was",
        STACK.replace("norm_2(x))", "norm_2(start))").replace("feed_forward(x)", "feed_forward(start)"): (
            r"reads the layer's input|as it was"),
        STACK.replace("norm_2(x", "norm_1(x"): r"used twice|as it was",
        STACK.replace("states = [x]", "states = []"): r"input is missing|as it was",
        STACK.replace("x = x + drop(att", "x += drop(att").replace("x = norm_1(x + drop(attention(x), p, training))",
            "x += drop(attention(x), p, training)\n            x = norm_1(x)"): r"already stored|as it was",
        STACK.replace("if newest_first", "if not newest_first"): r"wrong order",
        STACK.replace("if pre_norm", "if not pre_norm"): r"should be (pre|post)-norm",
    },
}  # fmt: skip
PUBLIC = {"4.11": "4.3"}


def facts(text):
    """What a variant's text names."""
    kinds = {"**pre-norm**": "pre", "**post-norm**": "post", "**update is": "update", "**parallel**": "parallel"}
    return {
        "kind": next((kind for word, kind in kinds.items() if word in text), ""),
        "factor": float(found(r"multiplied by \*\*([\d.]+)\*\*", text) or 0),
        "feed_forward_first": "**The feed-forward network** comes first" in text,
        "pre_norm": "**pre-norm**" in text,
        "p_keeps": "**kept**" in text,
        "newest_first": "the input last" in text,
    }
