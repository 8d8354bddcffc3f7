"""Scores of vertices: what they get from their neighbours, or from paths through them."""
