## tally: of each row of a list the sum of values by key, and the key that scores best.
##
## Keys are numbers below `keys`; sums of uint or, as `sum_t`, of ulong. All work-items of a unit
## serve a row together: a thread, a work-item, a SIMD group or a work-group. A table holds twice the
## keys that a row can have, so probing ends.
##
## declarations()          at file scope, after the lane vocabulary and /grid/group.mako
## parameters()            lead those of a kernel: what Tally.arguments of a launch gives
## setup()                 a kernel's first statements, after lanes.setup()
## storage(kinds), use(kind)  instead, where rows of several kinds are served one after the other: the
##                         first as setup(), the other in a block of its own for each, with a barrier
##                         of the group between two; what follows then takes the kind too
## each_row(count)         body sees `row_slot`, 0 .. count - 1, the same for a unit
## clear(length)           before a row of so many entries; the loop over them goes from UNIT_ITEM by
##                         UNIT_ITEMS, and calls
## add(key, value)         which counts a value; zeros are left out
## finish()                after the loop
## What scores best then is in best.mako.
## In scope      tally, a kind: unit ("thread", "item", "lanes", "group"), slots (of a table in local
##               memory; 0: in global memory), wide (sums of 64 bits), group_size, lanes
## Called by     all work-items of a launch; row loops are uniform for a unit
## Barriers      of the unit
## Local memory  slots * (4 + size of a sum) for each unit
## Choice        Tally.parameters; one work-item that is a thread has a sum for every key instead

<%namespace name="lane_scan" file="/group/lane_scan.mako"/>

<%def name="declarations()">\
${lane_scan.functions("highest", "long", "LONG_MIN", "max(a, b)")}
% if tally["wide"]:
typedef ulong sum_t;
% else:
typedef uint sum_t;
% endif
#define NO_KEY 0xffffffffu
#define TALLY_SLOT(key, mask) (((key) * 0x9E3779B1u >> 8) & (mask))

% for space in ("local", "global"):
// Sums of several work-items; the carry of wide ones is counted once, by whoever caused it.
static inline void sum_add_${space}(volatile __${space} sum_t *p, const sum_t x) {
% if tally["wide"]:
    volatile __${space} uint *const halves = (volatile __${space} uint *)p;
    const uint low = (uint)x, before = low ? atomic_add(halves, low) : 0u;
    const uint high = (uint)(x >> 32) + (low && before + low < low ? 1u : 0u);
    if (high) atomic_add(halves + 1, high);
% else:
    atomic_add(p, x);
% endif
}

% endfor
</%def>

<%def name="parameters()">\
    __global uint *tally_keys,                  // tables in global memory
    __global sum_t *tally_sums,
    const uint tally_slots,                     // of each of them
    volatile __global uint *row_claims,         // in/out: how many rows threads have taken
    const uint row_claim,                       // which of these words, 0 on entry
</%def>

<%def name="setup()">\
${storage([tally])}
${use(tally)}
</%def>

