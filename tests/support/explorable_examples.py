"""What each explorable picture is given, for its tests."""

from typing import Any

EXAMPLES: dict[str, dict[str, Any]] = {
    "weighted_sum": {
        "tokens": ["keys", "[MASK]"],
        "asking": 1,
        "query": [2, 0],
        "key": [[1, 0], [0, 0]],
        "value": [1, 0],
        "means": ["singular", "plural"],
        "tasks": ["Hide <b>keys</b>."],
    },
    "pieces": {"checkpoint": "world-tiny", "text": "The capital of Brazil", "word": 1},
    "live_head": {
        "nouns": ["key", "lamp", "cup", "book", "coat", "boat", "door", "cloud", "horse", "river", "plate", "letter"],
        "prepositions": ["near", "behind", "under", "beside"],
        "seed": 4,
        "texts": ["the keys near the old lamp", "the old lamp near the keys"],
    },
    "word_order": {
        "tokens": ["dog", "bites", "man"],
        "vectors": [[1.5, -2, 0.1, 0], [0, 0.2, 0.7, 1], [-1, 0.4, 0, 0.3]],
        "positions": [[0.1, 0.2, 0, -1], [1, 0, 0, 0.5], [-0.6, 2, 1.1, 0]],
    },
    "mask_fates": {
        "tokens": ["[CLS]", "the", "keys", "near", "the", "old", "lamp", "are", "wet", ".", "[SEP]"],
        "words": ["cup", "river", "of", "##ing"],
    },
    "learning_rate": {
        "start": [3, 0],
        "curvature": [1, 300],
        "betas": [0.9, 0.98],
        "epsilon": 1e-6,
        "peak": 0.2,
        "steps": 200,
    },
    "threshold": {
        "probabilities": [0.95, 0.9, 0.7, 0.4, 0.4, 0.1],
        "truths": [True, True, False, True, False, False],
        "label": "<b>keys",
        "tasks": ["Find all."],
    },
    "best_path": {
        "words": ["rose", "wells", "sang"],
        "tags": ["O", "N"],
        "emissions": [[1, 4], [3, 2], [5, 1]],
        "transitions": [[2, 1], [3, 4]],
        "tasks": ["Lower N → N."],
    },
    "span_scores": {
        "tokens": ["Jane", "bought", "a", "lamp", "in", "York"],
        "start": [1, 0, 2, 3, 0, 3.5],
        "end": [1, 0, 0, 4, 1, 1],
        "tasks": ["Make “a lamp” the answer."],
    },
    "way": {"checkpoint": "world-tiny", "text": "A young [MASK] is called a kitten."},
    "stack": {"tokens": 8, "size": 64, "heads": 4, "layers": 12, "deviation": 0.07, "seed": 3},
    "parameters": {
        "presets": {
            name: {
                "num_hidden_layers": layers,
                "hidden_size": size,
                "num_attention_heads": size // 64,
                "intermediate_size": 4 * size,
                "vocab_size": 30522,
                "max_position_embeddings": 512,
                "type_vocab_size": 2,
            }
            for name, layers, size in (("tiny", 2, 128), ("base", 12, 768))
        },
        "start": "base",
    },
    "token_matches": {
        "tokens": ["[CLS]", "trains", "stop", "[PAD]"],
        "products": [[1, 0, 0, 1], [0, 4, 0, 2], [0, 0, 1, 0], [1, 2, 0, 2]],
        "others": [
            {
                "name": "score 5",
                "tokens": ["[CLS]", "no", "train", "##s"],
                "products": [[1, 1, 0, 0], [1, 2, 0, 0], [0, 0, 9, 0], [0, 0, 0, 1]],
                "across": [[1, 1, 0, 0], [0, 0, 6, 0], [0, 1, 0, 0], [1, 1, 3, 0]],
            },
            {
                "name": "score 0",
                "tokens": ["[CLS]", "bread"],
                "products": [[1, 0], [0, 4]],
                "across": [[1, 0], [0, 2], [0, 1], [1, 1]],
            },
        ],
        "tasks": ["Leave out <b>stop</b>."],
    },
    "playground": {
        "checkpoint": "world-tiny",
        "address": {"view": "next", "text": "The capital of Brazil", "masks": "4", "second": "Is it big?"},
    },
}
