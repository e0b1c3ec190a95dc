"""What came before BERT, each in a file of its own: word2vec, GloVe, fastText, ELMo, GPT.

The first three give each word one vector, whatever sentence it stands in. ELMo and GPT read the sentence: ELMo with two
LSTM language models, one from each side, GPT with a Transformer that sees only what stands to the left. All of them
read whole words here, the tokens of one vocabulary (`words.py`), so that they differ in nothing but the model.
"""
