"""Programs that answered one question each; their records are kept."""

from pathlib import Path

__all__ = ["KERNELS"]

KERNELS = Path(__file__).with_name("kernels")  # of studies alone
