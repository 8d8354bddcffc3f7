## record: what kernels that run stage by stage note of each, for `Recorded` of scc/stages.py and the driver.
##
## begin()                at the kernel's start: the clock that its first stage is timed from
## account(cost, first)   in decide(), declares `stages_so_far`, the work of this launch and what is `spent`
##                        in all; `first`: the stage is the first of a run, whose words are still the last one's
## settle(...)            in settle(), of `items`, `mode` (phase 8 | stage 3) and, at the end, `depth`
## In scope               state, history [1 + capacity], capacity, launch, and what the stage machine declares

<%def name="begin()">
    if (launch == 0 && get_global_id(0) == 0) history[0].w = device_clock_ns();
</%def>

<%def name="account(cost, first)">
    const int first_of_run = ${first};
    const ulong work = (${cost}) + (first_of_run ? 0 : *(volatile __global ulong *)(state + WORK));
    const ulong spent = (${cost}) + (first_of_run ? 0 : *(volatile __global ulong *)(state + EXPLORED));
    const uint stages_so_far = first_of_run ? 0u : state[REACHED];
</%def>

<%def name="settle(items, mode, depth)">
    *(volatile __global ulong *)(state + WORK) = pause ? 0 : work;
    *(volatile __global ulong *)(state + EXPLORED) = spent;
    state[REACHED] = stages_so_far + 1;
    state[STATUS] = done ? STATUS_DONE : pause ? STATUS_PAUSED : STATUS_RUNNING;
    if (done) state[DEPTH] = ${depth};
    if (stages_so_far < capacity) history[stages_so_far + 1u] = (uint4)(${items}, queued, ${mode}, device_clock_ns());
</%def>
