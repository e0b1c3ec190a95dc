"""Chapter 04: the layer that BERT-Base repeats twelve times, and the stack of them."""
