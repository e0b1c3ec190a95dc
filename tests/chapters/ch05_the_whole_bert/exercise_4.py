"""Answers to exercise 5.4: right ones, and mistakes with the words that they must hear."""

import torch


def trace(model, *inputs, clean=True):
    seen, handles = [], []
    for name, module in model.named_modules():
        if not list(module.children()):
            handles.append(module.register_forward_hook(lambda m, i, output, name=name: seen.append((name, output))))
    with torch.no_grad():
        model(*inputs)
    if clean:
        for handle in handles:
            handle.remove()
    return seen


def side_by_side(one, other, input_ids):
    for (name, left), (_, right) in zip(trace(one, input_ids), trace(other, input_ids), strict=True):
        if (left - right).abs().max() > 1e-5:
            return name
    return "nowhere"


def listed(one, other, input_ids):
    pairs = zip(trace(one, input_ids), trace(other, input_ids), strict=True)
    names = [left[0] for left, right in pairs if not torch.allclose(left[1], right[1], rtol=0, atol=1e-5)]
    return [*names, "nowhere"][0]


def the_last(one, other, input_ids):
    found = "nowhere"
    for (name, left), (_, right) in zip(trace(one, input_ids), trace(other, input_ids), strict=True):
        if (left - right).abs().max() > 1e-5:
            found = name
    return found


def with_amount(one, other, input_ids):
    return side_by_side(one, other, input_ids), 0.5


def exactly(one, other, input_ids):
    for (name, left), (_, right) in zip(trace(one, input_ids), trace(other, input_ids), strict=True):
        if not torch.equal(left, right):
            return name
    return "nowhere"


def without_absolute_value(one, other, input_ids):
    for (name, left), (_, right) in zip(trace(one, input_ids), trace(other, input_ids), strict=True):
        if (left - right).max() > 1e-5:
            return name
    return "nowhere"


def without_absolute_value_swapped(one, other, input_ids):
    return without_absolute_value(other, one, input_ids)


def the_largest(one, other, input_ids):
    pairs = zip(trace(one, input_ids), trace(other, input_ids), strict=True)
    amounts = {left[0]: (left[1] - right[1]).abs().max().item() for left, right in pairs}
    name = max(amounts, key=amounts.get)
    return name if amounts[name] > 1e-5 else "nowhere"


def returns_too_early(one, other, input_ids):
    for (name, left), (_, right) in zip(trace(one, input_ids), trace(other, input_ids), strict=True):
        return name if (left - right).abs().max() > 1e-5 else "nowhere"


def by_layer(one, other, input_ids):
    both = [model(input_ids, output_hidden_states=True).hidden_states for model in (one, other)]
    for depth, (left, right) in enumerate(zip(*both, strict=True)):
        if (left - right).abs().max() > 1e-5:
            return f"layer {depth}"
    return "nowhere"


def by_the_mean(one, other, input_ids):
    for (name, left), (_, right) in zip(trace(one, input_ids), trace(other, input_ids), strict=True):
        if (left - right).abs().mean() > 1e-5:
            return name
    return "nowhere"


def by_the_norm(one, other, input_ids):
    for (name, left), (_, right) in zip(trace(one, input_ids), trace(other, input_ids), strict=True):
        if (left - right).norm() > 1e-5:
            return name
    return "nowhere"


def a_tensor_in_an_if(one, other, input_ids):
    for (name, left), (_, right) in zip(trace(one, input_ids), trace(other, input_ids), strict=True):
        if (left - right).abs() > 1e-5:
            return name
    return "nowhere"


def by_weights(one, other, input_ids):
    for (name, left), (_, right) in zip(one.named_parameters(), other.named_parameters(), strict=True):
        if (left - right).abs().max() > 1e-5:
            return name
    return "nowhere"


def module_by_weights(one, other, input_ids):
    return by_weights(one, other, input_ids).removesuffix(".weight")


def nothing_for_equals(one, other, input_ids):
    found = side_by_side(one, other, input_ids)
    return None if found == "nowhere" else found


def leaves_hooks(one, other, input_ids):
    traces = zip(trace(one, input_ids, clean=False), trace(other, input_ids, clean=False), strict=False)
    for (name, left), (_, right) in traces:
        if (left - right).abs().max() > 1e-5:
            return name
    return "nowhere"


ANSWERS = {
    "5.4": {
        "accepted": [side_by_side, listed],
        "wrong": [
            (the_last, "the last module that differs"),
            (with_amount, "Return only the name"),
            (exactly, "Rounding does not count"),
            (a_tensor_in_an_if, "Make one number of all differences"),
            (without_absolute_value, "A difference has a sign"),
            (without_absolute_value_swapped, "A difference has a sign"),
            (the_largest, "the module that differs most"),
            (returns_too_early, "before you return"),
            (by_layer, "no module has that name"),
            (by_the_mean, "a mean over all entries hides it"),
            (by_the_norm, "adds small differences up"),
            (by_weights, "which is a weight"),
            (module_by_weights, "Compare outputs, not weights"),
            (nothing_for_equals, "Nothing differs here"),
            (leaves_hooks, "still have your hooks"),
        ],
    }
}
