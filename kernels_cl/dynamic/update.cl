<%namespace name="lanes" file="/lanes/lanes.mako"/>\
<%namespace name="group" file="/group/group.mako"/>\
<%namespace name="memory" file="/memory/memory.mako"/>\
<%namespace name="system" file="/memory/system.mako"/>\
<%namespace name="clock" file="/memory/clock.mako"/>\
<%namespace name="barrier" file="/grid/barrier.mako"/>\
<%namespace name="share" file="/grid/items.mako"/>\
<%namespace name="sorting" file="/group/sort.mako"/>\
<%namespace name="find" file="/dynamic/find.mako"/>\
<%namespace name="classes" file="/dynamic/classes.mako"/>\
<%namespace name="box_of" file="/dynamic/box.mako"/>\
// A batch of edges in one launch: keys go to boxes by ranges of rows; a work-group sorts a box, looks its
// edges up, takes blocks and writes the rows that change there, but for long ones, which all work-groups
// move together; at last the graph refers to these.
//
// The host may be told what was counted as soon as nothing can go wrong any more: then what follows in
// the queue still finds the graph changed.
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
% if posts:
${system.vocabulary()}
${clock.vocabulary()}
% endif
${barrier.vocabulary()}
${barrier.counted()}
typedef ${offset} offset_t;
${find.functions()}
% for name, value in words.items():
#define ${name} ${value}u
% endfor
#define BOX ${box}u         // most keys of a box
#define LEAST ${least}u     // entries of the smallest block
#define FEW 64u             // keys that are ranked sooner than sorted in steps
#define LONG_ROW ${long_row}u   // entries beyond which all work-groups move a row, in pieces of so many:
#define PIECE ${piece}u
#define NOWHERE (~(offset_t)0)
#define SPOT(p, k) (control + (p) * SLOT_WORDS + (k))
#define TARGET(key) ((uint)((key) >> place_bits & ((1ul << bits) - 1ul)))
#define SOURCE(key) ((uint)((key) >> (place_bits + bits)))    // counted from the box' first row

${classes.functions()}
${box_of.functions()}

${lanes.kernel(group_size)} update_rows(
    const uint what,                            // bits 0 to 3: which of the four stages; JOINS; ODD
    const uint spin_limit,                      // polls before the barrier gives up
    volatile __global uint *control,            // counts of this batch and of the next; the barrier's words
    __global const uint *restrict src,          // [count]
    __global const uint *restrict dst,          // [count]
    const uint count,
    const uint n,
    const uint bits,                            // of a target
    const uint place_bits,                      // of a key's number in the batch
    const uint both,                            // whether each edge stands for both directions
    const uint span,                            // rows of a box
    const uint boxes,
    const uint stride,                          // keys that a box has room for
    const uint block_bits,                      // of the entries of a block array
    __global uint *filled,                      // [boxes] in/out, 0 on entry
    __global ulong *boxed,                      // [boxes * stride] out; then keys of long rows
    __global uint2 *shares,                     // [boxes] out: where the rows of a box are listed, how many
    __global row_t *rows,                       // [keys] out
    __global uint *places,                      // [keys] out: where in their rows edges belong
    __global uint4 *long_rows,                  // [all that there can be] out: row, first key, keys, first piece
    __global offset_t *free_blocks,             // by class, [room] each
    __global const uint *restrict lists,        // [2 * CLASSES] where each begins; its room
    __global offset_t *pointer,                 // [n] in/out
    __global uint *used,                        // [n] in/out
% for i, kind in enumerate(fields):
    __global const ${kind} *restrict value${i}, // by edge of the batch
    __global ${kind} *field${i},                // in/out
% endfor
    __global uint *indices${"," if posts else ")"}                       // in/out
% if posts:
    const ulong box)                            // address in host memory of [POST_WORDS], out
