## memory, amdgcn flavour: the compiler's C11 atomics at device ("agent") scope.
##
## Contract      /memory/memory.mako
## Note          their names in OpenCL C live in a library of the driver; the compiler's own are the
##               same instructions without it

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

static inline void fence_device(void) { __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "agent"); }

% for kind, suffix in (("uint", ""), ("ulong", "_ulong")):
% for order in ("relaxed", "acquire"):
static inline ${kind} load_${order}${suffix}(volatile __global ${kind} *p) {
    return __opencl_atomic_load((volatile __global atomic_${kind} *)p, __ATOMIC_${order.upper()}, __OPENCL_MEMORY_SCOPE_DEVICE);
}

% endfor
% for order in ("relaxed", "release"):
static inline void store_${order}${suffix}(volatile __global ${kind} *p, ${kind} x) {
    __opencl_atomic_store((volatile __global atomic_${kind} *)p, x, __ATOMIC_${order.upper()}, __OPENCL_MEMORY_SCOPE_DEVICE);
}

% endfor
% endfor
static inline uint load_streaming(const __global uint *p) { return __builtin_nontemporal_load(p); }

// There is no instruction for it but on the latest.
static inline void prefetch_global(const __global void *p) { (void)p; }

static inline void spin_hint(void) {
% if not traits.emulated:
    __builtin_amdgcn_s_sleep(1);
% endif
}

// A barrier makes a wave's stores visible to its own work-group. Where one work-item then publishes
// them to the device for all, each wave must have seen its own stores through first: the fence of
// the one waits for its own wave only.
static inline __attribute__((always_inline)) void barrier_of_waves(const uint flags) {
    if (flags & CLK_GLOBAL_MEM_FENCE) __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    barrier(flags);
}
#define barrier(flags) barrier_of_waves(flags)
