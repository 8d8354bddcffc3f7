## stage: the machine that runs a sequence of grid-wide stages inside one kernel.
##
## Every participating work-group runs the same stage, then arrives; the last group to arrive decides
## the next stage, may run small stages by itself, and publishes. So one kernel serves three ways of
## running: persistent (loop until done), stepped (one stage per launch, no waiting at all) and
## single-group (the deciding group goes on by itself while the work is small).
##
## Membership    fixed: every launched group takes part, which needs them all resident together.
##               open: a group joins when it starts; the first never waits for one that has not
##               started, later ones are counted from the next stage on. Nothing can hang on it.
##               Where work is claimed, groups even join and miss stages one by one: membership.mako.
## Two words     what the machine needs (generation, members, mode, leave, epoch) and the kernel's own
##               payload, whose fields and widths it declares: stage_fields, by halves of the words, of
##               clgraph/engine/state.py. Both carry the generation, so a reader accepts them only
##               together although they are two loads.
## Counters      two slots, used by generation modulo 2. The decider of stage k clears its slot, which
##               is used again in k + 2; arriving in k + 1 fences the clearing before that.
## run(initial, work, decide, settle, by_one_group)
##               given defs: work() is the stage; decide() sets `next` and `stage_by_one_group` from `now`,
##               `queued` (entries in the next queue) and other counters, by one work-item, everyone else
##               waiting for it; settle() is what it must keep for the next decider; by_one_group(), where
##               there is one, are stages run by the deciding group, by all its work-items
## Barriers      three a stage besides those of the bodies; between a read of a local word by all and
##               its next write by one there is always one of them
## finish(s, over)
##               in decide(), once `s` is final: `done`, `pause`, and whether groups leave: a launch ends at a stage
##               boundary, because the search is done, because its budget is spent or because groups are wanted
##               that were dismissed
## store_totals()
##               in settle(): explored, work, and the status
## Waiting       see entering.mako
## Called by     all work-items, in uniform control flow; barriers inside
## Gives         now, slot, and member: this group's place among now.members
## In scope      state, launch, flags, patience, spin_limit; my_modes: the modes rendered here, a bit each

<%namespace name="entering" file="/grid/entering.mako"/>

<%! HALVES = ("a_high", "a_low", "b_high", "b_low") %>

<%def name="packed(half)">${" | ".join(f"s.{name}" + (f" << {place}" if place else "") for name, place, _ in stage_fields[half]) or "0u"}</%def>

## Numbers by name, or names that count from 1.
<%def name="constants(numbers, suffix='')">\
% for name, number in (numbers if isinstance(numbers, dict) else {n: k for k, n in enumerate(numbers, 1)}).items():
#define ${name.upper()} ${number}${suffix}
% endfor
</%def>\

<%def name="declarations()">
// State words (32-bit); contended ones sit on lines of their own.
${constants(state_words)}\
#define FLAG_STEPPED 1u
#define FLAG_OPEN 2u
#define MODE_DONE 0u
#define NO_STAGE 0xfffffffffffffffful
#define FLAG_SINGLE_GROUP 4u
% if config.membership == "open":
#define FLAG_ALONE 8u               // no other group is launched, since one alone is faster
% endif
#define GENERATIONS 254u            // even, and below the 8-bit "never published" mark

typedef struct {
    uint ${", ".join(dict.fromkeys(name for half in HALVES for name, _, _ in stage_fields[half]))};
} stage_t;

static inline stage_t stage_first(const uint mode) {
    const stage_t s = {.mode = mode};
    return s;
}

% for word in ("a", "b"):
static inline ulong stage_word_${word}(const stage_t s) {
    return (ulong)(${packed(word + "_high")}) << 32 | (${packed(word + "_low")});
}

% endfor
static inline stage_t stage_from_words(const ulong a, const ulong b) {
    const uint a_high = (uint)(a >> 32), a_low = (uint)a, b_high = (uint)(b >> 32), b_low = (uint)b;
    stage_t s;
    % for half in HALVES:
    % for name, place, bits in stage_fields[half]:
    % if (half, name) != ("b_high", "generation"):
    s.${name} = ${half if bits == 32 else f"{half} >> {place} & {hex(2**bits - 1)}u"};
    % endif
    % endfor
    % endfor
    return s;
}

static inline void stage_publish(volatile __global uint *state, const stage_t s) {
    store_relaxed_ulong((volatile __global ulong *)(state + STAGE_A), stage_word_a(s));
    store_relaxed_ulong((volatile __global ulong *)(state + STAGE_B), stage_word_b(s));
}

${entering.functions()}
</%def>

## What stages know of where they are, in a kernel that is a single one.
<%def name="only()">
const uint member = (uint)get_group_id(0);
stage_t now = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
now.members = (uint)get_num_groups(0);
</%def>

## The last arguments of every kernel that runs stages.
<%def name="parameters()">\
    volatile __global uint *state,                  // words of clgraph/engine/state.py
    const uint launch,                              // 0 for a new search, else the resumption's index
    const uint flags,
    const uint patience,
    const uint spin_limit,
    const ulong budget)                             // edges and vertices before a launch must pause
</%def>