% endif
{
    ${lanes.setup()}\
    ${group.setup()}\
    ${barrier.setup()}\
    __local ulong keys[BOX];
    __local uint begins[BOX + 1u];          // keys of each row
    __local offset_t sums[BOX + 1u];        // entries of the rows before
    __local uint wanted_blocks[CLASSES], given_blocks[CLASSES];
    __local uint short_of, any_long;
    __local ulong ended_with[3];            // as the counts from DIFFERENT on
% if posts:
    __local uint began;
% endif
    volatile __global uint *const state = control + BARRIER;
    const uint lid = (uint)get_local_id(0);
    const uint stages = what & 15u;
    const uint joins = (what & JOINS) != 0u;    // edges that are not there join; else those there leave
    const uint parity = (what & ODD) != 0u;     // which of the two counts are this batch'
    const uint round = load_relaxed(&state[GRID_BARRIER_ROUND]);
% if posts:
    volatile __global uint *const posted = (volatile __global uint *)box;
    if (lid == 0u) began = device_clock_ns();  // posted now, the first barrier would wait for it
% endif
    if (stages & 1u) {
        <%share:each_item count="count">
            const uint u = src[item], v = dst[item];
            if (max(u, v) >= n) {
                atomic_or(SPOT(parity, STATUS), OUTSIDE);
                atomic_max(SPOT(parity, LARGEST), max(u, v));
                continue;
            }
            for (uint way = 0u; way <= both; ++way) {
                const uint source = way ? v : u, target = way ? u : v, b = source / span;
                const uint at = atomic_inc(&filled[b]);
                if (at < stride)
                    boxed[(ulong)b * stride + at] =
                        ((ulong)(source - b * span) << bits | target) << place_bits | (both ? 2u * item + way : item);
                else atomic_or(SPOT(parity, STATUS), CROWDED);
            }
        </%share:each_item>
        if ((stages & 2u) && !grid_barrier_after(state, spin_limit, round)) return;
    }
    const int stopped = load_relaxed(SPOT(parity, STATUS)) != 0u;
    if (stages & 2u) {
        uint different = 0u, wanted = 0u, arcs = 0u, looked = 0u;
        offset_t moved = 0u;
        for (uint b = (uint)get_group_id(0); b < boxes && !stopped; b += (uint)get_num_groups(0)) {
            const uint given = filled[b];
            if (given == 0u) continue;
            uint share = 0u;
            // Not looked at before the keys are sorted.
            if (lid == 0u) share = atomic_add(SPOT(parity, SHARED), given);
            uint size = 1u;
            while (size < given) size <<= 1;
            for (uint i = lid; i < size; i += GROUP_SIZE) keys[i] = i < given ? boxed[(ulong)b * stride + i] : ~0ul;
            barrier(CLK_LOCAL_MEM_FENCE);
            if (given <= min(FEW, (uint)GROUP_SIZE)) {
                ${sorting.ranked("keys", "given")}
            } else {
                ${sorting.bitonic("keys", "size")}
            }
            share = group_broadcast(share, 0u);
            __global row_t *const mine = rows + share;
            __global uint *const place = places + share;

            ${box_of.wanted()}
            ${box_of.changes()}
            ${box_of.blocks()}
            if (!lacking) {
                ${box_of.move()}
                if (joins) {
                    ${box_of.join()}
                }
                moved += lid == 0u ? total : 0u;
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        different = group_reduce_add(different);
        wanted = group_reduce_add(wanted);
        looked = group_reduce_add(looked);
        // An edge of both directions counts as different in one of its boxes; any that had keys looked.
        if (lid == 0u) {
            ended_with[0] = (ulong)wanted << 32 | different;
            ended_with[1] = (ulong)looked << 32 | arcs;
            ended_with[2] = moved;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        // By neighbours, which is one turn to memory: all groups come here at about the same time.
        if (looked) {
            for (uint k = lid; k < 3u; k += GROUP_SIZE)
                atom_add((volatile __global ulong *)SPOT(parity, DIFFERENT) + k, ended_with[k]);
        }
        if ((stages & 4u) && !grid_barrier_after(state, spin_limit, round + 1u)) return;
    }
    const uint short_any = load_relaxed(SPOT(parity, LACKING)), pieces = load_relaxed(SPOT(parity, LONG));
    const int done = !stopped && !short_any;
    const uint moving = (stages & 4u) && done ? pieces : 0u;
    ${box_of.move_long()}
    if (moving && (stages & 8u) && !grid_barrier_after(state, spin_limit, round + 2u)) return;
    if (stages & 8u) {
        if (get_group_id(0) == 0) {
            ${box_of.counts()}
        }
        for (uint b = (uint)get_group_id(0); b < boxes; b += (uint)get_num_groups(0)) {
            // What is listed of a box without keys is of a batch before.
            const uint2 share = shares[b];
            const uint count_rows = done && filled[b] ? share.y : 0u;
            for (uint j = lid; j < count_rows; j += GROUP_SIZE) {
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
    }
}
