## sums: counts of vertices, as many to a word as their width allows.
##
## declarations(bits)       at file scope; bits of a count: 8, 16, 32 or 64
## SUM_ADD(sums, v, x)      adds x to the count of v, which has room for what it gets in all
## SUM_CLEAR(sums, v)       what is to be done once for every v, in any order, to clear all counts
##
## Race                     additions to the counts of a word commute and never carry into the next one

<%def name="declarations(bits)">\
% if bits == 64:
#define SUM_ADD(sums, v, x) atom_add(&(sums)[v], (ulong)(x))
#define SUM_CLEAR(sums, v) (sums)[v] = 0ul
% elif bits == 32:
#define SUM_ADD(sums, v, x) atomic_add(&(sums)[v], (x))
#define SUM_CLEAR(sums, v) (sums)[v] = 0u
% else:
#define SUMS_OF_WORD ${32 // bits}u
#define SUM_ADD(sums, v, x) \
    atomic_add(&(sums)[(v) / SUMS_OF_WORD], (uint)(x) << (v) % SUMS_OF_WORD * ${bits}u)
#define SUM_CLEAR(sums, v) if ((v) % SUMS_OF_WORD == 0u) (sums)[(v) / SUMS_OF_WORD] = 0u
% endif
</%def>
