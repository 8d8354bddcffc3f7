<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="memory" file="/memory/memory.mako"/>
<%namespace name="adding" file="/memory/adding.mako"/>
<%namespace name="group" file="/grid/group.mako"/>
// Breadth-first searches from many sources in one pass over the edges: every vertex has a row of bits,
// a bit for each search.
//
// A level gathers, for every vertex that some search has not seen, the rows of those in-neighbours
// that the level before reached. Rows of such vertices alone are valid: `active` says which.
// Levels are launches; one that follows the last finds nothing to do and returns.
//
// Races: a long row is gathered in parts, by several lane groups, which claim what they found in
// `seen` and `next` by atomics. One that already sees another's claim leaves it out, as it may.

${lanes.vocabulary()}
${memory.vocabulary()}
${adding.vocabulary()}
${group.declarations()}

#define ROW_WORDS ${config.row_words}u
#define ROW_LANES ${min(config.row_words, config.lanes)}u
#define LANE_WORDS ${config.lane_words}u
#define SLOTS ${config.slots}u                      // edges of one vertex that are read at the same time
#define PART_EDGES ${config.part_edges}u
#define FOUND(level) found[(level) & ${config.found_words - 1}u]
#define LAST_FOUND(level) load_relaxed(found + ((level) - 1 & ${config.found_words - 1}u))

## The other words of this lane's share of a row.
<%def name="each_word()">
for (uint p = 0; p < LANE_WORDS; ++p) {
    ${caller.body()}
}
</%def>

<%def name="arguments()">
    const uint n,
    const uint level,
    volatile __global uint *found                   // whether a level found anything, levels in turn
</%def>

__kernel LANES_KERNEL_ATTRIBUTE __attribute__((reqd_work_group_size(${config.group_size}, 1, 1)))
void bit_parallel_gather(
    __global const offset_t *restrict in_indptr,    // [n + 1] of the transpose
    __global const uint *restrict in_indices,       // [m]
    const uint parts,
    __global const uint *restrict part_vertices,    // [parts] rows longer than PART_EDGES, in parts
    __global const offset_t *restrict part_begins,  // [parts]
    __global const uint *restrict frontier,         // [n, ROW_WORDS] found by the level before
    __global const uchar *restrict active,          // [n] whether that found anything there
    __global uint *seen,                            // [n, ROW_WORDS] in/out
    __global uint *next,                            // [n, ROW_WORDS] out, where active
    __global uchar *next_active,                    // [n] out
    ${arguments()})
{
    ${lanes.setup()}
    if (!LAST_FOUND(level)) return;
    const uint units = GROUP_LANES * (uint)get_num_groups(0), unit = (uint)get_group_id(0) * GROUP_LANES + LANE_GROUP;
    const uint first_word = lane_id() % ROW_LANES, my_slot = lane_id() / ROW_LANES;
    int found_any = 0;
    const ulong items = (ulong)parts + n;
    for (ulong tile = (ulong)unit * ${config.tile}u; tile < items; tile += (ulong)units * ${config.tile}u)
    for (ulong item = tile; item < min(tile + ${config.tile}u, items); ++item) {
        const int is_part = item < parts;
        const uint v = is_part ? part_vertices[item] : (uint)(item - parts);
        offset_t e = is_part ? part_begins[item] : in_indptr[v];
        offset_t row_end = in_indptr[v + 1];
        if (is_part) row_end = min(row_end, e + PART_EDGES);
        else if (row_end - e > PART_EDGES) continue;
        const ulong row = (ulong)v * ROW_WORDS + first_word;
        uint wanted[LANE_WORDS], got[LANE_WORDS], pending = 0;
        <%self:each_word>
            wanted[p] = ~seen[row + p * LANES];
            got[p] = 0;
            pending |= wanted[p];
        </%self:each_word>
        if (lane_any(pending != 0)) {
            for (; e < row_end; e += LANES) {
                const int has_edge = e + lane_id() < row_end;
                const uint my_u = has_edge ? in_indices[e + lane_id()] : 0u;
                lanemask_t mask = lane_ballot(has_edge && active[my_u]);
                if (!mask) continue;
                while (mask) {
                    ${take_edges()}
                }
                ${join_slots()}
                pending = 0;
                <%self:each_word>
                    pending |= wanted[p] & ~got[p];
                </%self:each_word>
                if (!lane_any(pending != 0)) break;
            }
        }
        uint any = 0;
        <%self:each_word>
            got[p] &= wanted[p];
            any |= got[p];
        </%self:each_word>
        const int found_here = lane_any(any != 0);
        found_any |= found_here;
        if (found_here && my_slot == 0) {
            if (is_part) {
                <%self:each_word>
                    if (got[p]) {
                        atomic_or(next + row + p * LANES, got[p]);
                        atomic_or(seen + row + p * LANES, got[p]);
                    }
                </%self:each_word>
            } else {
                <%self:each_word>
                    next[row + p * LANES] = got[p];
                    seen[row + p * LANES] = ~wanted[p] | got[p];
                </%self:each_word>
            }
        }
        if (lane_id() == 0 && (found_here || !is_part)) next_active[v] = (uchar)found_here;
    }
    if (lane_id() == 0 && found_any) FOUND(level) = 1;
}

