"""The model: from token ids to vectors, and from vectors to predictions."""

from typing import TYPE_CHECKING

from bertedu.lazy import names_on_demand

if TYPE_CHECKING:
    from bertedu.model.architecture import EncoderOutput
    from bertedu.model.bert import BertModel, BertOutput
    from bertedu.model.heads import BertForMaskedLM, BertForPreTraining, PreTrainingOutput
else:
    __getattr__, __dir__ = names_on_demand(__name__)

__all__ = ["BertForMaskedLM", "BertForPreTraining", "BertModel", "BertOutput", "EncoderOutput", "PreTrainingOutput"]
