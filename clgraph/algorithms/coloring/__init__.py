"""Greedy colouring."""
