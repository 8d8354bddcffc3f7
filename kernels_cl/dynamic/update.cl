<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/group/group.mako"/>\
<%namespace name="memory" file="/memory/memory.mako"/>\
<%namespace name="barrier" file="/grid/barrier.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="sorting" file="/group/sort.mako"/>\
<%namespace name="find" file="/dynamic/find.mako"/>\
// A batch of edges in one launch: keys go to boxes by ranges of rows; a work-group sorts a box, looks its
// edges up, takes blocks and writes the rows that change there; at last the graph refers to these.
//
// The stages are launches of their own where work-groups cannot wait for each other. What the graph
// consists of is not written before the last stage, and that one can be repeated.
//
// Races: counters are added to; keys come to a box in any order and differ, so that sorting restores it;
// which of the free blocks a row gets depends on who asks first, what it holds does not.
${lanes.vocabulary()}
${group.vocabulary(group_size)}
${group.named("add", "uint")}
% if offset != "uint":
<%group:operator name="place" type="${offset}" identity="0ul" args="a, b">${a} + ${b}</%group:operator>
% endif
${memory.vocabulary()}
${barrier.vocabulary()}
typedef ${offset} offset_t;
${find.functions()}
% for name, value in words.items():
#define ${name} ${value}u
% endfor
#define BOX ${box}u         // most keys of a box
#define NOWHERE (~(offset_t)0)
#define SPOT(p, k) (control + (p) * SLOT_WORDS + (k))
#define HEAD(key) ((uint)((key) >> place_bits & ((1ul << bits) - 1ul)))
#define TAIL(key) ((uint)((key) >> (place_bits + bits)))    // counted from the box' first row

// A row that a batch changes.
typedef struct { uint vertex, length, old_class, spot; offset_t old_place, new_place; } row_t;

static inline uint class_of(const uint length) {
    return length == 0u ? 0u : max(${least}u, length == 1u ? 0u : 32u - clz(length - 1u)) + 1u;
}

// How many of the keys [begin, end) are of heads below x.
static inline uint heads_below(
    const __local ulong *keys, uint begin, const uint end, const uint x, const uint place_bits, const uint bits
) {
    uint low = begin, high = end;
    while (low < high) {
        const uint middle = low + (high - low) / 2u;
        if (HEAD(keys[middle]) < x) low = middle + 1u;
        else high = middle;
    }
    return low - begin;
}

// The last of several ascending numbers that is not above x; the first is not.
static inline uint last_upto(const __local ${offset} *list, uint low, uint high, const offset_t x) {
    while (high - low > 1u) {
        const uint middle = low + (high - low) / 2u;
        if (list[middle] <= x) low = middle;
        else high = middle;
    }
    return low;
}