## The rows of the next edges in `mask`: SLOTS of them side by side, or several one after the other so
## that their loads overlap.
<%def name="take_edges()">
% if config.slots > 1:
uint place = 0;
int taken = 0;
for (uint s = 0; s < SLOTS; ++s) {
    if (s == my_slot && mask) {
        place = lanemask_first(mask);
        taken = 1;
    }
    mask &= mask - 1;
}
const uint u = lane_shuffle(my_u, place);
if (taken) got[0] |= frontier[(ulong)u * ROW_WORDS + first_word];
% else:
% for j in range(config.batch):
const uint place${j} = ${"lanemask_first(mask)" if j == 0 else f"mask ? lanemask_first(mask) : place{j - 1}"};
mask &= mask - 1;
const ulong row${j} = (ulong)lane_shuffle(my_u, place${j}) * ROW_WORDS + first_word;
% endfor
<%self:each_word>
    got[p] |= ${" | ".join(f"frontier[row{j} + p * LANES]" for j in range(config.batch))};
</%self:each_word>
% endif
</%def>

<%def name="join_slots()">
% if config.slots > 1:
for (uint step = ROW_LANES; step < LANES; step <<= 1) got[0] |= lane_shuffle(got[0], lane_id() ^ step);
% endif
</%def>

// By one work-item a word: no search has seen anything; those that do not exist have seen everything.
__kernel void bit_parallel_clear(
    const uint n,
    const uint searches,
    const uint long_rows,
    __global const uint *restrict long_vertices,    // [long_rows] those that are gathered in parts
    __global const uint *restrict sources,          // [searches]
    __global uint *seen, __global uint *frontier, __global uint *next,
    __global uchar *active, __global uchar *next_active,
    volatile __global uint *found)
{
    const ulong first = get_global_id(0), step = get_global_size(0);
    for (ulong x = first; x < (ulong)n * ROW_WORDS; x += step) {
        const uint bit = (uint)(x % ROW_WORDS) * 32u;
        const uint exist = searches <= bit ? 0u : searches - bit >= 32u ? 0xffffffffu : (1u << (searches - bit)) - 1u;
        seen[x] = ~exist;
    }
    for (ulong x = first; x < n; x += step) active[x] = next_active[x] = 0;
    for (ulong x = first; x < (ulong)long_rows * ROW_WORDS; x += step) {
        const ulong word = (ulong)long_vertices[x / ROW_WORDS] * ROW_WORDS + x % ROW_WORDS;
        frontier[word] = next[word] = 0;
    }
    for (ulong x = first; x < (ulong)searches * ROW_WORDS; x += step)
        frontier[(ulong)sources[x / ROW_WORDS] * ROW_WORDS + x % ROW_WORDS] = 0;
    for (ulong x = first; x < ${config.found_words}u; x += step) found[x] = x == 0;
}

// By one work-item a search.
__kernel void bit_parallel_start(
    const uint n,
    const uint searches,
    __global const uint *restrict sources,
    __global uint *seen, __global uint *frontier, __global uchar *active,
    __global ${config.ctype} *out)                  // as below
{
    for (uint s = (uint)get_global_id(0); s < searches; s += (uint)get_global_size(0)) {
        const ulong word = (ulong)sources[s] * ROW_WORDS + s / 32u;
        atomic_or(seen + word, 1u << s % 32u);
        atomic_or(frontier + word, 1u << s % 32u);
        active[sources[s]] = 1;
        % if config.output == "distances":
        out[(ulong)s * n + sources[s]] = 0;
        % endif
    }
}

