"""What the passes of a profile launch in the place of plain kernels, and what they find."""
