"""Portable graph analytics on GPUs through OpenCL, with the joules it cost."""
