"""Interfaces of other packages, by their own names."""
