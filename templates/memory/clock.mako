## clock: nanoseconds on a clock that all work-groups share, or zero where there is none.
##
## Called by     any work-item, in any control flow

<%def name="vocabulary()">
% if traits.memory_ops == "ptx":
static inline uint device_clock_ns(void) {
    ulong now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return (uint)now;
}
% else:
static inline uint device_clock_ns(void) { return 0u; }
% endif
</%def>