% if config.output in ("distances", "targets", "marks"):
// What a level found, or all of them, by one work-item a vertex: neighbours write side by side.
__kernel void bit_parallel_settle(
    const uint searches,
    const uint long_rows,
    __global const uint *restrict long_vertices,
    __global const uint *restrict rows,             // [n, ROW_WORDS] what was found
    __global const uchar *restrict active,          // [n] whether a row counts
    __global uint *spare,                           // [n, ROW_WORDS] the frontier that was used
    __global uchar *spare_active,                   // [n]
    __global ${config.ctype} *out,                  // [searches, n] distances or marks; [n] sums
    __global uint *counts,                          // [2, n] searches that reach a vertex, the longest way
    __global ${config.real} *harmonic,              // [n] sum of 1 / distance
    ${arguments()})
{
    ${clear_spare()}
    % if config.output == "marks":
    if (level) return;      // once, after the last level, of all that was seen
    % endif
    for (uint v = (uint)get_global_id(0); v < n; v += (uint)get_global_size(0)) {
        % if config.output != "marks":
        if (!active[v]) continue;
        % endif
        % if config.output == "targets":
        uint reached = 0;
        % endif
        for (uint w = 0; w < ROW_WORDS; ++w) {
            const uint word = rows[(ulong)v * ROW_WORDS + w];
            % if config.output == "targets":
            reached += (uint)popcount(word);
            % elif config.output == "marks":
            for (uint s = w * 32u; s < min(w * 32u + 32u, searches); ++s) out[(ulong)s * n + v] = (uchar)(word >> s % 32u & 1u);
            % elif config.lanes == 1:
            for (uint rest = word; rest; rest &= rest - 1) out[((ulong)w * 32u + lanemask_first(rest)) * n + v] = (${config.ctype})level;
            % else:
            if (word)
                for (uint s = 0; s < 32u; ++s)
                    if (word >> s & 1u) out[((ulong)w * 32u + s) * n + v] = (${config.ctype})level;
            % endif
        }
        % if config.output == "targets":
        counts[v] += reached;
        counts[n + v] = max(counts[n + v], level);
        out[v] += (ulong)reached * level;
        harmonic[v] += reached / (${config.real})level;
        % endif
    }
}
% elif config.output == "sources":
// What a level found, counted for every search, by one work-item a word.
__kernel __attribute__((reqd_work_group_size(${config.settle_size}, 1, 1)))
void bit_parallel_settle(
    const uint searches,
    const uint long_rows,
    __global const uint *restrict long_vertices,
    __global const uint *restrict rows,             // [n, ROW_WORDS]
    __global const uchar *restrict active,          // [n]
    __global uint *spare, __global uchar *spare_active,
    __global ${config.ctype} *out,                  // [searches] sums of distances
    __global uint *counts,                          // [2, searches] vertices reached, largest distance
    __global ${config.real} *harmonic,              // [searches]
    ${arguments()})
{
    __local uint bits[ROW_WORDS * 32];
    ${clear_spare()}
    const uint lid = (uint)get_local_id(0);
    for (uint s = lid; s < ROW_WORDS * 32; s += ${config.settle_size}u) bits[s] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong x = get_global_id(0); x < (ulong)n * ROW_WORDS; x += get_global_size(0)) {
        if (!active[x / ROW_WORDS]) continue;
        const uint first = (uint)(x % ROW_WORDS) * 32u;
        for (uint rest = rows[x]; rest; rest &= rest - 1) {
            const uint s = first + (uint)popcount(~rest & (rest - 1));
            ${"++bits[s]" if config.settle_size == 1 else "atomic_inc(bits + s)"};
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = lid; s < searches; s += ${config.settle_size}u) {
        if (!bits[s]) continue;
        atomic_add(counts + s, bits[s]);
        counts[searches + s] = level;   // the same number from every group
        atom_add(out + s, (ulong)bits[s] * level);
        atomic_add_${config.real}(harmonic + s, bits[s] / (${config.real})level);
    }
}
% endif

## Rows that are gathered in parts must be empty before they are gathered into; and the word of the
## level after the next must be.
<%def name="clear_spare()">
if (get_global_id(0) == 0) FOUND(level + 1) = 0;
if (level && !LAST_FOUND(level)) return;
for (ulong x = get_global_id(0); x < (ulong)long_rows * ROW_WORDS; x += get_global_size(0)) {
    const uint v = long_vertices[x / ROW_WORDS];
    spare[(ulong)v * ROW_WORDS + x % ROW_WORDS] = 0;
    spare_active[v] = 0;
}
</%def>
