"""Which load balancer the criteria of the simplest one point to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clgraph.profile.criteria import Criterion

__all__ = ["Suggestion", "suggested_balancer"]

EVEN = 0.99
ROWS_DIFFER = 0.35


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A balancer, and what spoke for it; None where nothing was known."""

    balancer: str | None
    reason: str


def suggested_balancer(criteria: Mapping[str, Criterion]) -> Suggestion:
    """Choose a load balancer by how work-items fare that take one item each.

    Parameters
    ----------
    criteria : mapping of str to Criterion
        Of a profile of ``balance="item_thread"``, or of any kernel that maps an item to a
        work-item.

    Returns
    -------
    Suggestion
        "item_thread" where lanes hardly ever wait for each other; "cws", which gives the longest
        items to whole work-groups, where most lanes idle; else "warp_search", which shares out the
        items of a SIMD group among its lanes.

    Notes
    -----
    Divergence decides, or how few lanes take part in a request to memory where that is less. Where
    SIMD groups have unlike work too (LB_W), the border moves up: longest items hold whole SIMD
    groups then. The borders are those that give the recorded best of three graphs on an H200.
    """
    criterion = criteria.get("TDiv")
    if criterion is None or criterion.value is None:
        return Suggestion(None, "TDiv is not known" if criterion is None else criterion.reason)
    # SIMD groups that found nothing to do count as much as others in the mean of all, and loops
    # that lanes go through together hide that few of them have an item left.
    known = (criterion.inputs.get(name) for name in ("issue_weighted", "lane_use"))
    divergence = min(
        (float(value) for value in known if value is not None), default=criterion.value
    )
    balance = criteria["LB_W"].value if "LB_W" in criteria else None
    border = ROWS_DIFFER * (2.0 - (1.0 if balance is None else balance))
    if divergence >= EVEN:
        return Suggestion("item_thread", f"TDiv is {divergence:.2f}: items are alike")
    if divergence < border:
        return Suggestion("cws", f"TDiv is {divergence:.2f}: a few items are far longer")
    return Suggestion("warp_search", f"TDiv is {divergence:.2f}: items differ within a SIMD group")
