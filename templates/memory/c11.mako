## memory, c11 flavour: the atomics of OpenCL C 3.0.
##
## Contract      /memory/memory.mako
## Needs         acquire-release order and device scope; without 64-bit atomics the ulong words are
##               volatile accesses beside fences

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

static inline void fence_device(void) {
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
}

% for kind, suffix, atomic in (("uint", "", True), ("ulong", "_ulong", traits.int64_atomics)):
% for order in ("relaxed", "acquire"):
static inline ${kind} load_${order}${suffix}(volatile __global ${kind} *p) {
% if atomic:
    return atomic_load_explicit((volatile __global atomic_${kind} *)p, memory_order_${order}, memory_scope_device);
% else:
    const ${kind} x = *p;
    fence_device();
    return x;
% endif
}

% endfor
% for order in ("relaxed", "release"):
static inline void store_${order}${suffix}(volatile __global ${kind} *p, ${kind} x) {
% if atomic:
    atomic_store_explicit((volatile __global atomic_${kind} *)p, x, memory_order_${order}, memory_scope_device);
% else:
    fence_device();
    *p = x;
% endif
}

% endfor
% endfor
static inline uint load_streaming(const __global uint *p) { return *p; }

static inline void prefetch_global(const __global void *p) {
% if traits.is_cpu:
    __builtin_prefetch((const void *)(size_t)p);
% else:
    prefetch((const __global uchar *)p, 1);
% endif
}

static inline void spin_hint(void) {
% if traits.is_cpu:
    __asm__ volatile("pause");
% endif
}
