"""Graphs that change in batches, and what is kept up to date with them."""
