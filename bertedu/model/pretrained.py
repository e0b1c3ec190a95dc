"""What every model here can do: start from published weights, be saved, be loaded."""

from pathlib import Path
from typing import Any, Self

from torch import nn

from bertedu.checkpoints.folder import load_model, save_model
from bertedu.config import BertConfig
from bertedu.model.initialization import initialize_as_published


class PretrainedModel(nn.Module):
    """A model with a `config`, saved as config.json + model.safetensors under the names of `transformers`."""

    def __init__(self, config: BertConfig):
        super().__init__()
        self.config = config

    def initialize(self) -> None:
        """Give every weight its published starting value. Called last when a model is built.

        A BERT inside a model with a head has drawn its weights already, and keeps them.
        """
        for part in self.children():
            if not isinstance(part, PretrainedModel):
                initialize_as_published(part, self.config.initializer_range)

    @classmethod
    def from_pretrained(cls, name: str | Path, **changes: Any) -> Self:
        """Load from a folder saved here, from any folder of a `transformers` BERT, or from a hub id.

        changes are fields of the config that shall differ from those saved, such as labels or dropout.
        The model comes in evaluation mode. Weights that the file lacks (a head) start as published and are
        named in a warning. Raises UserError for a missing, damaged or misshaped checkpoint.
        """
        return load_model(cls, name, **changes)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write config.json and model.safetensors; the folder opens in `transformers` as it is."""
        save_model(self, folder)
