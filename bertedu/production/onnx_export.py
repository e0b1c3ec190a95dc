"""A model as an ONNX graph: `bertedu export`.

The graph is traced by torch, for batches of any size and texts of any length, and compared with the model on texts of
every length before anything is kept.
"""

import contextlib
import io
import logging
import warnings
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from bertedu.checkpoints.folder import find_folder, save_tensors
from bertedu.checkpoints.weights import weight_files
from bertedu.errors import UserError
from bertedu.extras import needs_extra
from bertedu.finetuning.tagging import CrfTagger
from bertedu.finetuning.task import VECTORS
from bertedu.model.architecture import architecture
from bertedu.model.pretrained import PretrainedModel
from bertedu.production.checking import (
    BATCH,
    Asked,
    Comparison,
    compare,
    questions_to_check,
    texts_of_run,
    with_mask,
)
from bertedu.production.engine import Engine
from bertedu.production.exported import CRF, GRAPH, INT8_GRAPH, Export, replacing_folder, sha256
from bertedu.production.graphs import INPUTS, POSITIONS, example_inputs, graph_of
from bertedu.production.int8 import quantize
from bertedu.production.monitor import reference_of
from bertedu.production.sessions import Session, cause
from bertedu.production.uses import open_to_export, use_of_model
from bertedu.tokenization import Tokenizer

LARGEST_DIFFERENCE = 1e-4  # of a logit, between the graph in float32 and the model


def export(name: str | Path, folder: Path, int8: bool = False) -> Export:
    """Write a saved model as a folder that `bertedu serve` opens; returns what its export.json says.

    The texts of the model's run are what it is checked on, where they are kept beside it. Raises UserError for a model
    that is not exported here, and for a graph that does not say what the model says.
    """
    source = find_folder(name)
    model, tokenizer, use = open_to_export(source)
    about = {"source": source.parent.name if source.name == "checkpoint" else source.name}
    about["source_digest"] = sha256(*weight_files(source))
    return export_model(model, tokenizer, folder, int8, texts_of_run(source, use), **about)


def export_model(
    model: PretrainedModel,
    tokenizer: Tokenizer,
    folder: Path,
    int8: bool = False,
    texts: list[Asked] | None = None,
    source: str = "",
    source_digest: str = "",
) -> Export:
    """The same for a model in memory. texts: what it is checked on; without them texts are made up."""
    use = use_of_model(model)
    questions, real, shortened = questions_to_check(texts or (), tokenizer, use, model.config.max_tokens)
    with replacing_folder(folder) as beside:
        path = beside / GRAPH
        write_graph(model, use, path)
        checked = replace(check(model, use, tokenizer, path, questions), real=real, shortened=shortened)
        if int8:
            path = beside / INT8_GRAPH
            quantize(beside / GRAPH, path)
            (beside / GRAPH).unlink()
            compared = compare(model, use, tokenizer, Session(path), questions)
            checked = replace(compared, real=real, shortened=shortened)
        member = architecture(model.config.model_type)
        model.config.save(beside, member.class_name(model.kind), model.task_config)
        tokenizer.save_pretrained(beside, model.config.max_tokens)
        if isinstance(model, CrfTagger):
            save_tensors(beside / CRF, dict(model.crf.state_dict()), {})
        made = Export(
            graph=path.name,
            use=use,
            labels=tuple(model.task_config.labels),
            max_tokens=model.config.max_tokens,
            digest=sha256(path),
            source=source,
            source_digest=source_digest,
            versions={name: version(name) for name in ("bertedu", "torch", "onnx", "onnxruntime")},
            files={file.name: sha256(file) for file in sorted(beside.iterdir()) if file != path},
            checked=asdict(checked),
            int8=int8,
            bytes=path.stat().st_size,
            crf=isinstance(model, CrfTagger),
        )
        made.save(beside)
        if texts:
            keep_reference(beside, texts)
    return made


def keep_reference(folder: Path, texts: list[Asked]) -> None:
    """Write what the run's texts are like, for the service's drift monitor; no text is kept in it."""
    engine, questions = Engine(folder), []
    use = engine.about.use
    for text, pair in texts:
        with contextlib.suppress(UserError):  # too long: the service does not answer it either
            for each, other in [(text, None), (pair, None)] if use == VECTORS and pair else [(text, pair)]:
                questions.append(engine.ask(with_mask(each, use), other))
    questions.sort(key=len)
    answers = [
        one for start in range(0, len(questions), BATCH) for one in engine.answer(questions[start : start + BATCH])
    ]
    if answers:
        pieces, confidences = [one.pieces for one in answers], [one.confidence for one in answers]
        reference_of(pieces, confidences, engine.tokenizer.unk_token_id).save(folder)


def check(model: PretrainedModel, use: str, tokenizer: Tokenizer, path: Path, questions: list) -> Comparison:
    """How far the graph is from the model. Raises UserError where that is more than rounding explains."""
    try:
        found = compare(model, use, tokenizer, Session(path), questions)
    except UserError:
        raise
    except Exception as error:  # the library's own kinds: a size that the trace took for a constant
        raise not_exported(model, cause(error)) from error
    if not found.largest_difference <= LARGEST_DIFFERENCE:
        raise not_exported(model, f"its logits differ by {found.largest_difference:.2g}")
    return found


def write_graph(model: PretrainedModel, use: str, path: Path) -> None:
    """Trace a model and write its graph, weights inside. Raises UserError where torch cannot trace it."""
    with needs_extra("production"):
        import onnxscript  # noqa: F401  torch asks for it by name and says less clearly what is missing
    inputs = example_inputs(use)
    batch, tokens = torch.export.Dim("batch"), torch.export.Dim("tokens", min=2, max=model.config.max_tokens)
    shapes: dict[str, dict] = {name: {0: batch, 1: tokens} for name in INPUTS}
    if POSITIONS in inputs:
        shapes[POSITIONS] = {0: batch, 1: torch.export.Dim("masks")}
    try:
        # The plain formula of attention: of the fused kernel's result not every view can be traced (DeBERTa).
        with quietly(), sdpa_kernel(SDPBackend.MATH), torch.no_grad():
            torch.onnx.export(
                graph_of(model.float().cpu(), use),
                kwargs=inputs,
                f=str(path),
                input_names=list(inputs),
                output_names=["output"],
                dynamic_shapes=shapes,
                dynamo=True,
                external_data=False,
                optimize=False,  # ONNX Runtime does that itself, and onnxscript's loses a node of DeBERTa's
                verbose=False,
            )
    except OSError:  # a full disk is no fault of the model
        raise
    except Exception as error:  # the tracer has a dozen kinds of its own
        raise not_exported(model, cause(error)) from error


def not_exported(model: PretrainedModel, why: str) -> UserError:
    """The refusal of a model of which no faithful graph was made."""
    kind = f"{type(model).__name__} of the type {model.config.model_type!r}"
    return UserError(f"the {kind} cannot be exported ({why}): serve another member of the family.")


@contextlib.contextmanager
def quietly():
    """Without the tracer's remarks about packages that are not needed."""
    logger = logging.getLogger("torch")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
