"""Answers to exercise 22.5: right ones, and mistakes with the words that they must hear."""

import torch
from torch.utils.checkpoint import checkpoint


def recomputation(keep=True, restore=True, enable=True, forward_grad=False, returns=True, twice=False):
    """A recomputation with parts left out."""

    def recompute(x, layer):
        class Recompute(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                ctx.state = torch.get_rng_state()
                with torch.set_grad_enabled(forward_grad):
                    return layer(x)

            @staticmethod
            def backward(ctx, gradient):
                x, now = ctx.saved_tensors[0].detach().requires_grad_(), torch.get_rng_state()
                if keep:
                    torch.set_rng_state(ctx.state)
                with torch.set_grad_enabled(enable):
                    again = layer(x)
                if restore:
                    torch.set_rng_state(now)
                if enable:
                    again.backward(2 * gradient if twice else gradient)
                return x.grad if returns else None

        return Recompute.apply(x)

    return recompute


def torchs_own(x, layer):
    return checkpoint(layer, x, use_reentrant=False)


def torchs_reentrant(x, layer):
    return checkpoint(layer, x, use_reentrant=True)


def other_dice(x, layer):
    return recomputation(keep=False)(x, layer)


def torchs_without_dice(x, layer):
    return checkpoint(layer, x, use_reentrant=False, preserve_rng_state=False)


def old_dice_go_on(x, layer):
    return recomputation(restore=False)(x, layer)


def only_the_layer(x, layer):
    return layer(x)


def cut_off(x, layer):
    with torch.no_grad():
        return layer(x)


def without_gradients(x, layer):
    return recomputation(enable=False)(x, layer)


def doubled(x, layer):
    return recomputation(twice=True)(x, layer)


def a_fixed_seed(x, layer):
    class Seeded(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            torch.manual_seed(0)
            with torch.no_grad():
                return layer(x)

        @staticmethod
        def backward(ctx, gradient):
            x = ctx.saved_tensors[0].detach().requires_grad_()
            torch.manual_seed(0)
            with torch.enable_grad():
                again = layer(x)
            again.backward(gradient)
            return x.grad

    return Seeded.apply(x)


class Forked(torch.autograd.Function):
    """The layer's weights are arguments, too, and torch forks the generator."""

    @staticmethod
    def forward(ctx, x, layer, *weights):
        ctx.x, ctx.layer, ctx.state = x.detach(), layer, torch.get_rng_state()
        return layer(x)

    @staticmethod
    def backward(ctx, gradient):
        x = ctx.x.requires_grad_()
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.state)
            again = ctx.layer(x)
        found = torch.autograd.grad(again, [x, *ctx.layer.parameters()], gradient)
        return found[0], None, *found[1:]


def forked(x, layer):
    return Forked.apply(x, layer, *layer.parameters())


def with_fault(fault):
    """A recomputation with one fault."""
    shared = {}

    def recompute(x, layer):
        class Faulty(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, layer):
                ctx.save_for_backward(x)
                ctx.state = shared["state"] = torch.get_rng_state()
                output = layer(x)
                if fault == "late":
                    ctx.state = torch.get_rng_state()
                return output

            @staticmethod
            def backward(ctx, gradient):
                x, now = ctx.saved_tensors[0], torch.get_rng_state()
                x = x if fault == "attached" else x.detach().requires_grad_()
                torch.set_rng_state(shared["state"] if fault == "shared" else ctx.state)
                layer.train(fault != "evaluation")
                with torch.enable_grad():
                    again = layer(x)
                layer.train()
                torch.set_rng_state(now)
                if fault == "only x":
                    return torch.autograd.grad(again, x, gradient)[0], None
                again.backward(gradient)
                return x.grad if fault == "one gradient" else (x.grad, None)

        if fault == "class":
            return Faulty
        return Faulty.forward(None, x, layer) if fault == "forward" else Faulty.apply(x, layer)

    recompute.__name__ = fault.replace(" ", "_")
    return recompute


def without_recording(x, layer):
    class Unrecorded(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return layer(x)

        @staticmethod
        def backward(ctx, gradient):
            x = ctx.saved_tensors[0].detach().requires_grad_()
            layer(x).backward(gradient)
            return x.grad

    return Unrecorded.apply(x)


def forward_set_back(x, layer):
    state = torch.get_rng_state()
    output = forked(x, layer)
    torch.set_rng_state(state)
    return output


def other_order(layer, x):
    return layer(x)


def twice_at_once(x, layer):
    state = torch.get_rng_state()
    layer(x)
    torch.set_rng_state(state)
    return layer(x)


ANSWERS = {
    "22.5": {
        "accepted": [recomputation(), forked],
        "wrong": [
            (torchs_reentrant, "uses `torch.utils.checkpoint`"),
            (torchs_own, "uses `torch.utils.checkpoint`"),
            (other_dice, "drops other numbers"),
            (torchs_without_dice, "uses `torch.utils.checkpoint`"),
            (old_dice_go_on, "do not go on as they should"),
            (only_the_layer, "nothing is recomputed"),
            (cut_off, "cut off from x"),
            (without_gradients, "no gradient reaches x"),
            (doubled, "twice the gradient"),
            (a_fixed_seed, "the generator is not where layer(x) leaves it"),
            (forward_set_back, "do not set it"),
            (with_fault("attached"), "Cut it off"),
            (with_fault("shared"), "keep it in ctx"),
            (with_fault("late"), "before the layer runs"),
            (with_fault("evaluation"), "in evaluation mode"),
            (with_fault("only x"), "computes the gradient of x alone"),
            (with_fault("one gradient"), "None for the layer"),
            (without_recording, "`with torch.enable_grad():`"),
            (with_fault("class"), "it returned the class"),
            (with_fault("forward"), "makes ctx and calls it"),
            (other_order, "The order is recompute(x, layer)"),
            (twice_at_once, "Is the first pass inside torch.no_grad()"),
        ],
    }
}
