"""Answers to the drill of distillation: right ones, and mistakes with the words that they must hear."""

import torch
from torch.nn import functional as F


def with_kl_div(student_logits, teacher_logits, labels, temperature, alpha):
    soft = F.kl_div(
        F.log_softmax(student_logits / temperature, dim=-1),
        F.softmax(teacher_logits / temperature, dim=-1),
        reduction="batchmean",
    )
    return alpha * temperature**2 * soft + (1 - alpha) * F.cross_entropy(student_logits, labels)


def with_log_targets(student_logits, teacher_logits, labels, temperature, alpha):
    with torch.no_grad():
        target = (teacher_logits.double() / temperature).log_softmax(1)
    loss = torch.nn.KLDivLoss(reduction="sum", log_target=True)
    soft = loss((student_logits.double() / temperature).log_softmax(1), target) / len(labels)
    hard = -student_logits.log_softmax(1)[torch.arange(len(labels)), labels].mean()
    return torch.lerp(hard.double(), soft * temperature**2, alpha)


def with_distributions(student_logits, teacher_logits, labels, temperature, alpha):
    p = torch.distributions.Categorical(logits=teacher_logits / temperature)
    q = torch.distributions.Categorical(logits=student_logits / temperature)
    soft = torch.distributions.kl_divergence(p, q).mean()
    return alpha * soft * temperature * temperature + (1 - alpha) * F.nll_loss(student_logits.log_softmax(-1), labels)


def with_loops(student_logits, teacher_logits, labels, temperature, alpha):
    total = 0
    for s, t, label in zip(student_logits, teacher_logits, labels, strict=True):
        log_q, log_p = (s / temperature).log_softmax(0), (t / temperature).log_softmax(0)
        soft = sum(a.exp() * (a - b) for a, b in zip(log_p, log_q, strict=True)) * temperature**2
        total = total + alpha * soft + (1 - alpha) * (s.logsumexp(0) - s[label])
    return total / len(labels)


def with_entropies(student_logits, teacher_logits, labels, temperature, alpha):
    p = (teacher_logits / temperature).softmax(-1)
    entropy = torch.special.entr(p).sum(-1).mean()
    soft = F.cross_entropy(student_logits / temperature, p) - entropy
    return (alpha * soft * temperature**2 + (1 - alpha) * F.cross_entropy(student_logits, labels)).reshape(1)


def parts(s, t, labels, T, reduction="batchmean"):
    soft = F.kl_div((s / T).log_softmax(-1), (t / T).softmax(-1), reduction=reduction)
    return soft, F.cross_entropy(s, labels)


def without_t_squared(s, t, labels, T, alpha):
    soft, hard = parts(s, t, labels, T)
    return alpha * soft + (1 - alpha) * hard


def scales_both(s, t, labels, T, alpha):
    return T**2 * without_t_squared(s, t, labels, T, alpha)


def times_t(s, t, labels, T, alpha):
    soft, hard = parts(s, t, labels, T)
    return alpha * T * soft + (1 - alpha) * hard


def hard_at_t(s, t, labels, T, alpha):
    soft, _ = parts(s, t, labels, T)
    return alpha * T**2 * soft + (1 - alpha) * F.cross_entropy(s / T, labels)


def weights_swapped(s, t, labels, T, alpha):
    return with_kl_div(s, t, labels, T, 1 - alpha)


def without_alpha(s, t, labels, T, alpha):
    soft, hard = parts(s, t, labels, T)
    return T**2 * soft + hard


def only_soft(s, t, labels, T, alpha):
    return alpha * T**2 * parts(s, t, labels, T)[0]


def mean_of_all_entries(s, t, labels, T, alpha):
    soft, hard = parts(s, t, labels, T, "sum")
    return alpha * T**2 * soft / s.numel() + (1 - alpha) * hard


def summed(s, t, labels, T, alpha):
    soft, hard = parts(s, t, labels, T, "sum")
    return alpha * T**2 * soft + (1 - alpha) * hard


