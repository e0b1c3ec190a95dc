"""Answers to exercise 5.5: right ones, and mistakes with the words that they must hear."""


def by_name(name, tensor):
    return tensor.T if name.endswith("/kernel") else tensor


def by_last_piece(name, tensor):
    return tensor.transpose(0, 1).contiguous() if name.split("/")[-1] == "kernel" else tensor


def never(name, tensor):
    return tensor


def always(name, tensor):
    return tensor.T if tensor.ndim == 2 else tensor


def only_wide(name, tensor):
    return tensor.T if tensor.ndim == 2 and tensor.size(0) != tensor.size(1) and "kernel" in name else tensor


def only_encoder(name, tensor):
    return tensor.T if "encoder" in name and "kernel" in name else tensor


def only_self(name, tensor):
    return tensor.T if ("self" in name and tensor.ndim == 2) or "intermediate" in name else tensor


def all_but_embeddings(name, tensor):
    return tensor.T if tensor.ndim == 2 and "embeddings" not in name else tensor


def by_words_of_the_layers(name, tensor):
    return tensor.T if tensor.ndim == 2 and ("dense" in name or "self" in name) else tensor


def reshaped(name, tensor):
    return tensor.reshape(tensor.shape[::-1]) if name.endswith("/kernel") else tensor


def squares_too(name, tensor):
    return tensor.T if tensor.ndim == 2 and ("kernel" in name or tensor.size(0) == tensor.size(1)) else tensor


ANSWERS = {
    "5.5": {
        "accepted": [by_name, by_last_piece, by_words_of_the_layers],
        "wrong": [
            (never, "Which kernels need to be transposed"),
            (always, "Not everything with two axes"),
            (reshaped, "without moving the numbers"),
            (only_wide, "A square matrix fits both ways"),
            (only_encoder, "the pooler's kernel unchanged"),
            (only_self, "fits both ways"),
            (squares_too, "Not everything with two axes"),
            (all_but_embeddings, "output_weights of a head are no kernel"),
        ],
    }
}
