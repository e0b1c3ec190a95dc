"""Answers to exercise 24.3: right ones, and mistakes with the words that they must hear."""

import jax


def step(loss, weights, velocity, batch, learning_rate):
    before, gradients = jax.value_and_grad(loss)(weights, batch)
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, gradients)
    return jax.tree.map(lambda w, v: w - learning_rate * v, weights, velocity), velocity, before


def step_by_leaves(loss, weights, velocity, batch, learning_rate):
    flat, tree = jax.tree.flatten(weights)
    gradients = jax.tree.leaves(jax.grad(loss)(weights, batch))
    moved = [v * 0.9 + g for v, g in zip(jax.tree.leaves(velocity), gradients, strict=True)]
    flat = [w - v * learning_rate for w, v in zip(flat, moved, strict=True)]
    return [jax.tree.unflatten(tree, flat), jax.tree.unflatten(tree, moved), loss(weights, batch)]


def old_velocity(loss, weights, velocity, batch, learning_rate):
    _, moved, before = step(loss, weights, velocity, batch, learning_rate)
    return jax.tree.map(lambda w, v: w - learning_rate * v, weights, velocity), moved, before


def uphill(loss, weights, velocity, batch, learning_rate):
    return step(loss, weights, velocity, batch, -learning_rate)


def plain_descent(loss, weights, velocity, batch, learning_rate):
    before, gradients = jax.value_and_grad(loss)(weights, batch)
    return jax.tree.map(lambda w, g: w - learning_rate * g, weights, gradients), gradients, before


def dampened(loss, weights, velocity, batch, learning_rate):
    before, gradients = jax.value_and_grad(loss)(weights, batch)
    velocity = jax.tree.map(lambda v, g: 0.9 * v + 0.1 * g, velocity, gradients)
    return jax.tree.map(lambda w, v: w - learning_rate * v, weights, velocity), velocity, before


def dampened_afterwards(loss, weights, velocity, batch, learning_rate):
    new, _, before = step(loss, weights, velocity, batch, learning_rate)
    return new, dampened(loss, weights, velocity, batch, learning_rate)[1], before


def rate_in_velocity(loss, weights, velocity, batch, learning_rate):
    before, gradients = jax.value_and_grad(loss)(weights, batch)
    velocity = jax.tree.map(lambda v, g: 0.9 * v + learning_rate * g, velocity, gradients)
    return jax.tree.map(lambda w, v: w - v, weights, velocity), velocity, before


def nesterov(loss, weights, velocity, batch, learning_rate):
    before, gradients = jax.value_and_grad(loss)(weights, batch)
    velocity = jax.tree.map(lambda v, g: 0.9 * v + g, velocity, gradients)
    moved = jax.tree.map(lambda w, v, g: w - learning_rate * (g + 0.9 * v), weights, velocity, gradients)
    return moved, velocity, before


def tree_as_a_number(loss, weights, velocity, batch, learning_rate):
    before, gradients = jax.value_and_grad(loss)(weights, batch)
    return weights, 0.9 * velocity + gradients, before


def gradients_first(loss, weights, velocity, batch, learning_rate):
    gradients, before = jax.value_and_grad(loss)(weights, batch)
    return jax.tree.map(lambda v, g: 0.9 * v + g, velocity, gradients), velocity, before


def of_a_number(loss, weights, velocity, batch, learning_rate):
    return jax.value_and_grad(loss(weights, batch))


def backwards(loss, weights, velocity, batch, learning_rate):
    return loss(weights, batch).backward()


def loss_first(loss, weights, velocity, batch, learning_rate):
    new, velocity, before = step(loss, weights, velocity, batch, learning_rate)
    return before, new, velocity


KEPT = {}


def keeps_a_tracer(loss, weights, velocity, batch, learning_rate):
    new, KEPT["velocity"], before = step(loss, weights, velocity, batch, learning_rate)
    return new, KEPT["velocity"], before


def keeps_the_velocity(loss, weights, velocity, batch, learning_rate):
    new, _, before = step(loss, weights, velocity, batch, learning_rate)
    return new, velocity, before


def swapped(loss, weights, velocity, batch, learning_rate):
    new, velocity, before = step(loss, weights, velocity, batch, learning_rate)
    return velocity, new, before


def loss_afterwards(loss, weights, velocity, batch, learning_rate):
    new, velocity, _ = step(loss, weights, velocity, batch, learning_rate)
    return new, velocity, loss(new, batch)


def for_flat_weights(loss, weights, velocity, batch, learning_rate):
    before, gradients = jax.value_and_grad(loss)(weights, batch)
    velocity = {name: 0.9 * velocity[name] + gradients[name] for name in weights}
    return {name: weights[name] - learning_rate * velocity[name] for name in weights}, velocity, before


def into_the_dictionary(loss, weights, velocity, batch, learning_rate):
    new, velocity, before = step(loss, weights, velocity, batch, learning_rate)
    weights.update(new)
    return weights, velocity, before


def as_a_float(loss, weights, velocity, batch, learning_rate):
    new, velocity, before = step(loss, weights, velocity, batch, learning_rate)
    float(before)
    return new, velocity, before


def as_a_list(loss, weights, velocity, batch, learning_rate):
    new, velocity, before = step(loss, weights, velocity, batch, learning_rate)
    return jax.tree.leaves(new), velocity, before


def remembered(loss, weights, velocity, batch, learning_rate, kept=[]):  # noqa: B006 the mistake
    state = kept.pop() if kept else velocity
    new, moved, before = step(loss, weights, state, batch, learning_rate)
    if not kept and state is velocity:
        kept.append(moved)
    return new, moved, before


ANSWERS = {
    "24.3": {
        "accepted": [step, step_by_leaves],
        "wrong": [
            (old_velocity, "velocity of before"),
            (uphill, "against the gradient"),
            (plain_descent, "where is the velocity"),
            (dampened, "counts in full"),
            (dampened_afterwards, "counts in full"),
            (rate_in_velocity, "inside the velocity"),
            (nesterov, "This is Nesterov"),
            (tree_as_a_number, "leaf by leaf"),
            (gradients_first, "trees of different forms"),
            (of_a_number, "the function itself"),
            (backwards, "remember nothing"),
            (loss_first, "Is the order weights"),
            (keeps_a_tracer, "is kept outside of the function"),
            (keeps_the_velocity, "needs the new one"),
            (swapped, "Return the weights first"),
            (loss_afterwards, "loss after the update"),
            (for_flat_weights, "leaf by leaf"),
            (into_the_dictionary, "changed its input"),
            (as_a_float, "no numbers yet"),
            (as_a_list, "a tree like the one"),
            (remembered, "a second time"),
        ],
    }
}
