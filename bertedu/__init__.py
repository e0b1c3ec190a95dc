"""bertedu: build BERT yourself, from the first subword to a fine-tuned model."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# These three fill the registries by name; nothing that is registered is imported yet.
import bertedu.family
import bertedu.finetuning.tasks
import bertedu.pretraining.objectives  # noqa: F401
from bertedu.config import BertConfig
from bertedu.errors import UserError

if TYPE_CHECKING:
    from bertedu.model import BertForMaskedLM, BertForPreTraining, BertModel
    from bertedu.tokenization import BertTokenizer

__version__ = "0.1.0"
__all__ = ["BertConfig", "BertForMaskedLM", "BertForPreTraining", "BertModel", "BertTokenizer", "UserError"]

# These need torch, which takes a second to load: they are fetched when they are first asked for.
_WHERE = {
    "BertForMaskedLM": "bertedu.model",
    "BertForPreTraining": "bertedu.model",
    "BertModel": "bertedu.model",
    "BertTokenizer": "bertedu.tokenization",
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'bertedu' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE])
