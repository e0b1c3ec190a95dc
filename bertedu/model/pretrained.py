"""What every model here can do: start from published weights, be saved, be loaded, say how deep a weight lies."""

from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from torch import nn

from bertedu.checkpoints.folder import Trained, find_folder, load_weights, save_model
from bertedu.checkpoints.weights import check_size
from bertedu.config import EncoderConfig, TaskConfig
from bertedu.errors import UserError
from bertedu.model.architecture import architecture, architecture_in
from bertedu.registry import ARCHITECTURES


class PretrainedModel(nn.Module):
    """A model with a `config`, saved as config.json + model.safetensors under the names of `transformers`.

    kind is what stands after the member's name in the name of its class there ("ForMaskedLM"); encoder_name the
    attribute that holds the encoder, "" in a model that is one; task_config what a task adds; folders where models lie
    that can be opened, seen from the folder that it is saved in.
    """

    kind: ClassVar[str] = "Model"
    encoder_name: ClassVar[str] = ""
    folders: ClassVar[tuple[str, ...]] = ("",)

    def __init__(self, config: EncoderConfig, task_config: TaskConfig | None = None):
        super().__init__()
        self.config, self.task_config = config, task_config or TaskConfig()

    @classmethod
    def from_config(cls, config: Any, task_config: TaskConfig | None = None) -> Self:
        """A new model. What a task adds means nothing to a model without a head for one."""
        return cls(config)

    def initialize(self) -> None:
        """Give every weight its published starting value. Called last when a model is built.

        An encoder inside a model with a head has drawn its weights already, and keeps them.
        """
        member = architecture(self.config.model_type)
        for part in self.children():
            if not isinstance(part, PretrainedModel):
                member.initialize(part, self.config)

    def depth(self, name: str) -> int:
        """How deep a weight lies, by its name: as its encoder says, and L + 1 for what stands above it."""
        inside = f"{self.encoder_name}."
        if self.encoder_name and name.startswith(inside):
            return getattr(self, self.encoder_name).depth(name.removeprefix(inside))
        return self.config.num_hidden_layers + 1

    def identity(self) -> dict[str, Any]:
        """What must be the same for a run with this model to be resumed."""
        return {"model_type": self.config.model_type, **asdict(self.config), **asdict(self.task_config)}

    @classmethod
    def from_pretrained(cls, name: str | Path, trained: Trained | None = None, **changes: Any) -> Self:
        """Load from a folder saved here, from any folder of a member in `transformers`, or from a hub id.

        changes are fields of the config, or of what a task adds, that shall differ from those saved, such as labels or
        dropout. The model comes in evaluation mode. Weights that the file lacks (a head) start as published and are
        named in a warning, unless they are among those that must be trained. Raises UserError for a missing, damaged or
        misshaped checkpoint, for a head that must be trained and is not there, and where an encoder is asked for that
        is another member's.
        """
        folder = find_folder(name)
        member = architecture_in(folder)
        if not cls.encoder_name and nearest_encoder(cls) is not member.encoder:
            raise UserError(
                f"{folder} holds a model of the type {member.config.model_type!r}, which {cls.__name__} would compute "
                f"otherwise: open it with {member.encoder.__name__}.from_pretrained."
            )
        of_task = {field.name: changes.pop(field.name) for field in fields(TaskConfig) if field.name in changes}
        task_config = replace(TaskConfig.load(folder), **of_task)
        config = replace(member.config.load(folder), **changes)
        check_size(lambda: cls.from_config(config, task_config), folder)
        model = cls.from_config(config, task_config)
        load_weights(model, folder, member.names, trained)
        return model.eval()

    def save_pretrained(self, folder: str | Path) -> None:
        """Write config.json and model.safetensors; the folder opens in `transformers` as it is."""
        member = architecture(self.config.model_type)
        save_model(self, folder, member.names, member.class_name(self.kind))


def nearest_encoder(kind: type[PretrainedModel]) -> Any:
    """The member's encoder that a class is, or is made from; None for one that is no member's.

    A class that is one of a member comes from the member's module, or from one that it imports.
    """
    encoders = [member.encoder for member in ARCHITECTURES.loaded()]
    return next((base for base in kind.__mro__ if base in encoders), None)
