"""Other right repairs of the lab `finetune`, and wrong ones: changes of the repaired program."""

FORWARD = "return self.head(self.encoder(ids))"
LOSS = "return F.cross_entropy(model(ids), labels)"
START = """    model.head = nn.Linear(SIZE, classes)
    return model, make_optimizer(model)
"""
NAMES = 'no_decay = ("bias", "norm.weight")'

ACCEPTED = {
    "log-probabilities, groups by dimensions, a group for the head": [
        (FORWARD, "return self.head(self.encoder(ids)).softmax(dim=-1)"),
        (LOSS, "return F.nll_loss(model(ids).log(), labels)"),
        ("if name.endswith(no_decay)", "if parameter.ndim < 2"),
        (
            START,
            "    optimizer = make_optimizer(model)\n"
            "    model.head = nn.Linear(SIZE, classes)\n"
            "    optimizer = make_optimizer(model)\n"
            "    return model, optimizer\n",
        ),
    ],
    "log-softmax in the model": [
        (FORWARD, "return self.head(self.encoder(ids)).log_softmax(dim=-1)"),
        (LOSS, "return F.nll_loss(model(ids), labels)"),
        (NAMES, 'no_decay = ("bias", "norm.weight", "norm.bias")'),
    ],
}
WRONG = {
    "softmax in the loss": ([(LOSS, "return F.cross_entropy(model(ids).softmax(-1), labels)")], "certain, and right"),
    "no logarithm": (
        [(FORWARD, FORWARD + ".softmax(dim=-1)"), (LOSS, "return F.nll_loss(model(ids), labels)")],
        "certain, and right, has a loss of -1.000",
    ),
    "only the head": (
        [("make_optimizer(model)\n", "make_optimizer(model.head)\n")],
        "the numbers that they began with",
    ),
    "no new head": ([("    model.head = nn.Linear(SIZE, classes)\n", "")], "out of bounds"),
    "no decay at all": ([('"weight_decay": 1.0', '"weight_decay": 0.0')], "no weight decay any more"),
    "all weights free": ([(NAMES, 'no_decay = ("bias", "weight")')], "no weight decay any more"),
    "the other group": ([("(free if name", "(decayed if name"), ("else decayed)", "else free)")], "tensor of ones"),
    "the sum": ([(LOSS, "return F.mse_loss(model(ids), F.one_hot(labels, model(ids).shape[-1]).float())")], "certain"),
}
