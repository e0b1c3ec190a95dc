"""bertedu: build BERT yourself, from the first subword to a fine-tuned model."""

from typing import TYPE_CHECKING

# These three fill the registries by name; nothing that is registered is imported yet.
import bertedu.family
import bertedu.finetuning.tasks
import bertedu.pretraining.objectives  # noqa: F401
from bertedu.config import BertConfig
from bertedu.errors import UserError
from bertedu.lazy import names_on_demand

if TYPE_CHECKING:  # these need torch, which takes a second to load
    from bertedu.model.bert import BertModel
    from bertedu.model.heads import BertForMaskedLM, BertForPreTraining
    from bertedu.tokenization.bert import BertTokenizer
else:
    __getattr__, __dir__ = names_on_demand(__name__)

__version__ = "0.1.0"
__all__ = ["BertConfig", "BertForMaskedLM", "BertForPreTraining", "BertModel", "BertTokenizer", "UserError"]
