"""BERT in plain JavaScript, and the pages that run it: no framework, nothing fetched."""
