"""Weakly connected components."""
