## profile: the words that clgraph/profile/instrument.py puts into a rendered source, by bit mask.
##
## In scope      traits (DeviceTraits); profile, the mask, and bits, its bits by name; flavour; sites,
##               how many places are counted at; spread, site_words, header, record_words,
##               most_records; stages, stage_words and hot_words; stages_at, where both begin, which
##               stand behind the counters of sites, and records_at; near_units and near_sectors;
##               one_item, whether every work-group has one work-item
## Called by     any work-item, in any control flow; PROF_BARRIER like the barrier that it stands for
## Barriers      none but that one
## Local memory  none
## Choice        flavour: "counters" asks the lanes that run together and adds to counters in global
##               memory, "trace" writes down what each work-item did, for the host to bring together
##
## PROF_PARAMETER, PROF_ARGUMENT       one more parameter, with its comma, of kernels and functions
## PROF_BEGIN, PROF_END                of a kernel; PROF_END also before each return       (TIME)
## PROF_BLOCK(site, weight)            a basic block begins                                (DIV, MIX)
## PROF_WAIT(site)                     before a call that waits for other work-groups    (DIV)
## PROF_GLOBAL, PROF_LOCAL(site, pointer, place, size)   `place`, where `size` bytes are accessed
##                                                                            (GMEM, LMEM)
## PROF_..._STORE, _ATOMIC, _FAR       the same of a store, which nothing waits for, of an atomic, and of a
##                                     load that goes past the nearest cache
## PROF_..._VECTOR(site, pointer, place, n)   the same of n elements, `place` in vectors of them
## PROF_BARRIER(site, flags)           barrier(flags)                                 (SYNC, DIV)
##
## Words of `prof`: [0] work-groups from one that is written down to the next, [1] work-items that
## there is room for, [2] accesses that there is room for, [3] accesses so far, [4] where records
## begin, [5] how many there is room for, [6] where accesses begin, or what is near, [7] how often all
## work-groups have met. Counters begin at `header`.
## A record: first and last clock of a SIMD group, 1 + its compute unit, cycles that it waited,
## lanes and possible lanes of its blocks by weight, first and last nanosecond, requests to global
## memory that were waited for, passes over local memory, barriers, requests that the nearest cache
## answered; what the possible lanes and the last four came to when its work-group last met all others, and
## how often it did. Where only times are written, the first eight of these.
<%
    on = {name: bool(profile & bit) for name, bit in bits.items()}
    counting = on["GMEM"] or on["LMEM"] or on["DIV"]
    needs = counting or on["TIME"] or on["SYNC"]
%>\
% if traits.int64_atomics and traits.memory_ops != "ptx":
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
% endif
% if needs:
#define PROF_PARAMETER , volatile __global ulong *prof
#define PROF_ARGUMENT , prof
% else:
#define PROF_PARAMETER
#define PROF_ARGUMENT
% endif
% if needs:
#define PROF_WAY_STORE 0u
#define PROF_WAY_NEAR 1u
#define PROF_WAY_FAR 2u
#define PROF_WAY_ATOMIC 3u
<%include file="${'/profile/' + flavour + '.mako'}" args="on=on"/>\
% endif
% if not on["TIME"] and not on["SYNC"]:
#define PROF_BEGIN
#define PROF_END
% else:
#define PROF_BEGIN prof_begin(prof);
#define PROF_END prof_end(prof);
% endif
% if on["DIV"]:
#define PROF_WAIT(site) prof_wait(prof, site),
% else:
#define PROF_WAIT(site)
% endif
% if on["DIV"]:
#define PROF_BLOCK(site, weight) prof_block(prof, site, weight);
% elif on["MIX"] and traits.memory_ops == "ptx":
#define PROF_BLOCK(site, weight) asm volatile("// PROF_BLOCK " #site);
% else:
#define PROF_BLOCK(site, weight)
% endif
% for word, space, way, bit in (("GLOBAL", "global", "NEAR", "GMEM"), ("GLOBAL_STORE", "global", "STORE", "GMEM"), ("GLOBAL_ATOMIC", "global", "ATOMIC", "GMEM"), ("GLOBAL_FAR", "global", "FAR", "GMEM"), ("LOCAL", "local", "NEAR", "LMEM"), ("LOCAL_STORE", "local", "STORE", "LMEM")):
% if on[bit]:
#define PROF_${word}_AT(site, pointer, place, size) prof_${space}(prof, site, (ulong)(size_t)(pointer), (long)(place), (uint)sizeof(*(pointer)), (uint)(size), PROF_WAY_${way})
% if word == "GLOBAL" and flavour == "counters":
#define PROF_GLOBAL(site, pointer, place, size) prof_near(prof, site, (ulong)(size_t)(pointer), PROF_GLOBAL_AT(site, pointer, place, size), (uint)sizeof(*(pointer)))
% elif word == "GLOBAL_ATOMIC" and flavour == "counters":
#define PROF_GLOBAL_ATOMIC(site, pointer, place, size) prof_met(prof, (ulong)(size_t)(pointer), PROF_GLOBAL_ATOMIC_AT(site, pointer, place, size), (uint)sizeof(*(pointer)))
% else:
#define PROF_${word}(site, pointer, place, size) PROF_${word}_AT(site, pointer, place, size)
% endif
#define PROF_${word}_VECTOR(site, pointer, place, n) (PROF_${word}(site, pointer, (long)(place) * (n), (uint)(n) * (uint)sizeof(*(pointer))) / (n))
% else:
#define PROF_${word}(site, pointer, place, size) (place)
#define PROF_${word}_VECTOR(site, pointer, place, n) (place)
% endif
% endfor
% if on["SYNC"] and flavour == "counters":
#define PROF_BARRIER(site, ...) do { const ulong prof_before = prof_clock(); barrier(__VA_ARGS__); prof_waited(prof, site, prof_before); } while (0)
% elif on["DIV"]:
#define PROF_BARRIER(site, ...) (prof_barrier(prof, site), barrier(__VA_ARGS__))
% else:
#define PROF_BARRIER(site, ...) barrier(__VA_ARGS__)
% endif
