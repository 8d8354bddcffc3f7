## trace: what each work-item does, written down for the host to bring SIMD groups together.
##
## Contract      /profile/profile.mako
## Counters      one word for each place of each work-item that is written down: how often it came by
## Accesses      two words each: row of the work-item << 40 | how many times it had been here; place << 52
##               | size << 47 | address. A size is its number of bytes, at most 16.
## Races         none on the counters, which have one owner; accesses take places by an atomic
## Clock         the processor's own where the compiler targets the host; a work-group's work-items run
##               one after the other there, so the last that leaves writes last
<%page args="on"/>\
#define PROF_NO_ROW 0xfffffffffffffffful

static inline ulong prof_row(volatile __global ulong *prof) {
    const ulong group = get_group_id(0), step = prof[0];
    if (group % step) return PROF_NO_ROW;
% if one_item:
    // Its local id is 0; PoCL 3 dies of asking for that many times in a group of one work-item.
    const ulong row = group / step;
% else:
    const ulong row = group / step * get_local_size(0) + get_local_id(0);
% endif
    return row < prof[1] ? row : PROF_NO_ROW;
}

static inline ulong prof_come_by(volatile __global ulong *prof, const ulong row, const uint site) {
    volatile __global ulong *const count = prof + ${header}u + row * ${sites}u + site;
    const ulong before = *count;
    *count = before + 1ul;
    return before;
}

static inline void prof_block(volatile __global ulong *prof, const uint site, const uint weight) {
    const ulong row = prof_row(prof);
    (void)weight;
    if (row != PROF_NO_ROW) prof_come_by(prof, row, site);
}

static inline void prof_wait(volatile __global ulong *prof, const uint site) {
    const ulong row = prof_row(prof);
    if (row != PROF_NO_ROW) prof_come_by(prof, row, site);
}

static inline void prof_barrier(volatile __global ulong *prof, const uint site) { prof_wait(prof, site); }

% for space, wanted in (("global", on["GMEM"]), ("local", on["LMEM"])):
% if wanted:
static inline long prof_${space}(volatile __global ulong *prof, const uint site, const ulong base, const long place, const uint element, const uint size, const uint way) {
    const ulong row = prof_row(prof);
    (void)way;
    if (row == PROF_NO_ROW) return place;
    const ulong before = prof_come_by(prof, row, site);
    // Looked at before it is taken, so that it never wraps.
    if (prof[3] >= prof[2]) return place;
    const ulong at = atomic_inc((volatile __global uint *)(prof + 3));
    if (at >= prof[2]) return place;
    volatile __global ulong *const access = prof + prof[6] + 2ul * at;
    access[0] = row << 40 | before;
    access[1] = (ulong)site << 52 | (ulong)size << 47 | ((base + (ulong)place * element) & 0x7ffffffffffful);
    return place;
}

% endif
% endfor
% if on["TIME"] or on["SYNC"]:
#if defined(__x86_64__)
static inline ulong prof_clock(uint *unit) {
    uint low, high;
    __asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(*unit) : : "memory");
    return (ulong)high << 32 | low;
}
#else
static inline ulong prof_clock(uint *unit) {
    *unit = 0u;
    return 0ul;
}
#endif

static inline void prof_begin(volatile __global ulong *prof) {
    const ulong group = get_group_id(0);
    if (get_local_id(0) || group >= prof[5]) return;
    uint unit;
    prof[prof[4] + group * ${record_words}u] = prof_clock(&unit);
    prof[prof[4] + group * ${record_words}u + 2] = (ulong)(unit & 0xfffu) + 1ul;
}

static inline void prof_end(volatile __global ulong *prof) {
    const ulong group = get_group_id(0);
    if (group >= prof[5]) return;
    uint unit;
    prof[prof[4] + group * ${record_words}u + 1] = prof_clock(&unit);
}
% endif
