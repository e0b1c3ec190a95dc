"""Damaged files, rows, requests and commands, and the oracle that says how each must be answered."""