<%def name="storage(kinds)">\
<%
    units = {"item": lambda kind: kind["group_size"], "lanes": lambda kind: kind["group_size"] // kind["lanes"]}
    slots = max(kind["slots"] * units.get(kind["unit"], lambda kind: 1)(kind) for kind in kinds)
    grouped = any(kind["unit"] == "group" and kind["group_size"] > kind["lanes"] for kind in kinds)
%>\
% if slots:
    __local uint local_keys[${slots}];
    __local sum_t local_sums[${slots}];
% endif
% if grouped:
    __local long group_scores[GROUP_LANES];
    __local uint group_orders[GROUP_LANES], group_keys[GROUP_LANES];
% endif
</%def>

<%def name="use(kind)">\
#undef UNIT
#undef UNITS
#undef UNIT_ITEM
#undef UNIT_ITEMS
#undef unit_barrier
% if kind["unit"] == "group":
#define UNIT 0u
#define UNITS 1u
#define UNIT_ITEM ((uint)get_local_id(0))
#define UNIT_ITEMS GROUP_SIZE
#define unit_barrier() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
% elif kind["unit"] == "lanes":
#define UNIT ((uint)get_local_id(0) / LANES)
#define UNITS GROUP_LANES
#define UNIT_ITEM lane_id()
#define UNIT_ITEMS LANES
#define unit_barrier() lane_converge()
% else:
#define UNIT ((uint)get_local_id(0))
#define UNITS GROUP_SIZE
#define UNIT_ITEM 0u
#define UNIT_ITEMS 1u
#define unit_barrier()
% endif
% if kind["unit"] == "thread":
    __global uint *const keys = tally_keys + (size_t)get_global_id(0) * tally_slots;
    __global sum_t *const sums = tally_sums + (size_t)get_global_id(0) * tally_slots;
    uint key_count = 0u;
% elif kind["unit"] == "item":
    __local uint *const keys = local_keys + get_local_id(0);
    __local sum_t *const sums = local_sums + get_local_id(0);
    uint key_count = 0u;
% elif kind["slots"]:
    volatile __local uint *const keys = local_keys + UNIT * ${kind["slots"]}u;
    volatile __local sum_t *const sums = local_sums + UNIT * ${kind["slots"]}u;
    uint key_mask = 0u;
% else:
    const size_t table = (get_group_id(0) * UNITS + UNIT) * (size_t)tally_slots;
    volatile __global uint *const keys = tally_keys + table;
    volatile __global sum_t *const sums = tally_sums + table;
    uint key_mask = 0u;
% endif
</%def>

<%def name="each_row(count, kind=None)">
<% kind = kind or tally %>\
% if kind["unit"] == "thread":
// Threads take what comes next: rows differ in length.
for (;;) {
    const uint share_begin = atomic_add(row_claims + row_claim, ${kind["claim"]}u);
    if (share_begin >= (${count})) break;
    const uint share_end = min(share_begin + ${kind["claim"]}u, (uint)(${count}));
    for (uint row_slot = share_begin; row_slot < share_end; ++row_slot) {
        ${caller.body()}
    }
}
% else:
for (uint row_slot = (uint)get_group_id(0) * UNITS + UNIT; row_slot < (${count}); row_slot += (uint)get_num_groups(0) * UNITS) {
    ${caller.body()}
}
% endif
</%def>

<%def name="clear(length, kind=None)">
<% kind = kind or tally %>\
% if kind["unit"] in ("thread", "item"):
key_count = 0u;
% else:
// A power of two above twice the length, or all there is.
key_mask = min(0xffffffffu >> clz(2u * (${length}) | 1u), ${f"{kind['slots']}u" if kind["slots"] else "tally_slots"} - 1u);
for (uint i = UNIT_ITEM; i <= key_mask; i += UNIT_ITEMS) {
    keys[i] = NO_KEY;
    sums[i] = 0;
}
unit_barrier();
% endif
</%def>

<%def name="add(key, value, kind=None)">
<% kind = kind or tally %>\
{
    const uint new_key = ${key};
    const sum_t new_value = ${value};
% if kind["unit"] == "thread":
    // Whether a key is new is a guess, and a wrong one takes longer than a key written in vain.
    const sum_t known = sums[new_key];
    keys[key_count] = new_key;
    key_count += (known == 0) & (new_value != 0);
    sums[new_key] = known + new_value;
% elif kind["unit"] == "item":
    if (new_value != 0) {
        uint at = 0u;
        while (at < key_count && keys[at * GROUP_SIZE] != new_key) ++at;
        if (at == key_count) {
            keys[at * GROUP_SIZE] = new_key;
            sums[at * GROUP_SIZE] = new_value;
            ++key_count;
        } else sums[at * GROUP_SIZE] += new_value;
    }
% else:
    if (new_value != 0) {
        uint at = TALLY_SLOT(new_key, key_mask);
        for (;;) {
            uint met = keys[at];
            if (met == NO_KEY) met = atomic_cmpxchg(&keys[at], NO_KEY, new_key);
            if (met == NO_KEY || met == new_key) break;
            at = (at + 1u) & key_mask;
        }
        sum_add_${"local" if kind["slots"] else "global"}(&sums[at], new_value);
    }
% endif
}
</%def>

<%def name="finish()">
unit_barrier();
</%def>
