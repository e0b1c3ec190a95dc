"""Other right repairs of the lab `accumulation`, and wrong ones: changes of the repaired program."""

ZERO = """            if number % accumulate == 1 or accumulate == 1:
                optimizer.zero_grad()
"""
STEP = """                optimizer.step()
                schedule.step()
"""
STEPS = "epochs * -(-len(batches) // accumulate)"
LAST = "if number % accumulate == 0 or number == len(batches):"

ACCEPTED = {
    "zeroed after the step, the true size of the last group": [
        (ZERO, ""),
        (
            STEP,
            "                optimizer.step()\n"
            + "                optimizer.zero_grad()\n                schedule.step()\n",
        ),
        (
            "(loss / accumulate).backward()",
            "full = len(batches) // accumulate * accumulate\n"
            "            (loss / (accumulate if number <= full else len(batches) - full)).backward()",
        ),
        (STEPS, "epochs * ((len(batches) + accumulate - 1) // accumulate)"),
    ],
    "gradients divided before the step": [
        ("(loss / accumulate).backward()", "loss.backward()"),
        (
            STEP,
            "                for parameter in model.parameters():\n"
            "                    parameter.grad /= accumulate\n" + STEP,
        ),
    ],
}
WRONG = {
    "never zeroed": ([(ZERO, "")], "plain SGD"),
    "zeroed once an epoch": (
        [(ZERO, "            if number == 1:\n                optimizer.zero_grad()\n")],
        "plain SGD",
    ),
    "divided by all batches": ([("loss / accumulate", "loss / len(batches)")], "plain SGD"),
    "the learning rate divided": (
        [("(loss / accumulate)", "loss"), ("lr=learning_rate)", "lr=learning_rate / accumulate)")],
        "asks for no change",
    ),
    "rounded down": ([(STEPS, "epochs * (len(batches) // accumulate)")], "another third one"),
    "a step for each batch": ([(LAST, "if number:")], "four batches, two a step, are 4 steps"),
    "moved on at each batch": (
        [(STEPS, "epochs * len(batches)"), ("                schedule.step()\n", "            schedule.step()\n")],
        "no line to zero",
    ),
    "added up": ([("(loss / accumulate)", "loss")], "asks for no change"),
}
