## common: what every search decides alike after a stage, and what it writes down.
##
## load_totals()      of the search: explored, work
## start(s)           what follows FILL, where frontiers are queues
## record(s, edges, surplus), correct_record(s, edges)   the row of a level
## tile_of(s, edges)  entries that a SIMD group takes at a time
## is_alone()         whether the only group of a launch goes on by itself, whatever there is ahead
## after_the_last(s)  leaves, finish and tree, as far as they are rendered
## In scope           the kernel's arguments, now, slot, queued; after_the_last: hubs, edges; control_block: the
##                    words of the search
## Called by          one work-item while all others wait

<%def name="load_totals()">
    explored = *(volatile __global ulong *)(state + EXPLORED);
    work = *(volatile __global ulong *)(state + WORK);
</%def>

<%def name="start(s)">
    state[STATUS_FLAGS] = 0;
    ${s}.mode = START;
    ${s}.length = source_count;
    ${s}.hubs = 0;
    ${s}.level = 1;
    explored = 0;
    work = n;
</%def>

<%def name="record(s, edges, surplus='0u')">
if (${s}.mode == RELAX${" || " + s + ".mode == SPLIT" if "split" in all_stages else ""}${" || " + s + ".mode == HEAVY" if "heavy" in all_stages else ""}) state[DEPTH] = ${s}.level - 1;
if (${s}.level - 2 < level_capacity)
    levels[${s}.level - 2] = (uint4)(${s}.length + ${s}.hubs - ${surplus}, ${edges}, ${s}.mode, device_clock_ns());
</%def>

## The edges out of a frontier, where they are known only after it was expanded.
<%def name="correct_record(s, edges)">
if (${s}.level >= 2 && ${s}.level - 2 < level_capacity)
    ((__global uint *)levels)[4 * (size_t)(${s}.level - 2) + 1] = (uint)min((ulong)(${edges}), 0xfffffffful);
</%def>

<%def name="is_alone()">${"(flags & FLAG_ALONE)" if config.membership == "open" else "0"}</%def>

<%def name="tile_of(s, edges)">
    % if config.distribution == "static":
    // Entries per SIMD group: enough for one round of lanes, or more where there is work for all.
    const uint size = ${s}.length + ${s}.hubs;
    const int per_entry = (int)clz(size) - (int)clz((uint)min((ulong)(${edges}), 0xfffffffful));
    const int per_group = (int)clz(${s}.members * (GROUP_LANES * ${"1u" if config.drift else "4u"})) - (int)clz(${s}.length);
    % if config.drift:
    // Whoever goes on alone had better begin with little.
    if (${s}.mode == RELAX && ${s}.length <= ${config.method.drift_limit}u) ${s}.tile = (uint)clamp(per_group, 0, ${config.lanes.bit_length() - 1});
    else
    % endif
    ${s}.tile = (uint)clamp(max(${config.lanes.bit_length() - 1} - max(per_entry, 0), per_group), 0, ${config.lanes.bit_length() - 1});
    % endif
</%def>

<%def name="after_the_last(s)">
    ${s}.level += 1;
    % if "leaves" in all_stages:
    if (now.mode == LEAVES) {
        if (target < n) CONTROL_ULONG(CUT) = min((ulong)FRESH_KEY_AT(target), last_key);
        ${s}.mode = finish ? FINISH : MODE_DONE;
    } else
    % endif
    % if problem.predecessors:
    if (now.mode == FINISH) {
        ${s}.queue ^= 1;
        state[REACHED] = queued + hubs${" - surplus" if config.row_limit else ""};   // where lengths may be negative: the roots
        ${s}.mode = TREE;
        ${s}.chain = ${"1" if keys.signed else "0"};
        ${tile_of(s, "edges")}
    } else
    % if not keys.signed:
    if (now.mode == TREE && !now.chain) {
        // The same frontier again, if edges between equal distances are needed.
        ${s}.length = now.length;
        ${s}.hubs = now.hubs;
        ${s}.mode = queued + load_relaxed(control_block + ROOTS) < state[REACHED] ? TREE : MODE_DONE;
        ${s}.chain = 1;
    } else
    % endif
    if (now.mode == TREE && queued + hubs) {
        ${s}.queue ^= 1;
        ${tile_of(s, "edges")}
    } else
    % endif
        ${s}.mode = MODE_DONE;
</%def>
