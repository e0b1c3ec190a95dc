"""What several exercises of chapter 05 share."""

from torch import Tensor, nn

from bertedu.checkpoints.names import to_transformers
from bertedu.model import BertModel


def google_checkpoint(model: BertModel) -> dict[str, Tensor]:
    """The weights of a model as Google's TensorFlow code stores them: its names, its kernels [in, out]."""
    kernels = {f"{name}.weight" for name, module in model.named_modules() if isinstance(module, nn.Linear)}
    file = {}
    for name, tensor in model.state_dict().items():
        theirs = to_transformers(name).replace(".layer.", ".layer_").replace(".", "/")
        if name in kernels:
            file[f"bert/{theirs.removesuffix('weight')}kernel"] = tensor.T.clone()
        elif "LayerNorm" in theirs:
            file[f"bert/{theirs}".replace("/weight", "/gamma").replace("/bias", "/beta")] = tensor.clone()
        else:
            file[f"bert/{theirs.removesuffix('/weight')}"] = tensor.clone()
    return file
