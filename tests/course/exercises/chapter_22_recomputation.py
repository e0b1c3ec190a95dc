"""Answers to exercise 22.5: right recomputations, and mistakes with the words that they must hear."""

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


ANSWERS = {
    "22.5": {
        "accepted": [recomputation(), torchs_own, torchs_reentrant],
        "wrong": [
            (other_dice, "drops other numbers"),
            (torchs_without_dice, "drops other numbers"),
            (old_dice_go_on, "do not go on as they should"),
            (only_the_layer, "nothing is recomputed"),
            (cut_off, "cut off from x"),
            (without_gradients, "no gradient reaches x"),
            (doubled, "twice the gradient"),
            (a_fixed_seed, "do not go on as they should"),
        ],
    },
}
