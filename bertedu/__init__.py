"""bertedu: build BERT yourself, from the first subword to a fine-tuned model.

This file loads nothing: a command can be stopped in words only once it has been read.
"""

TYPE_CHECKING = False  # as in `typing`, which takes longer to load than all of this
if TYPE_CHECKING:
    from bertedu.config import BertConfig
    from bertedu.errors import UserError
    from bertedu.model.bert import BertModel
    from bertedu.model.heads import BertForMaskedLM, BertForPreTraining
    from bertedu.tokenization.bert import BertTokenizer
else:

    def __getattr__(name):
        from bertedu.lazy import names_on_demand

        return names_on_demand(__name__)[0](name)

    def __dir__():
        from bertedu.lazy import names_on_demand

        return names_on_demand(__name__)[1]()


__version__ = "0.1.0"
__all__ = ["BertConfig", "BertForMaskedLM", "BertForPreTraining", "BertModel", "BertTokenizer", "UserError"]

# Their import registers what is found by its name, which is when somebody first looks for one.
REGISTERED = ("bertedu.family", "bertedu.finetuning.tasks", "bertedu.pretraining.objectives")
