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
% elif traits.memory_ops == "amdgcn" and not traits.emulated:
// The constant clock of 100 MHz that all compute units share; it became a message to the sequencer.
static inline uint device_clock_ns(void) {
% if traits.graphics_ip >= (11, 0, 0):
    return 10u * (uint)__builtin_amdgcn_s_sendmsg_rtnl(0x83);
% else:
    return 10u * (uint)__builtin_amdgcn_s_memrealtime();
% endif
}
% else:
static inline uint device_clock_ns(void) { return 0u; }
% endif
</%def>