<%def name="setup()">
__local ulong stage_words[2];
__local int stage_present, stage_last, stage_by_one_group;
__local uint stage_rank;
</%def>

<%def name="run(initial, work, decide, settle, by_one_group=None)">
{
    const uint lid = (uint)get_local_id(0);
    if (lid == 0) {
        ulong a = 0, b = 0;
        uint rank = 0;
        stage_present = stage_enter(state, ${initial}, launch, flags, patience, spin_limit, &a, &b, &rank);
        stage_rank = rank;
        stage_words[0] = a;
        stage_words[1] = b;
    }
    group_barrier();
    % if config.membership == "open":
    // A group's share of static work goes by when it joined: ids say nothing about who is there.
    const uint member = stage_rank;
    % else:
    const uint member = (uint)get_group_id(0);
    % endif
    int present = stage_present;
    stage_t now = stage_from_words(stage_words[0], stage_words[1]);
    int dismissed = 0;   // whether this group has sent the others away
    // A stepped launch of a kernel that was rendered for other stages leaves this one to them.
    present = present && !now.leave && (my_modes >> now.mode & 1u);
    while (present) {
        const uint slot = now.generation & 1u;
        ${work()}
        group_barrier_global();
        if (lid == 0) {
            fence_device();
            ulong before = 0;
            % if config.distribution == "claimed":
            if (flags & FLAG_OPEN) stage_last = stage_arrive(state, now.generation);
            else
            % endif
            {
                before = atom_add((volatile __global ulong *)(state + NEXT + slot * SLOT_STRIDE), 1ul << 32);
                stage_last = (uint)(before >> 32) + 1 == now.members;
            }
            if (stage_last) {
                % if traits.memory_ops != "ptx":
                fence_device();
                % endif
                % if config.distribution == "claimed":
                if (flags & FLAG_OPEN)
                    before = load_relaxed_ulong((volatile __global ulong *)(state + NEXT + slot * SLOT_STRIDE));
                % endif
                const uint queued = (uint)before;
                stage_t next = now;
                next.generation = (now.generation + 1) % GENERATIONS;
                if (flags & FLAG_OPEN) next.members = load_relaxed(state + JOINED);
                ${decide()}
                % if traits.memory_ops == "ptx":
                // A fence here would only make the order formal: what the other groups wrote is
                // performed at device scope before each arrives, so whoever sees this decision
                // finds it there. It would cost every level 0.32 us of 5 (measured on an H200).
                % endif
                // Whoever waits goes on now; what the next decider needs is fenced by this group's
                // own arrival in the next stage.
                % if config.distribution == "claimed":
                if (flags & FLAG_OPEN) stage_open(state, next.generation);
                % endif
                if (!stage_by_one_group) stage_publish(state, next);
                fence_device();
                ${settle()}
                ${clear_slot("slot")}
                stage_words[0] = stage_word_a(next);
                stage_words[1] = stage_word_b(next);
            } else if (!(flags & FLAG_STEPPED)) {
                ulong a = 0, b = 0;
                % if config.distribution == "claimed":
                const int rejoin = (flags & FLAG_OPEN) != 0;
                % else:
                const int rejoin = 0;
                % endif
                stage_present = stage_wait(state, rejoin ? now.generation : (now.generation + 1) % GENERATIONS,
                                           rejoin, 0, launch & 7u, spin_limit, &a, &b);
                stage_words[0] = a;
                stage_words[1] = b;
            }
        }
        group_barrier_global();
        const int last = stage_last;
        if ((flags & FLAG_STEPPED) && !last) break;
        now = stage_from_words(stage_words[0], stage_words[1]);
        if (last && stage_by_one_group) {
            ${by_one_group() if by_one_group else ""}
            if (lid == 0) {
                fence_device();
                stage_publish(state, now);
            }
        }
        if (flags & FLAG_STEPPED) break;
        present = stage_present && !now.leave && now.mode != MODE_DONE;
    }
    // The last group out leaves the state as a new search expects it; stepped launches and
    // expired ones are reset by the host.
    if (lid == 0 && !(flags & FLAG_STEPPED)) {
        fence_device();
        if (atomic_inc(state + LEFT) + 1 == get_num_groups(0) && !load_relaxed(state + ABORTED)) {
            state[JOINED] = 0;
            state[LEFT] = 0;
            if (state[STATUS] == STATUS_DONE) {
                // Both: a reader of the next search may not pair its first word with the last of this.
                *(volatile __global ulong *)(state + STAGE_A) = NO_STAGE;
                *(volatile __global ulong *)(state + STAGE_B) = NO_STAGE;
            }
        }
    }
}
</%def>

<%def name="finish(s, over='(work > budget || dismissed)')">
    const int done = ${s}.mode == MODE_DONE, pause = !done && ${over};
    ${s}.leave = done || pause;
</%def>

<%def name="store_totals()">
    *(volatile __global ulong *)(state + EXPLORED) = explored;
    *(volatile __global ulong *)(state + WORK) = pause ? 0 : work;
    state[STATUS] = done ? STATUS_DONE : pause ? STATUS_PAUSED : STATUS_RUNNING;
</%def>

<%def name="clear_slot(slot)">
% for name in slot_words:
state[${name} + ${slot} * SLOT_STRIDE] = 0;
% endfor
</%def>
