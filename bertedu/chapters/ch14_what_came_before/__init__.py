"""Chapter 14: word2vec, GloVe, fastText, ELMo and GPT, built and compared."""
