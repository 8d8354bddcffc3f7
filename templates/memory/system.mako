## system: words in host memory that several devices and the host write and read while kernels run.
##
## vocabulary()  at file scope, once, after memory.vocabulary()
## In scope      traits (DeviceTraits)
## Called by     any work-item, in any control flow
## Barriers      none
## Local memory  none
##
## A pointer below is `volatile __global T *`; T is uint, or ulong where the word ends in _ulong.
## T load_system(p)             past caches that others' writes do not reach; also load_system_ulong
## uint load_acquire_system(p), void store_release_system(p, x)
##                              what is written before the store is there for who loads its value
## void fence_system()          the same between other accesses
## Choice        traits.memory_ops; beside PTX the words of a device's scope, which a processor's are

<%def name="vocabulary()">\
% if traits.memory_ops == "ptx":
static inline void fence_system(void) { asm volatile("fence.acq_rel.sys;" : : : "memory"); }

% for kind, suffix, width, register in (("uint", "", "u32", "r"), ("ulong", "_ulong", "u64", "l")):
static inline ${kind} load_system${suffix}(volatile __global ${kind} *p) {
    ${kind} x;
    asm volatile("ld.relaxed.sys.global.${width} %0, [%1];" : "=${register}"(x) : "l"(p));
    return x;
}

% endfor
static inline uint load_acquire_system(volatile __global uint *p) {
    uint x;
    asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
    return x;
}

static inline void store_release_system(volatile __global uint *p, uint x) {
    asm volatile("st.release.sys.global.u32 [%0], %1;" : : "l"(p), "r"(x) : "memory");
}
% else:
static inline void fence_system(void) { fence_device(); }
static inline uint load_system(volatile __global uint *p) { return load_relaxed(p); }
static inline ulong load_system_ulong(volatile __global ulong *p) { return load_relaxed_ulong(p); }
static inline uint load_acquire_system(volatile __global uint *p) { return load_acquire(p); }
static inline void store_release_system(volatile __global uint *p, uint x) { store_release(p, x); }
% endif
</%def>
