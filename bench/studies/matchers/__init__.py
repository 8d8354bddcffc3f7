"""Subgraph matching without a device: in Python, compiled for one core, and beside a device."""
