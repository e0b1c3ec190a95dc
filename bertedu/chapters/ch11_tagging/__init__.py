"""Chapter 11: a label for each token: names, parts of speech, and a CRF."""
