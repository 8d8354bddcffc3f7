"""Triangles: how many, of which vertex, of which edge, and which they are."""
