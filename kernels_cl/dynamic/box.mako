## box: what a work-group does with the keys of a box: which are wanted, the rows they change, blocks for
## these, and their entries' way there.
##
## functions()      at file scope
## wanted, changes, blocks, move, join    one after the other; they declare what the next ones use
## move_long        the rows that these have left to all
## counts           those of the next batch, and what the host is told of this one; of one work-group
## In scope         update.cl's arguments and local arrays, lid, b, keys sorted, `given` of them
## Called by        all work-items, in uniform control flow
## Barriers         several; none is needed between the parts
## Local memory     none but update.cl's

<%namespace name="bisect" file="/rows/bisect.mako"/>

<%def name="functions()">\
// A row that a batch changes.
typedef struct { uint vertex, length, old_class, spot; offset_t old_place, new_place; } row_t;

// How many of the keys [begin, end) are of targets below x.
static inline uint targets_below(
    const __local ulong *keys, uint begin, const uint end, const uint x, const uint place_bits, const uint bits
) {
    uint low = begin, high = end;
    ${bisect.first("low", "high", "TARGET(keys[middle]) < x")}
    return low - begin;
}

// The last of several ascending numbers that is not above x; the first is not.
static inline uint last_upto(const __local ${offset} *list, uint low, uint high, const offset_t x) {
    ${bisect.last("low", "high", "list[middle] <= x")}
    return low;
}
</%def>

