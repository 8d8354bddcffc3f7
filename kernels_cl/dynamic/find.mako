## find: looking up in rows, and in the sorted keys of a batch.
##
## functions()      at file scope: lower_bound, upper_bound, key_bound
## In scope         offset_t
## Called by        any work-item, in any control flow
## Barriers         none
## Local memory     none

<%namespace name="bisect" file="/rows/bisect.mako"/>\
<%namespace name="sorted" file="/intersect/intersect.mako"/>\

<%def name="functions()">\
${sorted.bound("lower_bound", "<")}
${sorted.bound("upper_bound", "<=")}
// The first key, from `low` on and below `high`, that is not less than `key`; else `high`.
static inline uint key_bound(const __global ulong *keys, uint low, uint high, const ulong key) {
    ${bisect.first("low", "high", "keys[middle] < key")}
    return low;
}
</%def>