def sides_swapped(s, t, labels, T, alpha):
    soft = F.kl_div((t / T).log_softmax(-1), (s / T).softmax(-1), reduction="batchmean")
    return alpha * T**2 * soft + (1 - alpha) * F.cross_entropy(s, labels)


def student_as_probabilities(s, t, labels, T, alpha):
    soft = F.kl_div((s / T).softmax(-1), (t / T).softmax(-1), reduction="batchmean")
    return alpha * T**2 * soft + (1 - alpha) * F.cross_entropy(s, labels)


def teacher_without_t(s, t, labels, T, alpha):
    soft = F.kl_div((s / T).log_softmax(-1), t.softmax(-1), reduction="batchmean")
    return alpha * T**2 * soft + (1 - alpha) * F.cross_entropy(s, labels)


def student_without_t(s, t, labels, T, alpha):
    soft = F.kl_div(s.log_softmax(-1), (t / T).softmax(-1), reduction="batchmean")
    return alpha * T**2 * soft + (1 - alpha) * F.cross_entropy(s, labels)


def soft_cross_entropy(s, t, labels, T, alpha):
    soft = F.cross_entropy(s / T, (t / T).softmax(-1))
    return alpha * T**2 * soft + (1 - alpha) * F.cross_entropy(s, labels)


def logarithm_of_softmax(s, t, labels, T, alpha):
    p, q = (t / T).softmax(-1), (s / T).softmax(-1)
    soft = (p * (p.log() - q.log())).sum(-1).mean()
    return alpha * T**2 * soft + (1 - alpha) * F.cross_entropy(s, labels)


def with_an_epsilon(s, t, labels, T, alpha):
    p, q = (t / T).softmax(-1), (s / T).softmax(-1)
    soft = (p * ((p + 1e-9).log() - (q + 1e-9).log())).sum(-1).mean()
    return alpha * T**2 * soft + (1 - alpha) * F.cross_entropy(s, labels)


def student_detached(s, t, labels, T, alpha):
    soft, _ = parts(s.detach(), t, labels, T)
    return alpha * T**2 * soft + (1 - alpha) * F.cross_entropy(s, labels)


def over_the_batch(s, t, labels, T, alpha):
    soft = F.kl_div((s / T).log_softmax(0), (t / T).softmax(0), reduction="batchmean")
    return alpha * T**2 * soft + (1 - alpha) * F.cross_entropy(s, labels)


def nll_of_logits(s, t, labels, T, alpha):
    return alpha * T**2 * parts(s, t, labels, T)[0] + (1 - alpha) * F.nll_loss(s, labels)


def both_losses(s, t, labels, T, alpha):
    return parts(s, t, labels, T)


def of_each_text(s, t, labels, T, alpha):
    return F.cross_entropy(s, labels, reduction="none")


ANSWERS = {
    "distillation": {
        "accepted": [with_kl_div, with_log_targets, with_loops, with_entropies],
        "wrong": [
            (without_t_squared, "T² is missing"),
            (times_t, "multiplied by T, and it should be T²"),
            (hard_at_t, "hard loss is computed at temperature T"),
            (weights_swapped, "alpha and 1 - alpha are swapped"),
            (without_alpha, "alpha is not used"),
            (only_soft, "The hard loss is missing"),
            (mean_of_all_entries, "You averaged over the classes"),
            (summed, "a sum over the batch"),
            (sides_swapped, "sides of the divergence are swapped"),
            (student_as_probabilities, "log_softmax, and not softmax"),
            (teacher_without_t, "The teacher's logits are not divided"),
            (student_without_t, "The student's logits are not divided"),
            (soft_cross_entropy, "subtract the teacher's entropy"),
            (logarithm_of_softmax, "Use log_softmax on both sides"),
            (with_distributions, "a probability was rounded to 0"),
            (scales_both, "It belongs to the soft one only"),
            (with_an_epsilon, "something small added before the logarithm"),
            (student_detached, "no gradient reaches student_logits"),
            (over_the_batch, "Your softmax runs over the batch"),
            (nll_of_logits, "nll_loss comes after log_softmax"),
            (both_losses, "Return one loss"),
            (of_each_text, "one number is expected"),
        ],
    },
}
