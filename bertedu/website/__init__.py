"""The website: what Sphinx needs, made from the stored notebooks and from the pages of the repository.

`make site` is `python -m bertedu.website`. Nothing is executed, and nothing is written twice: each page here is made
from the file that says it first.
"""
