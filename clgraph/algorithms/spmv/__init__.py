"""A sparse matrix times a vector."""
