// 64-bit atomics for compilers whose library of OpenCL functions lacks them: Debian's for nvptx.
#define OVERLOADABLE __attribute__((overloadable))

#define WIDE_ATOMIC(name, builtin)                                            \
    OVERLOADABLE ulong atom_##name(volatile __global ulong *p, ulong x) {    \
        return builtin(p, x, __ATOMIC_RELAXED);                              \
    }
WIDE_ATOMIC(add, __atomic_fetch_add)
WIDE_ATOMIC(sub, __atomic_fetch_sub)
WIDE_ATOMIC(or, __atomic_fetch_or)
WIDE_ATOMIC(and, __atomic_fetch_and)
WIDE_ATOMIC(min, __atomic_fetch_min)
WIDE_ATOMIC(max, __atomic_fetch_max)
WIDE_ATOMIC(xchg, __atomic_exchange_n)

OVERLOADABLE ulong atom_add(volatile __local ulong *p, ulong x) {
    return __atomic_fetch_add(p, x, __ATOMIC_RELAXED);
}

OVERLOADABLE ulong atom_min(volatile __local ulong *p, ulong x) {
    return __atomic_fetch_min(p, x, __ATOMIC_RELAXED);
}

OVERLOADABLE ulong atom_cmpxchg(volatile __global ulong *p, ulong expected, ulong x) {
    __atomic_compare_exchange_n(p, &expected, x, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}

OVERLOADABLE ulong atom_inc(volatile __global ulong *p) {
    return __atomic_fetch_add(p, 1ul, __ATOMIC_RELAXED);
}
