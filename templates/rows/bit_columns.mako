## bit_columns: of rows of bits, how many have each bit: counters in planes, one bit of each in a word.
##
## declarations(planes)     at file scope
## Called by                any work-item
## Barriers                 none
## Local memory             none
##
## columns_t                the counters of 32 columns, {0} to begin with
## COLUMNS_MOST             what a counter holds
## columns_add(c, a, b)     adds two rows; three planes take a few instructions for 64 bits
## uint columns_count(c, i) what has been added to column i

<%def name="declarations(planes)">\
#define COLUMNS_MOST ${(1 << planes) - 1}u
typedef struct { ${" ".join(f"uint plane{p};" for p in range(planes))} } columns_t;

static inline void columns_add(columns_t *columns, const uint a, const uint b) {
    const uint odd = a ^ b;
    uint carry = (columns->plane0 & odd) | (a & b);
    columns->plane0 ^= odd;
% for p in range(1, planes):
    {
        const uint up = columns->plane${p} & carry;
        columns->plane${p} ^= carry;
        carry = up;
    }
% endfor
}

static inline uint columns_count(const columns_t *columns, const uint column) {
    return ${" | ".join(f"(columns->plane{p} >> column & 1u) << {p}" for p in range(planes))};
}
</%def>
