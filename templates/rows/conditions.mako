## conditions: which of several conditions on the same columns of a few rows fail in a range of them.
##
## vocabulary(kind, width, places)   at file scope, after lanes.vocabulary(): the types below, and
##                          FAILED(x), whether the vector x of outcomes has one that is not zero
## failing(rows, begin, end, wanted, bits, count, places)   a statement that sets bit k of `bits` for
##                          every k below `count` that is wanted and whose condition fails somewhere
## Body              holds(k): the C expression of condition k, of type TRUTHS, over the names x, y, z
##                   of as many rows as `places` says; ones where it holds, zeros where it fails
## In scope          traits; rows: names of pointers to VALUES, each to a row's first vector
## Called by         failing: every work-item of the group; begin, end and wanted are the same for the
##                   lanes of a SIMD group. A work-item takes every GROUP_SIZE-th vector, so `bits` is
##                   its own part of the answer
## Barriers          none
## Local memory      none
## Choice            one lane takes condition after condition, with the outcomes kept as a vector, so
##                   that its loops are what compilers make SIMD code of; several lanes read every
##                   vector once for all conditions
##
## VALUES, TRUTHS    `width` numbers and their outcomes, all ones or all zeros each, where kind is
##                   "numeric"; where it is "boolean" both are words of which every bit is a value

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
% if traits.lanes == 1:
% for k in range(count):
if (${wanted} & ${1 << k}u) {
    TRUTHS failed_somewhere = (TRUTHS)(0);
    for (ulong at = ${begin}; at < ${end}; ++at) {
        ${load(rows, "at")}
        failed_somewhere |= ~(${caller.holds(k)});
    }
    if (FAILED(failed_somewhere)) ${bits} |= ${1 << k}u;
}
% endfor
% else:
for (ulong at = ${begin} + get_local_id(0); at < ${end}; at += GROUP_SIZE) {
    ${load(rows, "at")}
% for k in range(count):
    if (${wanted} & ${1 << k}u) ${bits} |= FAILED(~(${caller.holds(k)})) ? ${1 << k}u : 0u;
% endfor
}
% endif
</%def>
