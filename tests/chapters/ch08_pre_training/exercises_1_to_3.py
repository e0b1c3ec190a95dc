"""Answers to the exercises 8.1, 8.2 and 8.3: right ones, and mistakes with the words that they hear."""

import math

import torch

# 8.2 -------------------------------------------------------------------------------------------------------------


def plainly(weight, gradient, mean, square, step, rate, betas=(0.9, 0.98), epsilon=1e-6, decay=0.01):
    mean = betas[0] * mean + (1 - betas[0]) * gradient
    square = betas[1] * square + (1 - betas[1]) * gradient**2
    corrected = mean / (1 - betas[0] ** step), square / (1 - betas[1] ** step)
    move = corrected[0] / (corrected[1].sqrt() + epsilon) + decay * weight
    return weight - rate * move, mean, square


def decayed_first(weight, gradient, mean, square, step, rate):
    mean, square = mean.lerp(gradient, 0.1), square.lerp(gradient * gradient, 0.02)
    direction = mean / (1 - 0.9**step) / ((square / (1 - 0.98**step)).sqrt() + 1e-6)
    return [weight * (1 - rate * 0.01) - rate * direction, mean, square]


def by_torch(weight, gradient, mean, square, step, rate):
    parameter = torch.nn.Parameter(weight.clone())
    optimizer = torch.optim.AdamW([parameter], lr=rate, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.01)
    state = {"step": torch.tensor(step - 1.0), "exp_avg": mean.clone(), "exp_avg_sq": square.clone()}
    optimizer.state[parameter] = state
    parameter.grad = gradient
    optimizer.step()
    return parameter.detach(), state["exp_avg"], state["exp_avg_sq"]


def l2(weight, gradient, mean, square, step, rate):
    return plainly(weight, gradient + 0.01 * weight, mean, square, step, rate, decay=0.0)


def l2_in_the_step_alone(weight, gradient, mean, square, step, rate):
    new, _, _ = plainly(weight, gradient + 0.01 * weight, mean, square, step, rate, decay=0.0)
    _, mean, square = plainly(weight, gradient, mean, square, step, rate)
    return new, mean, square


def uncorrected(weight, gradient, mean, square, step, rate):
    mean, square = 0.9 * mean + 0.1 * gradient, 0.98 * square + 0.02 * gradient**2
    return weight - rate * (mean / (square.sqrt() + 1e-6) + 0.01 * weight), mean, square


def epsilon_inside(weight, gradient, mean, square, step, rate):
    _, mean, square = plainly(weight, gradient, mean, square, step, rate)
    move = mean / (1 - 0.9**step) / (square / (1 - 0.98**step) + 1e-6).sqrt()
    return weight - rate * (move + 0.01 * weight), mean, square


def swapped_factors(*state):
    return plainly(*state, betas=(0.1, 0.98))


def square_root_of_one_number(weight, gradient, mean, square, step, rate):
    root = math.sqrt(square / (1 - 0.98**step))
    return weight - rate * mean / root, mean, square


def a_step_too_far(weight, gradient, mean, square, step, rate):
    _, mean, square = plainly(weight, gradient, mean, square, step, rate)
    move = mean / (1 - 0.9 ** (step + 1)) / ((square / (1 - 0.98 ** (step + 1))).sqrt() + 1e-6)
    return weight - rate * (move + 0.01 * weight), mean, square


def new_weight_decays(*state):
    new, mean, square = plainly(*state, decay=0.0)
    return new * (1 - state[-1] * 0.01), mean, square


def beta_of_the_paper(*state):
    return plainly(*state, betas=(0.9, 0.999))


def averages_first(*state):
    weight, mean, square = plainly(*state)
    return mean, square, weight


def mean_first(*state):
    weight, mean, square = plainly(*state)
    return mean, weight, square


def of_absolute_gradients(weight, gradient, mean, square, step, rate):
    new, mean, _ = plainly(weight, gradient, mean, square, step, rate)
    return new, mean, 0.98 * square + 0.02 * gradient.abs()


def no_root(weight, gradient, mean, square, step, rate):
    _, mean, square = plainly(weight, gradient, mean, square, step, rate)
    move = mean / (1 - 0.9**step) / (square / (1 - 0.98**step) + 1e-6)
    return weight - rate * (move + 0.01 * weight), mean, square