## Keeps the wanted keys, in place: none moves up.
<%def name="wanted()">
uint kept = 0u, here;
for (uint tile = 0u; tile < given; tile += GROUP_SIZE) {
    const uint i = tile + lid;
    uint flag = 0u, at = 0u;
    ulong key = 0ul;
    if (i < given) {
        key = keys[i];
        if (i == 0u || keys[i - 1u] >> place_bits != key >> place_bits) {
            const uint u = b * span + SOURCE(key), v = TARGET(key);
            // Both at once, so that neither waits for the other.
            const offset_t begin = pointer[u];
            const uint length = used[u];
            const __global uint *row = indices + (length ? begin : 0u);
            at = lower_bound(row, length, v);
            const uint found = at < length && row[at] == v;
            flag = found != joins;
            const uint counts = !both || u <= v;
            different += counts;
            wanted += flag && counts;
            looked += 33u - clz(length);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint before = kept + group_scan_exclusive_add(flag, &here);
    if (flag) {
        keys[before] = key;
        place[before] = at;
    }
    kept += here;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}
</%def>

<%def name="changes()">
uint count_rows = 0u;
for (uint tile = 0u; tile < kept; tile += GROUP_SIZE) {
    const uint i = tile + lid;
    const uint head = i < kept && (i == 0u || SOURCE(keys[i - 1u]) != SOURCE(keys[i]));
    const uint before = count_rows + group_scan_exclusive_add(head, &here);
    if (head) begins[before] = i;
    count_rows += here;
}
for (uint c = lid; c < CLASSES; c += GROUP_SIZE) wanted_blocks[c] = given_blocks[c] = 0u;
if (lid == 0u) {
    begins[count_rows] = kept;
    short_of = 0u;
    any_long = 0u;
    shares[b] = (uint2)(share, count_rows);
}
barrier(CLK_LOCAL_MEM_FENCE);
offset_t total = 0u, inside;
for (uint tile = 0u; tile < count_rows; tile += GROUP_SIZE) {
    const uint j = tile + lid;
    uint length = 0u;
    if (j < count_rows) {
        const uint change = begins[j + 1u] - begins[j];
        row_t row;
        row.vertex = b * span + SOURCE(keys[begins[j]]);
        length = used[row.vertex];
        row.length = joins ? length + change : length - change;
        row.old_class = class_of(length, LEAST, block_bits);
        row.old_place = pointer[row.vertex];
        row.spot = row.old_class ? atomic_inc(&given_blocks[row.old_class]) : 0u;
        const uint c = class_of(row.length, LEAST, block_bits);
        row.new_place = c ? atomic_inc(&wanted_blocks[c]) : 0u;
        mine[j] = row;
        if (length > LONG_ROW) {
            any_long = 1u;
            length = 0u;
        }
    }
    const offset_t before = total + group_scan_exclusive_${"add" if offset == "uint" else "place"}((offset_t)length, &inside);
    if (j < count_rows) sums[j] = before;
    total += inside;
}
barrier(CLK_LOCAL_MEM_FENCE);
</%def>

## Sets `lacking` where there are too few.
<%def name="blocks()">
// Blocks for all of them; where the lists are taken from, and continued, for this group is kept instead
// of the counts, so that what was loaded for it is not loaded again.
for (uint c = 1u + lid; c < CLASSES; c += GROUP_SIZE) {
    const uint needed = wanted_blocks[c], left = given_blocks[c];
    const uint top = load_relaxed(SPOT(parity, TOPS + c));
    uint first = 0u, spot = 0u;
    if (needed) first = atomic_add(SPOT(parity, TAKEN + c), needed);
    if (left) spot = atomic_add(SPOT(parity, GIVEN + c), left);
    if (first + needed > top || top + spot + left > lists[CLASSES + c]) short_of = 1u;
    wanted_blocks[c] = lists[c] + top - 1u - first;
    given_blocks[c] = spot;
}
barrier(CLK_LOCAL_MEM_FENCE);
const int lacking = short_of != 0u;
if (lacking && lid == 0u) atomic_or(SPOT(parity, LACKING), 1u);
arcs += lid == 0u ? kept : 0u;
if (!lacking) {
    for (uint j = lid; j < count_rows; j += GROUP_SIZE) {
        const uint c = class_of(mine[j].length, LEAST, block_bits);
        mine[j].spot += given_blocks[mine[j].old_class];
        mine[j].new_place = c ? free_blocks[wanted_blocks[c] - (uint)mine[j].new_place] : NOWHERE;
        if (any_long) {
            const uint change = begins[j + 1u] - begins[j];
            const uint here_now = joins ? mine[j].length - change : mine[j].length + change;
            if (here_now > LONG_ROW) {
                const uint parts = (here_now + PIECE - 1u) / PIECE;
                // Rows above pieces, so that rows are listed in the order of their pieces.
                const ulong listed =
                    atom_add((volatile __global ulong *)SPOT(parity, LONG), 1ul << 32 | parts);
                long_rows[listed >> 32] = (uint4)(share + j, b * stride + begins[j], change, (uint)listed);
                atom_add((volatile __global ulong *)SPOT(parity, MOVED), (ulong)here_now);
            }
        }
    }
    // What the keys were taken from is nobody else's.
    for (uint i = lid; any_long && i < kept; i += GROUP_SIZE) boxed[(ulong)b * stride + i] = keys[i];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
}
</%def>

<%def name="move()">
${entries("mine", "0u", "total", "count_rows")}
</%def>

## A lane asks for several entries before it looks at the first: a work-group takes as long as its loads
## wait for each other.
<%def name="entries(mine, first, end, count_rows)">
// Every SIMD group moves as many entries as any other.
const offset_t part = ((${end} - ${first} + GROUP_SIZE - 1u) / GROUP_SIZE) * LANES;
const offset_t from = min(${first} + part * (lid / LANES), ${end}), upto = min(from + part, ${end});
uint low = 0u, high = ${count_rows};
if (from < upto) {
    low = last_upto(sums, 0u, ${count_rows}, from);
    high = last_upto(sums, low, ${count_rows}, upto - 1u) + 1u;
}
for (offset_t unit = from + lane_id(); unit < upto; unit += ${at_once}u * LANES) {
% for s in range(at_once):
    uint j${s} = low, i${s} = 0u, x${s} = 0u;
    offset_t source${s} = 0u;
    const int there${s} = unit + ${s}u * LANES < upto;
    if (there${s}) {
        j${s} = last_upto(sums, low, high, unit + ${s}u * LANES);
        i${s} = (uint)(unit + ${s}u * LANES - sums[j${s}]);
        source${s} = ${mine}[j${s}].old_place + i${s};
        x${s} = indices[source${s}];
    }
% endfor
% for s in range(at_once):
    if (there${s}) {
        const uint first = begins[j${s}], end = begins[j${s} + 1u];
        const uint below = targets_below(keys, first, end, x${s}, place_bits, bits);
        if (joins || first + below >= end || TARGET(keys[first + below]) != x${s}) {
            const offset_t target = ${mine}[j${s}].new_place + (joins ? i${s} + below : i${s} - below);
            indices[target] = x${s};
% for i in range(len(fields)):
            field${i}[target] = field${i}[source${s}];
% endfor
        }
    }
% endfor
}
</%def>

<%def name="move_long()">
const uint listed = load_relaxed(SPOT(parity, LONG + 1u));
for (uint piece = (uint)get_group_id(0); piece < moving; piece += (uint)get_num_groups(0)) {
    uint row_low = 0u, row_high = listed;
    ${bisect.last("row_low", "row_high", "long_rows[middle].w <= piece")}
    const uint4 of = long_rows[row_low];
    __global row_t *const row = rows + of.x;
    const offset_t piece_first = (offset_t)(piece - of.w) * PIECE;
    const offset_t piece_end = min(piece_first + PIECE, (offset_t)used[row->vertex]);
    barrier(CLK_LOCAL_MEM_FENCE);  // another piece's keys may still be looked at
    for (uint i = lid; i < of.z; i += GROUP_SIZE) keys[i] = boxed[of.y + i];
    if (lid == 0u) {
        begins[0] = 0u;
        begins[1] = of.z;
        sums[0] = 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    ${entries("row", "piece_first", "piece_end", "1u")}
}
</%def>

<%def name="counts()">
for (uint k = lid; k < SLOT_WORDS; k += GROUP_SIZE) {
    uint x = 0u;
    if (k >= TOPS && k < TOPS + CLASSES) {
        x = load_relaxed(SPOT(parity, k));
        if (done) x += load_relaxed(SPOT(parity, GIVEN + k - TOPS)) - load_relaxed(SPOT(parity, TAKEN + k - TOPS));
% if posts:
        posted[POST_TOPS + k - TOPS] = x;
% endif
    }
    store_relaxed(SPOT(1u - parity, k), x);
% if posts:
    if (k < COUNTS) posted[k] = k == DONE ? (done ? DONE_CHANGED : DONE_REFUSED) : load_relaxed(SPOT(parity, k));
% endif
}
if (lid == 0u) store_relaxed(SPOT(parity, DONE), done ? DONE_CHANGED : DONE_REFUSED);
% if posts:
barrier(CLK_GLOBAL_MEM_FENCE);
if (lid == 0u) {
    posted[POST_BEGAN] = began;
    posted[POST_ENDED] = device_clock_ns();
    store_release_system(posted + POST_STAMP, what);
}
% endif
</%def>

<%def name="join()">
for (uint k = lid; k < kept; k += GROUP_SIZE) {
    uint low_row = 0u, high_row = count_rows;
    ${bisect.last("low_row", "high_row", "begins[middle] <= k")}
    const offset_t target = mine[low_row].new_place + place[k] + (k - begins[low_row]);
    indices[target] = TARGET(keys[k]);
% if fields:
    const uint nth = (uint)(keys[k] & ((1ul << place_bits) - 1ul)) >> both;
% endif
% for i in range(len(fields)):
    field${i}[target] = value${i}[nth];
% endfor
}
</%def>
