"""Weights in 8 bits: dynamic quantization of a graph's matrix products.

Each weight matrix is stored as int8 with a scale for each column. The inputs of a product get a scale while the graph
runs, from their smallest and largest value ("dynamic"), so no calibration data are needed (the arithmetic: Jacob et al.
2018, section 2). It costs accuracy: measure that on the task, not on logits.

The weights use the integers from -64 to 64 alone. Processors without VNNI instructions (most before 2019) add two
products of 8 bits in 16 bits and saturate: larger sums are cut off silently. With 7 bits of weight that cannot happen,
so that a file made on one machine is right on the other.
"""

import logging
from pathlib import Path

from bertedu.errors import UserError
from bertedu.extras import needs_extra
from bertedu.production.sessions import cause


def quantize(source: Path, target: Path) -> None:
    """Write the int8 version of a graph. Embedding tables and what is not a matrix product stay as they are."""
    with needs_extra("production"):
        from onnxruntime.quantization import QuantType, quant_pre_process, quantize_dynamic
    prepared = target.with_suffix(".prepared")
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.ERROR)  # the library advises its users through the root logger
    try:
        quant_pre_process(str(source), str(prepared), skip_symbolic_shape=True)
        quantize_dynamic(
            prepared,
            target,
            op_types_to_quantize=["MatMul", "Gemm"],
            per_channel=True,
            weight_type=QuantType.QInt8,
            reduce_range=True,
        )
    except OSError:
        raise
    except Exception as error:  # of a disk that is full, the library reads back what it could not write
        raise UserError(
            f"{target.name} could not be written ({cause(error)}): free some space, or export without --int8."
        ) from error
    finally:
        root.setLevel(level)
        prepared.unlink(missing_ok=True)
