"""Approximate subgraph matching: where a small labelled graph occurs, or nearly so."""
