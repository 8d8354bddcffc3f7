"""Minimum spanning forests."""
