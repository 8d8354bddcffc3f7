## intersect: hand each common element of two ascending lists to a body, exactly once.
##
## each_match(way, a, b, na, nb, part, parts)
##                  `way` names a def below; a and b are arrays of uint, na and nb their lengths;
##                  this is work-item `part` of the `parts` that share the intersection
## Body sees        i, j: places in a and in b of the same element
## Called by        any work-item, in any control flow; the elements of a list differ
## Barriers         none
## Local memory     none
##
## merge            walks both lists; the first part does everything
## path             cuts the merge into `parts` stretches of the same number of steps: O. Green,
##                  R. McColl, D. Bader, "GPU merge path", ICS 2012
## search           looks the elements of the shorter list up in the longer one

<%def name="functions()">
// How many elements of an ascending list are less than x.
static inline uint lower_bound(const __global uint *list, const uint count, const uint x) {
    uint low = 0u, high = count;
    while (low < high) {
        const uint middle = low + (high - low) / 2u;
        if (list[middle] < x) low = middle + 1u;
        else high = middle;
    }
    return low;
}

// Where the merge of two lists crosses a diagonal: elements of `a` among its first `steps`.
static inline uint path_cross(
    const __global uint *a, const uint na, const __global uint *b, const uint nb, const ulong steps
) {
    uint low = steps > nb ? (uint)(steps - nb) : 0u;
    uint high = (uint)min((ulong)na, steps);
    while (low < high) {
        const uint middle = low + (high - low) / 2u;
        if (a[middle] <= b[steps - 1u - middle]) low = middle + 1u;
        else high = middle;
    }
    return low;
}
</%def>

<%def name="each_match(way, a, b, na, nb, part, parts)">
${getattr(local, way)(a, b, na, nb, part, parts, caller.body)}
</%def>

<%def name="merge(a, b, na, nb, part, parts, found)">
if (${part} == 0u) {
    uint i = 0u, j = 0u;
    while (i < ${na} && j < ${nb}) {
        const uint x = ${a}[i], y = ${b}[j];
        if (x == y) {
            ${found(i="i", j="j")}
        }
        i += x <= y;
        j += y <= x;
        INTERSECT_STEP();
    }
}
</%def>

<%def name="path(a, b, na, nb, part, parts, found)">
{
    const ulong length = (ulong)${na} + ${nb};
    const ulong begin = length * ${part} / ${parts}, end = length * (${part} + 1u) / ${parts};
    uint i = path_cross(${a}, ${na}, ${b}, ${nb}, begin);
    uint j = (uint)(begin - i);
    for (ulong step = begin; step < end; ++step) {
        // A match is seen where the element of `a` is taken, wherever the cuts fall.
        if (i < ${na} && (j >= ${nb} || ${a}[i] <= ${b}[j])) {
            if (j < ${nb} && ${a}[i] == ${b}[j]) {
                ${found(i="i", j="j")}
            }
            ++i;
        } else ++j;
        INTERSECT_STEP();
    }
}
</%def>

<%def name="search(a, b, na, nb, part, parts, found)">
{
    const int turned = ${na} > ${nb};
    const __global uint *few = turned ? ${b} : ${a}, *many = turned ? ${a} : ${b};
    const uint nfew = turned ? ${nb} : ${na}, nmany = turned ? ${na} : ${nb};
    for (uint k = ${part}; k < nfew; k += ${parts}) {
        const uint x = few[k];
        const uint at = lower_bound(many, nmany, x);
        if (at < nmany && many[at] == x) {
            const uint i = turned ? at : k, j = turned ? k : at;
            ${found(i="i", j="j")}
        }
        INTERSECT_STEP();
    }
}
</%def>
