"""Answers to exercise 19.1: right ones, and mistakes with the words that they must hear."""

import torch


def halves(vectors, positions, theta):
    d = vectors.size(-1)
    angles = positions[:, None] * theta ** (-torch.arange(0, d, 2) / d)
    first, second = vectors.chunk(2, dim=-1)
    return torch.cat([first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()], -1)


def as_matrices(x, at, base):
    d, turned = x.size(-1), []
    for t, position in enumerate(at):
        matrix = torch.zeros(d, d)
        for k in range(d // 2):
            angle = position * torch.tensor(base) ** (-2 * k / d)
            matrix[k, k] = matrix[k + d // 2, k + d // 2] = angle.cos()
            matrix[k, k + d // 2], matrix[k + d // 2, k] = -angle.sin(), angle.sin()
        turned.append(x[:, :, t] @ matrix.T)
    return torch.stack(turned, dim=2)


def as_transformers(vectors, positions, theta):
    d = vectors.size(-1)
    angles = torch.outer(positions.float(), 1.0 / theta ** (torch.arange(0, d, 2).float() / d))
    both = torch.cat([angles, angles], dim=-1)
    half = torch.cat([-vectors[..., d // 2 :], vectors[..., : d // 2]], dim=-1)
    return vectors * both.cos() + half * both.sin()


def angles_of_neighbors(vectors, positions, theta):
    d = vectors.size(-1)
    angles = (positions[:, None] * theta ** (-torch.arange(0, d, 2) / d)).repeat_interleave(2, dim=-1)
    first, second = vectors.chunk(2, dim=-1)
    return vectors * angles.cos() + torch.cat([-second, first], dim=-1) * angles.sin()


def a_speed_for_each_number(vectors, positions, theta):
    d = vectors.size(-1)
    angles = positions[:, None] * theta ** (-2 * torch.arange(d) / d)
    first, second = vectors.chunk(2, dim=-1)
    return vectors * angles.cos() + torch.cat([-second, first], dim=-1) * angles.sin()


def complex_numbers(vectors, positions, theta):
    d = vectors.size(-1)
    speeds = theta ** (-2 * torch.arange(d // 2) / d)
    turned = torch.complex(*(part.contiguous() for part in vectors.chunk(2, -1))) * torch.exp(
        1j * positions[:, None] * speeds
    )
    return torch.cat([turned.real, turned.imag], dim=-1)


def loops(vectors, positions, theta):
    d, result = vectors.size(-1), vectors.clone()
    for t, position in enumerate(positions.tolist()):
        for k in range(d // 2):
            angle = torch.tensor(position * theta ** (-2 * k / d))
            x, y = vectors[:, :, t, k], vectors[:, :, t, k + d // 2]
            result[:, :, t, k] = x * angle.cos() - y * angle.sin()
            result[:, :, t, k + d // 2] = y * angle.cos() + x * angle.sin()
    return result


def turned(vectors, angles):
    first, second = vectors.chunk(2, dim=-1)
    return torch.cat([first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()], -1)


def neighbors(vectors, positions, theta):
    d = vectors.size(-1)
    angles = positions[:, None] * theta ** (-torch.arange(0, d, 2) / d)
    first, second = vectors[..., 0::2], vectors[..., 1::2]
    parts = [first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()]
    return torch.stack(parts, dim=-1).flatten(-2)


def other_way(vectors, positions, theta):
    return halves(vectors, -positions, theta)


def half_the_exponent(vectors, positions, theta):
    d = vectors.size(-1)
    return turned(vectors, positions[:, None] * theta ** (-torch.arange(d // 2) / d))


def twice_the_two(vectors, positions, theta):
    d = vectors.size(-1)
    return turned(vectors, positions[:, None] * theta ** (-2 * torch.arange(0, d, 2) / d))


def growing(vectors, positions, theta):
    d = vectors.size(-1)
    return turned(vectors, positions[:, None] * theta ** (torch.arange(0, d, 2) / d))


def from_one(vectors, positions, theta):
    return halves(vectors, positions + 1, theta)


def one_speed(vectors, positions, theta):
    return turned(vectors, positions[:, None].expand(-1, vectors.size(-1) // 2))


def ten_thousand(vectors, positions, theta):
    return halves(vectors, positions, 10_000.0)


def always_from_zero(vectors, positions, theta):
    return halves(vectors, torch.arange(len(positions)), theta)


def unchanged(vectors, positions, theta):
    return vectors


def stacked(vectors, positions, theta):
    first, second = halves(vectors, positions, theta).chunk(2, dim=-1)
    return torch.stack([first, second], dim=-1).flatten(-2)


def both_added(vectors, positions, theta):
    d = vectors.size(-1)
    angles = positions[:, None] * theta ** (-torch.arange(0, d, 2) / d)
    first, second = vectors.chunk(2, dim=-1)
    return torch.cat([first * angles.cos() + second * angles.sin(), second * angles.cos() + first * angles.sin()], -1)


def one_after_the_other(vectors, positions, theta):
    d = vectors.size(-1)
    angles = positions[:, None] * theta ** (-torch.arange(0, d, 2) / d)
    first, second = vectors.chunk(2, dim=-1)
    first = first * angles.cos() - second * angles.sin()
    second = second * angles.cos() + first * angles.sin()
    return torch.cat([first, second], -1)


def sine_and_cosine_swapped(vectors, positions, theta):
    d = vectors.size(-1)
    angles = positions[:, None] * theta ** (-torch.arange(0, d, 2) / d)
    first, second = vectors.chunk(2, dim=-1)
    return torch.cat([first * angles.sin() - second * angles.cos(), second * angles.sin() + first * angles.cos()], -1)


def cut_the_batch(vectors, positions, theta):
    d = vectors.size(-1)
    angles = positions[:, None] * theta ** (-torch.arange(0, d, 2) / d)
    first, second = vectors.chunk(2)
    return torch.cat([first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()], -1)


def as_an_axis(vectors, positions, theta):
    d = vectors.size(-1)
    angles = positions.unsqueeze(-1) / theta ** (2 * torch.arange(d // 2) / d)
    first, second = vectors.unflatten(-1, (2, d // 2)).unbind(-2)
    return torch.stack(
        [first * angles.cos() - second * angles.sin(), second * angles.cos() + first * angles.sin()], -2
    ).flatten(-2)


def two_parts(vectors, positions, theta):
    return halves(vectors, positions, theta).chunk(2, dim=-1)


def without_axis(vectors, positions, theta):
    d = vectors.size(-1)
    return turned(vectors, positions * theta ** (-torch.arange(0, d, 2) / d))


def first_half_only(vectors, positions, theta):
    return torch.cat([halves(vectors, positions, theta).chunk(2, -1)[0], vectors.chunk(2, -1)[1]], -1)


def in_degrees(vectors, positions, theta):
    d = vectors.size(-1)
    return turned(vectors, torch.deg2rad(positions[:, None] * theta ** (-torch.arange(0, d, 2) / d)))


def whole_division(vectors, positions, theta):
    d = vectors.size(-1)
    return turned(vectors, positions[:, None] * theta ** (-(torch.arange(0, d, 2) // d)))


def no_gradient(vectors, positions, theta):
    return halves(vectors.detach(), positions, theta)


ANSWERS = {
    "19.1": {
        "accepted": [halves, as_matrices, as_transformers, complex_numbers, loops, as_an_axis],
        "wrong": [
            (neighbors, "paired neighbors"),
            (other_way, "rotated the other way"),
            (half_the_exponent, "Your speeds are theta ** (-k / d)"),
            (twice_the_two, "the 2 is already in it"),
            (growing, "the exponent is negative"),
            (from_one, "from 1"),
            (one_speed, "same speed"),
            (ten_thousand, "Use the theta that came"),
            (always_from_zero, "use the positions that came"),
            (unchanged, "as they were"),
            (stacked, "not torch.stack"),
            (both_added, "is subtracted"),
            (one_after_the_other, "new first half"),
            (first_half_only, "second half came back"),
            (in_degrees, "are degrees"),
            (whole_division, "division with //"),
            (two_parts, "with torch.cat"),
            (angles_of_neighbors, "not repeat_interleave"),
            (a_speed_for_each_number, "You made d speeds"),
            (sine_and_cosine_swapped, "cos and sin are swapped"),
            (cut_the_batch, "cut the last axis"),
            (without_axis, "one row for each position"),
            (no_gradient, "cut off from its inputs"),
        ],
    }
}
