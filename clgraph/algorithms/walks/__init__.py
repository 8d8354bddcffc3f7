"""Random walks."""
