"""The model: from token ids to vectors, and from vectors to predictions."""

from bertedu.model.architecture import EncoderOutput
from bertedu.model.bert import BertModel, BertOutput
from bertedu.model.heads import BertForMaskedLM, BertForPreTraining, PreTrainingOutput

__all__ = ["BertForMaskedLM", "BertForPreTraining", "BertModel", "BertOutput", "EncoderOutput", "PreTrainingOutput"]
