## entering: how a work-group enters its first stage of a launch, and how it waits for the next.
##
## functions()   at file scope, after the stage word and its constants, see stage.mako
## Called by     one work-item of a group, in any control flow; the others wait for it
## Waiting       polls are bounded; a heartbeat extends the bound; on expiry ABORTED is raised and
##               every group leaves
## Places        of the machine's fields in the high half of the first word: _MACHINE of
##               clgraph/engine/state.py
## In scope      the words of clgraph/engine/state.py, stage_t and its packing, the memory vocabulary

<%namespace name="membership" file="/grid/membership.mako"/>

<%def name="functions()">
% if config.distribution == "claimed":
${membership.declarations()}
% endif
// Send away whoever waits: there will be nothing for them in this launch.
static inline void stage_dismiss(volatile __global uint *state, stage_t s) {
    s.leave = 1;
    fence_device();
    stage_publish(state, s);
}

// Wait until both words belong to `generation` (or, for a joiner, to this launch with room for
// `rank`; where work is claimed, to a stage other than `generation` that can be entered). Returns 0
// when the bound expired or another group raised ABORTED.
static int stage_wait(volatile __global uint *state, const uint generation, const int joining,
                      const uint rank, const uint epoch, const uint spin_limit,
                      ulong *word_a, ulong *word_b) {
    uint spins = 0, beat = 0;
    % if config.distribution == "claimed":
    uint counted_in = 255u;
    % endif
    for (;;) {
        const ulong a = load_acquire_ulong((volatile __global ulong *)(state + STAGE_A));
        const ulong b = load_acquire_ulong((volatile __global ulong *)(state + STAGE_B));
        if (a != NO_STAGE && (uint)(a >> 56) == (uint)(b >> 56)) {
            const uint high = (uint)(a >> 32);
            const int mine = (high >> 3 & 7u) == epoch;
            % if config.distribution == "claimed":
            const uint published = high >> 24, leave = high >> 6 & 1u;
            if (joining && mine && !leave && published != counted_in && published != generation &&
                stage_join(state, published)) {
                counted_in = published;
                continue;
            }
            const int ready = joining ? mine && (leave || published == counted_in) : published == generation;
            % else:
            const int ready = joining ? mine && ((high >> 12 & 0xfffu) > rank || (high >> 6 & 1u))
                                      : (high >> 24) == generation;
            % endif
            if (ready) {
                *word_a = a;
                *word_b = b;
                return 1;
            }
        }
        ++spins;
        % if config.lanes == 1:
        spin_hint();
        % endif
        if ((spins & 63u) == 0) {
            spin_hint();
            if (load_relaxed(state + ABORTED)) return 0;
            if (spins >= spin_limit) {
                const uint now = load_relaxed(state + HEARTBEAT) + load_relaxed(state + CLAIM) +
                                 load_relaxed(state + CLAIM + SLOT_STRIDE);
                if (now == beat) {
                    store_relaxed(state + ABORTED, 1u);
                    return 0;
                }
                beat = now;
                spins = 0;
            }
        }
    }
}

// The stage this group starts with; 0 when it has nothing to do in this launch.
static int stage_enter(volatile __global uint *state, const stage_t initial, const uint launch,
                       const uint flags, const uint patience, const uint spin_limit,
                       ulong *word_a, ulong *word_b, uint *rank) {
    const uint groups = (uint)get_num_groups(0), epoch = launch & 7u;
    *rank = (uint)get_group_id(0);
    if (load_relaxed(state + ABORTED)) return 0;
    if (flags & FLAG_OPEN) {
        *rank = atomic_inc(state + JOINED);
        if (*rank) return stage_wait(state, 255u, 1, *rank, epoch, spin_limit, word_a, word_b);
        // The first group gives others a moment to arrive, and starts without those that have not.
        for (uint i = 0; i < patience && load_relaxed(state + JOINED) < groups; ++i) spin_hint();
    }
    stage_t s = launch ? stage_from_words(
                             load_relaxed_ulong((volatile __global ulong *)(state + STAGE_A)),
                             load_relaxed_ulong((volatile __global ulong *)(state + STAGE_B)))
                       : initial;
    if (launch && s.mode == MODE_DONE) return 0;
    s.leave = 0;
    s.epoch = epoch;
    s.members = flags & FLAG_OPEN ? load_relaxed(state + JOINED) : groups;
    *word_a = stage_word_a(s);
    *word_b = stage_word_b(s);
    if (flags & FLAG_OPEN) {
        % if config.distribution == "claimed":
        stage_open(state, s.generation);
        % endif
        stage_publish(state, s);
    }
    return 1;
}
</%def>
