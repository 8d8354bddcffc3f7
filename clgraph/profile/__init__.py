"""What kernels do with a device: criteria, a quality metric, and a prediction of their time.

`clgraph.profile` is the function below; the package's modules are imported from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clgraph.device import Device
    from clgraph.profile.quality import Weights
    from clgraph.profile.report import QualityReport
    from clgraph.progress import Progress

__all__ = ["profile"]


def profile(
    target: Any,
    *,
    passes: Iterable[str] | str = "all",
    device: Device | str | None = None,
    weights: Weights | Literal["calibrated"] | None = None,
    lanes: int | None = None,
    repeats: int = 5,
    progress: Progress | None = None,
) -> QualityReport:
    """Profile whatever kernels a callable or a plan launches.

    Parameters
    ----------
    target : callable or plan
        For example ``lambda: plan.run(0)``, or a plan itself; one whose ``run`` needs a source is
        run from the vertex with most out-edges. It is called several times.
    passes : iterable of str or "all"
        Of "plain" (the timeline, always taken), "time" (where and when SIMD groups ran), "sync"
        (waiting at barriers), "counters" (divergence, memory and local memory) and "card" (NVML's
        performance metrics and joules).
    device : Device or str, optional
        Whose launches to profile; default is the device of the first launch.
    weights : Weights or "calibrated", optional
        Of the quality metric; default are those that were published, "calibrated" those that
        `clgraph.profile.corpus.calibrate` kept for the device.
    lanes : int, optional
        Work-items that count as a SIMD group where accesses are traced; default those of the
        device, else at most 32.
    repeats : int
        Plain runs, of whose times the median is taken.
    progress : callable or True, optional
        Called with passes done, passes in all, and what is done.

    Returns
    -------
    QualityReport
        Criteria of each kernel and of the whole run, quality metric, prediction.

    Raises
    ------
    InvalidArgumentError
        If nothing was launched, or by the first run alone, a pass is unknown, or `target` cannot
        be called.
    KernelBuildError
        If an instrumented kernel does not compile.

    Notes
    -----
    Kernels are rewritten after they were rendered and stand for the plain ones while a pass lasts;
    results stay the same, and without a profile nothing is added. A pass that counts takes some ten
    times as long as the run. What a device cannot report is None with the reason. Kernels that race
    may count differently from run to run.

    References
    ----------
    .. [1] N. Bombieri, F. Busato, F. Fummi, "Pro++: a profiling framework for primitive-based GPU
           programming", IEEE Transactions on Emerging Topics in Computing, 2018.
    .. [2] N. Bombieri, F. Busato, F. Fummi, "A fine-grained performance model for GPU
           architectures", DATE 2016.
    """
    from clgraph.profile.running import profile as take  # noqa: PLC0415 - only who profiles pays

    return take(
        target,
        passes=passes,
        device=device,
        weights=weights,
        lanes=lanes,
        repeats=repeats,
        progress=progress,
    )