def square_uncorrected(weight, gradient, mean, square, step, rate):
    _, mean, square = plainly(weight, gradient, mean, square, step, rate)
    return weight - rate * (mean / (1 - 0.9**step) / (square.sqrt() + 1e-6) + 0.01 * weight), mean, square


def gradient_itself(weight, gradient, mean, square, step, rate):
    _, mean, square = plainly(weight, gradient, mean, square, step, rate)
    move = gradient / ((square / (1 - 0.98**step)).sqrt() + 1e-6)
    return weight - rate * (move + 0.01 * weight), mean, square


def no_decay(*state):
    return plainly(*state, decay=0.0)


def full_decay(weight, gradient, mean, square, step, rate):
    return plainly(weight, gradient, mean, square, step, rate, decay=0.01 / rate)


def uphill(weight, *state):
    new, mean, square = plainly(weight, *state)
    return 2 * weight - new, mean, square


def corrected_kept(weight, gradient, mean, square, step, rate):
    new, mean, square = plainly(weight, gradient, mean, square, step, rate)
    return new, mean / (1 - 0.9**step), square / (1 - 0.98**step)


def in_place(weight, gradient, mean, square, step, rate):
    new = plainly(weight, gradient, mean, square, step, rate)
    for old, value in zip((weight, mean, square), new, strict=True):
        old.copy_(value)
    return weight, mean, square


def weight_only(*state):
    return plainly(*state)[0]


RIGHT = {
    "A": "labels at every token",
    "B": "learning rate too high",
    "C": "shuffled pair labels",
    "D": "no warm-up",
    "E": "frozen output layer",
}


ANSWERS = {
    "8.1": {
        "accepted": [[0.01, 0.01], (0.01, 0.01), torch.tensor([0.01, 0.01], dtype=torch.float64)],
        "wrong": [
            ([0.00001, 10.0], "plain gradient descent"),
            ([0.001, 1000], "divides each by its own size"),
            ([1, 1], "By which number"),
            ([0.00707106781, 0.00707106781], "without bias correction"),
            ([0.0071, 0.0071], "without bias correction"),
            ([0.01, -0.01], "same direction"),
            ([-0.01, -0.01], "without a sign"),
            ([0.001, 0.001], "divides by 1 − 0.9"),
            ([0.0001, 100.0], "the first averages"),
            ([0.000001, 1.0], "Correct the average"),
            ([0.01, 0.02], "corrected to g and g²"),
            (0.01, "is written like this"),
        ],
    },
    "8.2": {
        "accepted": [plainly, decayed_first],
        "wrong": [
            (by_torch, "it uses `torch.optim`"),
            (l2_in_the_step_alone, "Decoupled means"),
            (l2, "Decoupled means"),
            (epsilon_inside, "under the square root"),
            (swapped_factors, "factors are swapped"),
            (square_root_of_one_number, "own .sqrt()"),
            (a_step_too_far, "not step + 1"),
            (new_weight_decays, "the weight before the step"),
            (beta_of_the_paper, "0.98 here, not 0.999"),
            (averages_first, "the new square as the second result"),
            (mean_first, "the new weight as the second result"),
            (of_absolute_gradients, "average of the squares"),
            (uncorrected, "too small at first"),
            (square_uncorrected, "The square needs its correction"),
            (gradient_itself, "uses the corrected mean"),
            (no_root, "Where is the square root"),
            (no_decay, "did not decay"),
            (full_decay, "multiplied by the learning rate"),
            (uphill, "Subtract it"),
            (corrected_kept, "continues with the uncorrected"),
            (in_place, "in place"),
            (weight_only, "3 things are asked for"),
        ],
    },
    "8.3": {
        "accepted": [RIGHT, {letter.lower(): name.upper() for letter, name in RIGHT.items()}],
        "wrong": [
            ({**RIGHT, "B": RIGHT["D"], "D": RIGHT["B"]}, "3 of 5"),
            ({**RIGHT, "A": RIGHT["C"], "C": RIGHT["A"]}, "training questions easier"),
            ({**RIGHT, "D": RIGHT["E"], "E": RIGHT["D"]}, "starts at its highest"),
            ({**RIGHT, "E": RIGHT["B"]}, "A bias for each word"),
            ({**RIGHT, "E": RIGHT["B"]}, "each fault occurs once"),
            ({letter: "healthy" for letter in RIGHT}, "the possible faults are"),
            ({"A": "no warm-up"}, "no fault for B"),
            (["A", "B"], "a dictionary"),
        ],
    },
}
