"""Answers to the variants of chapter 8: see test_classroom_variants.py."""

from support.variant_facts import found

STEP = """
def adam_step(weight, gradient, mean, square, step, learning_rate):
    if most:
        gradient = gradient * min(1.0, most / float(gradient.norm()))
    if l2:
        gradient = gradient + decay * weight
    mean = betas[0] * mean + (1 - betas[0]) * gradient
    square = betas[1] * square + (1 - betas[1]) * gradient**2
    m, v = (mean, square) if uncorrected else (mean / (1 - betas[0] ** step), square / (1 - betas[1] ** step))
    root = (v + epsilon).sqrt() if inside else v.sqrt() + epsilon
    move = m / root if l2 else m / root + decay * weight
    return weight - learning_rate * move, mean, square
"""
STEP_LERP = """
def adam_step(weight, gradient, mean, square, step, learning_rate):
    g = gradient.clone()
    if most and g.square().sum().sqrt() > most:
        g *= most / g.square().sum().sqrt()
    g += (decay if l2 else 0.0) * weight
    mean, square = mean.lerp(g, 1 - betas[0]), square.lerp(g * g, 1 - betas[1])
    corrections = [1.0 if uncorrected else 1 - beta**step for beta in betas]
    denominator = torch.sqrt(square / corrections[1] + inside * epsilon) + (not inside) * epsilon
    kept = weight * (1 - learning_rate * (0.0 if l2 else decay))
    return torch.addcdiv(kept, mean / corrections[0], denominator, value=-learning_rate), mean, square
"""
PUBLIC_STEP = """
def adam_step(weight, gradient, mean, square, step, learning_rate):
    mean, square = 0.9 * mean + 0.1 * gradient, 0.98 * square + 0.02 * gradient**2
    direction = mean / (1 - 0.9**step) / ((square / (1 - 0.98**step)).sqrt() + 1e-6)
    return weight - learning_rate * (direction + 0.01 * weight), mean, square
"""
TRAIN = """
def train_repaired(weight, batches, learning_rate, warmup):
    total = len(batches)
    for step, parts in enumerate(batches, start=1):
        gradient = torch.zeros_like(weight)
        count = sum(len(y) for x, y in parts)
        for x, y in parts:
            gradient += 2 * (x @ weight - y) @ x / count
        norm = gradient.norm()
        if norm > 1:
            gradient = gradient / norm
        factor = step / warmup if step <= warmup else (total - step) / (total - warmup)
        weight = weight - learning_rate * factor * gradient
    return weight
"""
TRAIN_AUTOGRAD = """
def train_repaired(weight, batches, learning_rate, warmup):
    weight = torch.nn.Parameter(weight.clone())
    for done, parts in enumerate(batches):
        x, y = (torch.cat(some) for some in zip(*parts))
        (gradient,) = torch.autograd.grad(torch.nn.functional.mse_loss(x @ weight, y), weight)
        gradient = gradient / gradient.norm().clamp_min(1.0)
        factor = min((done + 1) / warmup, (len(batches) - done - 1) / (len(batches) - warmup))
        weight = (weight - learning_rate * factor * gradient).detach().requires_grad_()
    return weight.detach()
"""
AS_GIVEN = "exec(given.replace('def train(', 'def train_repaired('), globals())"
SUM_REPAIRED = """
program = given.replace("def train(", "def train_repaired(").replace("/ len(y) / len(parts)", "/ count")
program = program.replace("gradient = 2 *", "gradient = gradient + 2 *")
program = program.replace("start=1):\\n", "start=1):\\n        gradient = 0 * weight\\n")
exec(program, globals())
"""

RIGHT = {
    "8.11": [STEP, STEP_LERP],
    "8.12": [TRAIN, TRAIN_AUTOGRAD],
}
WRONG = {
    "8.11": {
        PUBLIC_STEP: r"chapter's exercise 8\.2",
        f"most, l2, uncorrected, inside = 0, False, False, False\n{STEP}": r"different from the chapter's step",
        STEP.replace("betas[0]", "0.9"): r"β₁ is",
        STEP.replace("betas[1]", "0.98"): r"β₂ is",
        STEP.replace("decay *", "0.01 *"): r"λ is",
        STEP.replace("epsilon", "1e-6"): r"ε is",
        STEP.replace("decay *", "0 *"): r"no decay at all",
        STEP.replace(".sqrt()", ""): r"Where is the square root",
        STEP.replace(
            "learning_rate * move, mean, square",
            "learning_rate * move, m / (1 - uncorrected * betas[0] ** step), square",
        ): (r"uncorrected one"),
        STEP.replace("weight - learning_rate", "weight + learning_rate"): r"Both averages are right",
        STEP.replace("move, mean, square", "move, square, mean"): r"Follow the formula",
    },
    "8.12": {
        AS_GIVEN: r"as it was",
        TRAIN.replace("/ count", "/ len(y) / len(parts)"): r"An example in a small part",
        TRAIN.replace("gradient += 2 *", "gradient = 2 *"): r"Only the last part",
        TRAIN.replace(" / count", ""): r"gradient is that of the sum",
        TRAIN.replace(
            "gradient = torch.zeros_like(weight)", ("gradient = torch.zeros_like(weight) if step == 1 else gradient")
        ): r"step before is still in it",
        TRAIN.replace("if norm > 1", "if norm > 0"): r"below 1 is made larger",
        TRAIN.replace("gradient = gradient / norm", "gradient = gradient.clamp(-1, 1)"): r"Each number is clipped",
        TRAIN.replace("step / warmup if step", "(step - 1) / warmup if step - 1"): r"first step|Follow one step",
        TRAIN.replace("weight - learning_rate", "weight + learning_rate"): r"Follow one step by hand",
        SUM_REPAIRED: r"Two bugs are left",
    },
}
PUBLIC = {"8.11": "8.2"}


def facts(text):
    """The numbers that a variant's text names."""
    return {
        "betas": [float(found(rf"{beta} = \*\*([\d.]+)\*\*", text) or 0) for beta in ("β₁", "β₂")],
        "decay": float(found(r"λ = \*\*([\d.]+)\*\*", text) or 0),
        "epsilon": float(found(r"ε = \*\*([\d.]+)\*\*", text) or 0),
        "most": float(found(r"is above \*\*([\d.]+)\*\*", text) or 0),
        "l2": "not decoupled" in text,
        "uncorrected": "no bias correction" in text,
        "inside": "under the square root" in text,
    }
