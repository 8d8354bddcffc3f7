## memory, ptx flavour: inline PTX at gpu scope.
##
## Contract      /memory/memory.mako
## Needs         compute capability 7.0 for the memory model's own words; older cards get the
##               volatile load and the fence that these words replaced

<%
    modern = (traits.compute_capability or (3, 0)) >= (7, 0)
    kinds = (("uint", "", "u32", "r"), ("ulong", "_ulong", "u64", "l"))
    fence = "fence.acq_rel.gpu;" if modern else "membar.gl;"
%>\
static inline void fence_device(void) { asm volatile("${fence}" : : : "memory"); }

% for kind, suffix, width, register in kinds:
static inline ${kind} load_relaxed${suffix}(volatile __global ${kind} *p) {
    ${kind} x;
    asm volatile("ld.${"relaxed.gpu" if modern else "volatile"}.global.${width} %0, [%1];" : "=${register}"(x) : "l"(p));
    return x;
}

static inline void store_relaxed${suffix}(volatile __global ${kind} *p, ${kind} x) {
    asm volatile("st.${"relaxed.gpu" if modern else "volatile"}.global.${width} [%0], %1;" : : "l"(p), "${register}"(x) : "memory");
}

static inline ${kind} load_acquire${suffix}(volatile __global ${kind} *p) {
    ${kind} x;
    asm volatile("ld.${"acquire.gpu" if modern else "volatile"}.global.${width} %0, [%1];" : "=${register}"(x) : "l"(p) : "memory");
% if not modern:
    fence_device();
% endif
    return x;
}

static inline void store_release${suffix}(volatile __global ${kind} *p, ${kind} x) {
% if not modern:
    fence_device();
% endif
    asm volatile("st.${"release.gpu" if modern else "volatile"}.global.${width} [%0], %1;" : : "l"(p), "${register}"(x) : "memory");
}

% endfor
static inline uint load_streaming(const __global uint *p) {
    uint x;
    asm("ld.global.nc${".L1::no_allocate" if modern else ""}.u32 %0, [%1];" : "=r"(x) : "l"(p));
    return x;
}

static inline void prefetch_global(const __global void *p) {
    asm volatile("prefetch.global.L2 [%0];" : : "l"(p));
}

static inline void spin_hint(void) {
% if modern:
    asm volatile("nanosleep.u32 20;");
% endif
}
