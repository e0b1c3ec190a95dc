"""What each weight is called here and in `transformers`: one table a member, read in both directions."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

# What PyTorch puts inside names when parts of a model are compiled, shared out, or computed a second time.
INNER = re.compile(r"(?<![^.])(_orig_mod|_fsdp_wrapped_module|_checkpoint_wrapped_module)\.")
Rows = tuple[tuple[str, str], ...]  # pieces of a name, ours on the left, theirs on the right; {n} and {m} are numbers


@dataclass(frozen=True)
class NameMap:
    """How the weights of one member of the family are renamed on their way to disk and back.

    rows: pieces of names; the first that fits is taken, so the order matters. prefix: what `transformers` calls the
    encoder in a model with a head ("bert"); here it is whatever attribute holds it. tied: our names of weights that
    are other weights as well, and are not written. dropped: endings of names on disk that mean nothing here. heads:
    rows that hold in one kind of model only, by the kind ("ForSequenceClassification"), and go before the others.
    """

    rows: Rows
    prefix: str
    tied: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    heads: Mapping[str, Rows] = field(default_factory=dict)

    def to_transformers(self, name: str, encoder_name: str = "", kind: str = "") -> str:
        """Our name of a weight to the one in `transformers`. encoder_name: the attribute that holds the encoder, ""
        in a model that is one. Names that both share (pooler, classifier) stay.
        """
        if encoder_name and name.startswith(f"{encoder_name}."):
            name = self.prefix + name.removeprefix(encoder_name)
        return rename(name, (*self.heads.get(kind, ()), *self.rows))

    def from_transformers(self, name: str, kind: str = "") -> str:
        """A name in `transformers` to ours, the prefix as it is; also the `gamma` and `beta` of older LayerNorms."""
        name = re.sub(r"LayerNorm\.gamma$", "LayerNorm.weight", name)
        name = re.sub(r"LayerNorm\.beta$", "LayerNorm.bias", name)
        return rename(name, tuple((ours, theirs) for theirs, ours in (*self.heads.get(kind, ()), *self.rows)))

    def places(self, name: str, encoder_name: str = "", kind: str = "") -> tuple[str, ...]:
        """Where a weight from disk may belong, the likeliest first: in the encoder, written with or without the prefix,
        or in the head.
        """
        ours = self.from_transformers(name, kind)
        bare = ours.removeprefix(f"{self.prefix}.")
        return (f"{encoder_name}.{bare}", ours) if encoder_name else (bare, ours)

    def wrappers(self, saved: Iterable[str], table: str) -> set[str]:
        """What stands before the encoder (and its prefix) in the names of a file, for each encoder that it holds:
        "module." after training on several GPUs, "model." inside somebody's own class. table: how a file calls the
        first weight of an encoder.
        """
        before = [name.removesuffix(table) for name in map(unwrapped, saved) if f".{name}".endswith(f".{table}")]
        usual = {"", f"{self.prefix}."}
        return set() if usual & {*before} else {name.removesuffix(f"{self.prefix}.") for name in before}

    def is_tied(self, name: str) -> bool:
        """Whether a weight of ours is another one as well, under a second name."""
        return name in self.tied

    def is_dropped(self, name: str) -> bool:
        """Whether a name on disk means nothing here."""
        return name.endswith(self.dropped) if self.dropped else False


def unwrapped(name: str) -> str:
    """A name on disk without what PyTorch put inside it."""
    return INNER.sub("", name)


def rename(name: str, rows: Rows) -> str:
    """The name with the first piece that fits exchanged: the left of a row by its right."""
    for source, target in rows:
        pattern = re.sub(r"\\{(\w)\\}", r"(?P<\1>\\d+)", re.escape(source))
        # A piece starts at the beginning of the name or after a dot.
        renamed, count = re.subn(rf"(?<![^.]){pattern}", re.sub(r"{(\w)}", r"\\g<\1>", target), name, count=1)
        if count:
            return renamed
    return name


BERT = NameMap(
    rows=(
        ("embeddings.token.", "embeddings.word_embeddings."),
        ("embeddings.position.", "embeddings.position_embeddings."),
        ("embeddings.token_type.", "embeddings.token_type_embeddings."),
        ("embeddings.norm.", "embeddings.LayerNorm."),
        ("encoder.layers.{n}.attention.output.", "encoder.layer.{n}.attention.output.dense."),
        ("encoder.layers.{n}.attention.", "encoder.layer.{n}.attention.self."),
        ("encoder.layers.{n}.attention_norm.", "encoder.layer.{n}.attention.output.LayerNorm."),
        ("encoder.layers.{n}.feed_forward.expand.", "encoder.layer.{n}.intermediate.dense."),
        ("encoder.layers.{n}.feed_forward.shrink.", "encoder.layer.{n}.output.dense."),
        ("encoder.layers.{n}.feed_forward_norm.", "encoder.layer.{n}.output.LayerNorm."),
        ("masked_lm.dense.", "cls.predictions.transform.dense."),
        ("masked_lm.norm.", "cls.predictions.transform.LayerNorm."),
        ("masked_lm.decoder.bias", "cls.predictions.bias"),
        ("masked_lm.decoder.", "cls.predictions.decoder."),
        ("next_sentence.", "cls.seq_relationship."),
    ),
    prefix="bert",
    tied=("masked_lm.decoder.weight",),
    dropped=("position_ids",),
)


def to_transformers(name: str) -> str:
    """The name of one of BERT's weights here to that in `transformers`."""
    return BERT.to_transformers(name)


def from_transformers(name: str) -> str:
    """The name of one of BERT's weights in `transformers` to that here."""
    return BERT.from_transformers(name)
