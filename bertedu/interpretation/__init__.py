"""Looking inside a BERT: numbers that say what its heads, vectors and inputs do. Walked through in notebook 09."""
