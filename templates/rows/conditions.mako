## conditions: which of several conditions on the same columns of a few rows fail in a range of them.
##
## vocabulary(kind, width, places)   at file scope, after lanes.vocabulary(): the types below, and
##                          FAILED(x), whether the vector x of outcomes has one that is not zero
## failing(rows, begin, end, wanted, bits, count, places)   a statement that sets bit k of `bits` for
##                          every k below `count` that is wanted and whose condition fails somewhere
## sweep(rows, stride, begin, end, entries, failed, tuples, places, count)   a statement that tries
##                          `tuples` tuples of rows on vectors [begin, end) and sets, atomically, bit k
##                          of failed[e] where condition k of tuple e is wanted and fails there;
##                          entries(e), a macro, is its uint4: the places of its rows, then what is wanted
## Body              holds(k): the C expression of condition k, of type TRUTHS, over the names x, y, z
##                   of as many rows as `places` says; ones where it holds, zeros where it fails
## In scope          rows: names of pointers to VALUES, each to a row's first vector
## Called by         sweep: every work-item of the group, with the same arguments, after
##                   memory.vocabulary()
##                   failing: every work-item of the group; begin, end and wanted are the same for the
##                   lanes of a SIMD group. A work-item takes every GROUP_SIZE-th vector, so `bits` is
##                   its own part of the answer
## Barriers          none
## Local memory      none
## Choice            one lane takes condition after condition, with the outcomes kept as a vector, so
##                   that its loops are what compilers make SIMD code of; several lanes read every
##                   vector once for all conditions. In a sweep the lanes each fetch the entry of one
##                   tuple and give it to the others, since a look-up for every tuple is what takes the
##                   time; and what a tuple shares with the one before stays in registers
##
## VALUES, TRUTHS    `width` numbers and their outcomes, all ones or all zeros each, where kind is
##                   "numeric"; where it is "boolean" both are words of which every bit is a value

<%namespace name="lanes" file="/lanes/lanes.mako"/>

<%def name="vocabulary(kind, width)">\
#define VALUES ${"float" if kind == "numeric" else "uint"}${width}
#define TRUTHS ${"int" if kind == "numeric" else "uint"}${width}
#define FAILED(x) ${"any(x)" if kind == "numeric" else "any((x) != (TRUTHS)(0))"}
</%def>

<%def name="load(rows, at)">
% for name, row in zip("xyz", rows):
const VALUES ${name} = ${row}[${at}];
% endfor
</%def>

<%def name="failing(rows, begin, end, wanted, bits, count)">
${each_vector(rows, begin, end, wanted, bits, count, caller.holds)}
</%def>

<%def name="check(wanted, bits, count, holds)">
% for k in range(count):
if (${wanted} & ${1 << k}u) ${bits} |= FAILED(~(${capture(holds, k).strip()})) ? ${1 << k}u : 0u;
% endfor
</%def>

<%def name="each_vector(rows, begin, end, wanted, bits, count, holds)">
% if lanes.module.one_lane(context):
% for k in range(count):
if (${wanted} & ${1 << k}u) {
    TRUTHS failed_somewhere = (TRUTHS)(0);
    for (ulong at = ${begin}; at < ${end}; ++at) {
        ${load(rows, "at")}
        failed_somewhere |= ~(${capture(holds, k).strip()});
    }
    if (FAILED(failed_somewhere)) ${bits} |= ${1 << k}u;
}
% endfor
% else:
for (ulong at = ${begin} + get_local_id(0); at < ${end}; at += GROUP_SIZE) {
    ${load(rows, "at")}
    ${check(wanted, bits, count, holds)}
}
% endif
</%def>

<%def name="sweep(rows, stride, begin, end, entries, failed, tuples, places, count)">
% if lanes.module.one_lane(context):
for (uint e = 0; e < ${tuples}; ++e) {
    const uint4 entry = ${entries}(e);
    const uint wanted = entry.w & ~load_relaxed(${failed} + e);
    if (wanted == 0) continue;
% for component in "xyz"[:places]:
    const __global VALUES *restrict row_${component} = ${rows} + entry.${component} * ${stride};
% endfor
    uint bits = 0;
    ${each_vector([f"row_{component}" for component in "xyz"[:places]], begin, end, "wanted", "bits", count, caller.holds)}
    if (bits) atomic_or(${failed} + e, bits);
}
% else:
for (ulong first = ${begin}; first < ${end}; first += GROUP_SIZE) {
    // A work-item beyond the end takes the last vector once more, which changes nothing.
    const ulong at = min(first + get_local_id(0), ${end} - 1);
    uint4 held = (uint4)(UINT_MAX);
% for component in "xyz"[:places]:
    VALUES ${component} = (VALUES)(0);
% endfor
    for (uint begun = 0; begun < ${tuples}; begun += LANES) {
        const uint mine = begun + lane_id();
        uint4 own = (uint4)(0);
        if (mine < ${tuples}) {
            own = ${entries}(mine);
            own.w &= ~load_relaxed(${failed} + mine);
        }
        const uint together = min(LANES, ${tuples} - begun);
        for (uint turn = 0; turn < together; ++turn) {
            const uint wanted = lane_broadcast(own.w, turn);
            if (wanted == 0) continue;
% for component in "xyz"[:places]:
            const uint place_${component} = lane_broadcast(own.${component}, turn);
            if (place_${component} != held.${component}) {
                held.${component} = place_${component};
                ${component} = ${rows}[place_${component} * ${stride} + at];
            }
% endfor
            uint bits = 0;
            ${check("wanted", "bits", count, caller.holds)}
            if (lane_any(bits != 0)) {
                const uint all = lane_reduce_or(bits);
                if (lane_id() == 0) atomic_or(${failed} + begun + turn, all);
            }
        }
    }
}
% endif
</%def>
