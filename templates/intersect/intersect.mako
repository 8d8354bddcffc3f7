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
## bound(name, less)   a function of this name, at file scope: how many elements of an ascending list are less
##                  than x, by "<", or at most, by "<="
##
## common(list, m, a, na, b, nb, bound, &below)
##                  how many elements two stretches of one array of m elements have in common, from
##                  the places a and b on; `below` gets how many of the second are less than `bound`.
##                  After block_functions(offset_t), at file scope, and functions(). Four are loaded
##                  at a time, and every one compared with every other: few long loads
##
## merge            walks both lists; the first part does everything
## path             cuts the merge into `parts` stretches of the same number of steps: O. Green,
##                  R. McColl, D. Bader, "GPU merge path", ICS 2012
## search           looks the elements of the shorter list up in the longer one; on one lane, which
##                  has them one after the other, from where the last was on, by strides that double
<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="bisect" file="/rows/bisect.mako"/>\

<%def name="bound(name, less)">\
// How many elements of an ascending list are ${less} x.
static inline uint ${name}(const __global uint *list, const uint count, const uint x) {
    uint low = 0u, high = count;
    ${bisect.first("low", "high", f"list[middle] {less} x")}
    return low;
}
</%def>

<%def name="functions()">
${bound("lower_bound", "<")}
% if lanes.module.one_lane(context):
// The same from a place on, for an x near it: every element before that is less.
static inline uint lower_bound_from(
    const __global uint *list, const uint count, const uint place, const uint x
) {
    uint low = place, step = 1u;
    while (step <= count - low && list[low + step - 1u] < x) {
        low += step;
        step *= 2u;
    }
    return low + lower_bound(list + low, min(step - 1u, count - low), x);
}

% endif
// Where the merge of two lists crosses a diagonal: elements of `a` among its first `steps`.
static inline uint path_cross(
    const __global uint *a, const uint na, const __global uint *b, const uint nb, const ulong steps
) {
    uint low = steps > nb ? (uint)(steps - nb) : 0u;
    uint high = (uint)min((ulong)na, steps);
    ${bisect.first("low", "high", "a[middle] <= b[steps - 1u - middle]")}
    return low;
}
</%def>

<%def name="block_functions(offset_t)">
#define BLOCK_BELOW(y, x) (((y).s0 < (x)) + ((y).s1 < (x)) + ((y).s2 < (x)) + ((y).s3 < (x)))
// The four elements of a block of `list`, those outside [begin, end) replaced by what equals nothing.
static inline uint4 block_of(
    const __global uint *list, const ${offset_t} m, const ${offset_t} block,
    const ${offset_t} begin, const ${offset_t} end, const uint nothing
) {
    const ${offset_t} at = 4 * block;
    uint4 x;
    if (at + 4 <= m) x = ((const __global uint4 *)list)[block];
    else {
        x.s0 = list[at];
        x.s1 = at + 1 < m ? list[at + 1] : nothing;
        x.s2 = at + 2 < m ? list[at + 2] : nothing;
        x.s3 = nothing;
    }
    const ${offset_t} count = end - begin;
    if (at - begin >= count) x.s0 = nothing;    // also where it is before: the difference wraps
    if (at + 1 - begin >= count) x.s1 = nothing;
    if (at + 2 - begin >= count) x.s2 = nothing;
    if (at + 3 - begin >= count) x.s3 = nothing;
    return x;
}

static inline uint common(
    const __global uint *list, const ${offset_t} m,
    const ${offset_t} a, const uint na, const ${offset_t} b, const uint nb,
    const uint bound, uint *below
) {
    if (na == 0u || nb == 0u) {
        *below = lower_bound(list + b, nb, bound);
        return 0u;
    }
    const ${offset_t} a_end = a + na, b_end = b + nb;
    ${offset_t} i = a / 4, j = b / 4;
    uint4 x = block_of(list, m, i, a, a_end, 0xffffffffu), y = block_of(list, m, j, b, b_end, 0xfffffffeu);
    uint both = 0u, less = BLOCK_BELOW(y, bound);
    for (;;) {
        both += (x.s0 == y.s0) + (x.s0 == y.s1) + (x.s0 == y.s2) + (x.s0 == y.s3);
        both += (x.s1 == y.s0) + (x.s1 == y.s1) + (x.s1 == y.s2) + (x.s1 == y.s3);
        both += (x.s2 == y.s0) + (x.s2 == y.s1) + (x.s2 == y.s2) + (x.s2 == y.s3);
        both += (x.s3 == y.s0) + (x.s3 == y.s1) + (x.s3 == y.s2) + (x.s3 == y.s3);
        // The one whose last element is less has met all that it can; the end is above everything.
        const uint x_last = x.s3, y_last = y.s3;
        if (x_last <= y_last) {
            if (4 * ++i >= a_end) break;
            x = block_of(list, m, i, a, a_end, 0xffffffffu);
        }
        if (y_last <= x_last) {
            if (4 * ++j >= b_end) break;
            y = block_of(list, m, j, b, b_end, 0xfffffffeu);
            less += BLOCK_BELOW(y, bound);
        }
    }
    // What the end of the first stretch left of the second one.
    const ${offset_t} left = 4 * (j + 1);
    if (left < b_end) less += lower_bound(list + left, (uint)(b_end - left), bound);
    *below = less;
    return both;
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
    // Behind the end of one list nothing matches.
    for (ulong step = begin; step < end && i < ${na} && j < ${nb}; ++step) {
        // A match is seen where the element of `a` is taken, wherever the cuts fall.
        if (${a}[i] <= ${b}[j]) {
            if (${a}[i] == ${b}[j]) {
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
% if lanes.module.one_lane(context):
    uint at = 0u;                               // where the element before was, or would be
% endif
    for (uint k = ${part}; k < nfew; k += ${parts}) {
        const uint x = few[k];
% if lanes.module.one_lane(context):
        at = lower_bound_from(many, nmany, at, x);
% else:
        const uint at = lower_bound(many, nmany, x);
% endif
        if (at < nmany && many[at] == x) {
            const uint i = turned ? at : k, j = turned ? k : at;
            ${found(i="i", j="j")}
        }
        INTERSECT_STEP();
    }
}
</%def>
