"""Graphs from tables, and results as tables, by the names of vertices."""