__kernel LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${group_size}, 1, 1)))
void update_rows(
    const uint stages,                          // bits 0 to 2: which of the three
    const uint spin_limit,                      // polls before the barrier gives up
    volatile __global uint *control,            // counts of this batch and of the next; the barrier's words
    const uint parity,                          // which of the two is this batch'
    __global const uint *restrict src,          // [count]
    __global const uint *restrict dst,          // [count]
    const uint count,
    const uint n,
    const uint bits,                            // of a head
    const uint place_bits,                      // of a key's number in the batch
    const uint both,                            // whether each edge stands for both directions
    const uint joins,                           // 1: edges that are not there join; 0: those there leave
    const uint span,                            // rows of a box
    const uint boxes,
    const uint stride,                          // keys that a box has room for
    __global uint *filled,                      // [boxes] in/out, 0 on entry
    __global ulong *boxed,                      // [boxes * stride] out
    __global uint2 *shares,                     // [boxes] out: where the rows of a box are listed, how many
    __global row_t *rows,                       // [keys] out
    __global uint *places,                      // [keys] out: where in their rows edges belong
    __global offset_t *free_blocks,             // by class, [room] each
    __global const uint *restrict lists,        // [2 * CLASSES] where each begins; its room
    __global offset_t *pointer,                 // [n] in/out
    __global uint *used,                        // [n] in/out
% for i, kind in enumerate(fields):
    __global const ${kind} *restrict value${i}, // by edge of the batch
    __global ${kind} *field${i},                // in/out
% endfor
    __global uint *heads)                       // in/out
{
    ${lanes.setup()}\
    ${group.setup()}\
    ${barrier.setup()}\
    __local ulong keys[BOX];
    __local uint begins[BOX + 1u];          // keys of each row
    __local offset_t sums[BOX + 1u];        // entries of the rows before
    __local uint wanted_blocks[CLASSES], given_blocks[CLASSES];
    __local uint short_of;
    volatile __global uint *const state = control + BARRIER;
    const uint lid = (uint)get_local_id(0);
    if (stages & 1u) {
        <%share:each_item count="count">
            const uint u = src[item], v = dst[item];
            if (max(u, v) >= n) {
                atomic_or(SPOT(parity, STATUS), OUTSIDE);
                atomic_max(SPOT(parity, LARGEST), max(u, v));
                continue;
            }
            for (uint way = 0u; way <= both; ++way) {
                const uint tail = way ? v : u, head = way ? u : v, b = tail / span;
                const uint at = atomic_inc(&filled[b]);
                if (at < stride)
                    boxed[(ulong)b * stride + at] =
                        ((ulong)(tail - b * span) << bits | head) << place_bits | (both ? 2u * item + way : item);
                else atomic_or(SPOT(parity, STATUS), CROWDED);
            }
        </%share:each_item>
        if ((stages & 2u) && !grid_barrier(state, spin_limit)) return;
    }
    const int stopped = load_relaxed(SPOT(parity, STATUS)) != 0u;
    if (stages & 2u) {
        uint different = 0u, wanted = 0u, arcs = 0u, looked = 0u;
        offset_t moved = 0u;
        for (uint b = (uint)get_group_id(0); b < boxes && !stopped; b += (uint)get_num_groups(0)) {
            const uint given = filled[b];
            if (given == 0u) continue;
            uint size = 1u;
            while (size < given) size <<= 1;
            for (uint i = lid; i < size; i += GROUP_SIZE) keys[i] = i < given ? boxed[(ulong)b * stride + i] : ~0ul;
            barrier(CLK_LOCAL_MEM_FENCE);
            ${sorting.bitonic("keys", "size")}
            uint share = 0u;
            if (lid == 0u) share = atomic_add(SPOT(parity, SHARED), given);
            share = group_broadcast(share, 0u);
            __global row_t *const mine = rows + share;
            __global uint *const place = places + share;

            // Keep the keys that are wanted, in place: none moves up.
            uint kept = 0u, here;
            for (uint tile = 0u; tile < given; tile += GROUP_SIZE) {
                const uint i = tile + lid;
                uint flag = 0u, at = 0u;
                ulong key = 0ul;
                if (i < given) {
                    key = keys[i];
                    if (i == 0u || keys[i - 1u] >> place_bits != key >> place_bits) {
                        const uint u = b * span + TAIL(key), v = HEAD(key), length = used[u];
                        const __global uint *row = heads + (length ? pointer[u] : 0u);
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

            // Their rows.
            uint count_rows = 0u;
            for (uint tile = 0u; tile < kept; tile += GROUP_SIZE) {
                const uint i = tile + lid;
                const uint head = i < kept && (i == 0u || TAIL(keys[i - 1u]) != TAIL(keys[i]));
                const uint before = count_rows + group_scan_exclusive_add(head, &here);
                if (head) begins[before] = i;
                count_rows += here;
            }
            for (uint c = lid; c < CLASSES; c += GROUP_SIZE) wanted_blocks[c] = given_blocks[c] = 0u;
            if (lid == 0u) {
                begins[count_rows] = kept;
                short_of = 0u;
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
                    row.vertex = b * span + TAIL(keys[begins[j]]);
                    length = used[row.vertex];
                    row.length = joins ? length + change : length - change;
                    row.old_class = class_of(length);
                    row.old_place = pointer[row.vertex];
                    row.spot = row.old_class ? atomic_inc(&given_blocks[row.old_class]) : 0u;
                    const uint c = class_of(row.length);
                    row.new_place = c ? atomic_inc(&wanted_blocks[c]) : 0u;
                    mine[j] = row;
                }
                const offset_t before = total + group_scan_exclusive_${"add" if offset == "uint" else "place"}((offset_t)length, &inside);
                if (j < count_rows) sums[j] = before;
                total += inside;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            // Blocks for all of them; where the lists begin for this group is kept instead of the counts.
            for (uint c = 1u + lid; c < CLASSES; c += GROUP_SIZE) {
                const uint needed = wanted_blocks[c], left = given_blocks[c];
                const uint top = load_relaxed(SPOT(parity, TOPS + c));
                uint first = 0u, spot = 0u;
                if (needed) first = atomic_add(SPOT(parity, TAKEN + c), needed);
                if (left) spot = atomic_add(SPOT(parity, GIVEN + c), left);
                if (first + needed > top || top + spot + left > lists[CLASSES + c]) short_of = 1u;
                wanted_blocks[c] = first;
                given_blocks[c] = spot;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            const int lacking = short_of != 0u;
            if (lacking && lid == 0u) atomic_or(SPOT(parity, LACKING), 1u);
            arcs += lid == 0u ? kept : 0u;
            if (!lacking) {
                for (uint j = lid; j < count_rows; j += GROUP_SIZE) {
                    const uint c = class_of(mine[j].length);
                    mine[j].spot += given_blocks[mine[j].old_class];
                    const uint nth = wanted_blocks[c] + (uint)mine[j].new_place;
                    mine[j].new_place = c ? free_blocks[lists[c] + load_relaxed(SPOT(parity, TOPS + c)) - 1u - nth] : NOWHERE;
                }
                barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
                // Every SIMD group moves as many entries as any other.
                const offset_t part = ((total + GROUP_SIZE - 1u) / GROUP_SIZE) * LANES;
                const offset_t from = min(part * (lid / LANES), total), upto = min(from + part, total);
                uint low = 0u, high = count_rows;
                if (from < upto) {
                    low = last_upto(sums, 0u, count_rows, from);
                    high = last_upto(sums, low, count_rows, upto - 1u) + 1u;
                }
                for (offset_t unit = from + lane_id(); unit < upto; unit += LANES) {
                    const uint j = last_upto(sums, low, high, unit);
                    const uint i = (uint)(unit - sums[j]), first = begins[j], end = begins[j + 1u];
                    const offset_t source = mine[j].old_place + i;
                    const uint x = heads[source], below = heads_below(keys, first, end, x, place_bits, bits);
                    if (!joins && first + below < end && HEAD(keys[first + below]) == x) continue;
                    const offset_t target = mine[j].new_place + (joins ? i + below : i - below);
                    heads[target] = x;
% for i in range(len(fields)):
                    field${i}[target] = field${i}[source];
% endfor
                }
                moved += lid == 0u ? total : 0u;
                for (uint k = lid; k < kept && joins; k += GROUP_SIZE) {
                    uint low_row = 0u, high_row = count_rows;
                    while (high_row - low_row > 1u) {
                        const uint middle = low_row + (high_row - low_row) / 2u;
                        if (begins[middle] <= k) low_row = middle;
                        else high_row = middle;
                    }
                    const offset_t target = mine[low_row].new_place + place[k] + (k - begins[low_row]);
                    heads[target] = HEAD(keys[k]);
% if fields:
                    const uint nth = (uint)(keys[k] & ((1ul << place_bits) - 1ul)) >> both;
% endif
% for i in range(len(fields)):
                    field${i}[target] = value${i}[nth];
% endfor
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        different = group_reduce_add(different);
        wanted = group_reduce_add(wanted);
        looked = group_reduce_add(looked);
        if (lid == 0u && different) {
            atomic_add(SPOT(parity, DIFFERENT), different);
            atomic_add(SPOT(parity, WANTED), wanted);
            atomic_add(SPOT(parity, ARCS), arcs);
            atomic_add(SPOT(parity, LOOKED), looked);
            atom_add((volatile __global ulong *)SPOT(parity, MOVED), (ulong)moved);
        }
        if ((stages & 4u) && !grid_barrier(state, spin_limit)) return;
    }
    if (stages & 4u) {
        const int done = !stopped && !load_relaxed(SPOT(parity, LACKING));
        for (uint b = (uint)get_group_id(0); b < boxes; b += (uint)get_num_groups(0)) {
            const uint given = stopped ? 0u : filled[b];
            const uint2 share = given ? shares[b] : (uint2)(0u, 0u);
            for (uint j = lid; j < share.y && done; j += GROUP_SIZE) {
                const row_t row = rows[share.x + j];
                const uint c = row.old_class;
                if (c) {
                    const uint left = load_relaxed(SPOT(parity, TOPS + c)) - load_relaxed(SPOT(parity, TAKEN + c));
                    free_blocks[lists[c] + left + row.spot] = row.old_place;
                }
                pointer[row.vertex] = row.new_place;
                used[row.vertex] = row.length;
            }
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            if (lid == 0u) filled[b] = 0u;
        }
        // The counts of the next batch.
        for (uint k = lid; k < SLOT_WORDS && get_group_id(0) == 0; k += GROUP_SIZE) {
            uint x = 0u;
            if (k >= TOPS && k < TOPS + CLASSES) {
                x = load_relaxed(SPOT(parity, k));
                if (done) x += load_relaxed(SPOT(parity, GIVEN + k - TOPS)) - load_relaxed(SPOT(parity, TAKEN + k - TOPS));
            }
            store_relaxed(SPOT(1u - parity, k), x);
        }
        if (lid == 0u && get_group_id(0) == 0) store_relaxed(SPOT(parity, DONE), done ? DONE_CHANGED : DONE_REFUSED);
    }
}
