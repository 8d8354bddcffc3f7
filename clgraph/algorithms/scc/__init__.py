"""Strongly connected components."""
