"""What tests share: small models and runs, made-up rows, references to compare with, hostile inputs.

Nothing here is a test, and no test file imports another: what two of them need moves here.
"""
