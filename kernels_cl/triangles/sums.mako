## sums: counts of vertices, of 32 bits, or of 64 where those may not hold them.
##
## declarations(bits)       at file scope
## SUM_ADD(sums, v, x)      adds x to the count of v
##
## Race                     additions commute

<%def name="declarations(bits)">\
% if bits == 64:
#define SUM_ADD(sums, v, x) atom_add(&(sums)[v], (ulong)(x))
% else:
#define SUM_ADD(sums, v, x) atomic_add(&(sums)[v], (x))
% endif
</%def>
