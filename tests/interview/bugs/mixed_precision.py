"""Other right repairs of the lab `mixed_precision`, and wrong ones: changes of the repaired program."""

UNSCALE = "    scaler.unscale_(optimizer)\n"
CLIP = "    nn.utils.clip_grad_norm_(model.parameters(), MAX_NORM)\n"

ACCEPTED = {
    "a scaled norm": [(UNSCALE, ""), ("(), MAX_NORM)", "(), MAX_NORM * scaler.get_scale())")],
    "clipped by hand": [
        (
            CLIP,
            "    norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()\n"
            "    for parameter in model.parameters():\n"
            "        parameter.grad *= (MAX_NORM / (norm + 1e-6)).clamp(max=1.0)\n",
        )
    ],
}
WRONG = {
    "no clipping": ([(UNSCALE + CLIP, "")], "no longer scaled down"),
    "unscaled after clipping": ([(UNSCALE + CLIP, CLIP + UNSCALE)], "with one that begins at 65536"),
    "a fixed large norm": ([(UNSCALE, ""), ("(), MAX_NORM)", "(), MAX_NORM * 2**16)")], "no longer scaled down"),
    "no scaler": (
        [
            (UNSCALE, ""),
            ("scaler.scale(loss).backward()", "loss.backward()"),
            ("scaler.step(optimizer)\n    scaler.update()", "optimizer.step()"),
        ],
        "the loss is no longer scaled",
    ),
    "clipped after the step": (
        [(UNSCALE + CLIP, ""), ("    scaler.update()\n", CLIP + "    scaler.update()\n")],
        "no longer scaled down",
    ),
    "no update": ([("    scaler.update()\n", "")], "left out, with half of the scale"),
    "the loss scaled back": ([(UNSCALE, ""), ("    loss = F", "    loss = 1 * F")], "with one that begins at 65536"),
}
