"""Shortest paths by weight from one vertex."""
