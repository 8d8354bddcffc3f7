## Rows of bits, as the kernels that fill and those that settle them know them.
##
## declarations()   at file scope, once, after the memory vocabulary
## arguments()      the last arguments of a kernel that uses FOUND or SLOT

<%def name="declarations()">\
#define ROW_WORDS ${config.row_words}u
#define SLOTS_KEPT ${config.kept_slots}u
#define SLOT(level) ((ulong)((level) % SLOTS_KEPT) * n)
#define FOUND(level) found[(level) & ${config.found_words - 1}u]
#define LAST_FOUND(level) load_relaxed(found + ((level) - 1 & ${config.found_words - 1}u))
</%def>

<%def name="arguments()">
    const uint n,
    const uint level,
    volatile __global uint *found                   // whether a level found anything, levels in turn
</%def>
