// The built-in functions that kernels of the microbenchmarks call, for a compiler that has no library
// of them for this target. Only tests use it.
#define NAMED __attribute__((overloadable, always_inline))
ulong NAMED get_local_id(uint d) { return (ulong)__nvvm_read_ptx_sreg_tid_x(); }
ulong NAMED get_group_id(uint d) { return (ulong)__nvvm_read_ptx_sreg_ctaid_x(); }
ulong NAMED get_num_groups(uint d) { return (ulong)__nvvm_read_ptx_sreg_nctaid_x(); }
ulong NAMED get_global_id(uint d) {
    return (ulong)(__nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x());
}
ulong NAMED get_global_size(uint d) {
    return (ulong)(__nvvm_read_ptx_sreg_nctaid_x() * __nvvm_read_ptx_sreg_ntid_x());
}
void NAMED barrier(cl_mem_fence_flags flags) { asm volatile("bar.sync 0;" : : : "memory"); }
uint NAMED atomic_or(volatile __global uint *p, uint x) { return __atomic_fetch_or(p, x, __ATOMIC_RELAXED); }
uint NAMED atomic_inc(volatile __global uint *p) { return __atomic_fetch_add(p, 1u, __ATOMIC_RELAXED); }
