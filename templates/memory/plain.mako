## memory, plain flavour: OpenCL C 1.2, for drivers that have neither C11 atomics nor PTX.
##
## Contract      /memory/memory.mako
## Note          a compiler that targets the host's processor itself has its atomics, at the price of
##               plain moves; any other gets a read-modify-write, which is also what a race checker
##               accepts when a word is polled

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

#if defined(__x86_64__) || defined(__aarch64__)

// mem_fence costs nothing on such a device and may order nothing either, so it is not used here.
static inline void fence_device(void) { __atomic_thread_fence(__ATOMIC_ACQ_REL); }

% for kind, suffix in (("uint", ""), ("ulong", "_ulong")):
% for order in ("relaxed", "acquire"):
static inline ${kind} load_${order}${suffix}(volatile __global ${kind} *p) {
    return __atomic_load_n(p, __ATOMIC_${order.upper()});
}

% endfor
% for order in ("relaxed", "release"):
static inline void store_${order}${suffix}(volatile __global ${kind} *p, ${kind} x) {
    __atomic_store_n(p, x, __ATOMIC_${order.upper()});
}

% endfor
% endfor
static inline void prefetch_global(const __global void *p) {
    __builtin_prefetch((const void *)(size_t)p);
}

static inline void spin_hint(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

#else

static inline void fence_device(void) { mem_fence(CLK_GLOBAL_MEM_FENCE); }

% for kind, suffix, prefix, atomic in (("uint", "", "atomic", True), ("ulong", "_ulong", "atom", traits.int64_atomics)):
% for order in ("relaxed", "acquire"):
static inline ${kind} load_${order}${suffix}(volatile __global ${kind} *p) {
% if atomic:
    const ${kind} x = ${prefix}_or(p, (${kind})0);
% else:
    const ${kind} x = *p;
% endif
    fence_device();
    return x;
}

% endfor
% for order in ("relaxed", "release"):
static inline void store_${order}${suffix}(volatile __global ${kind} *p, ${kind} x) {
    fence_device();
% if atomic:
    ${prefix}_xchg(p, x);
% else:
    *p = x;
% endif
}

% endfor
% endfor
static inline void prefetch_global(const __global void *p) { (void)p; }

static inline void spin_hint(void) {}

#endif

static inline uint load_streaming(const __global uint *p) { return *p; }
