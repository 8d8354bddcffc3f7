## bit_columns: of rows of bits, how many have each bit: counters in planes, one bit of each in a word.
##
## declarations(planes)     at file scope
## Called by                any work-item
## Barriers                 none
## Local memory             none
##
## columns_t                the counters of 32 columns, {0} to begin with
## COLUMNS_MOST             what a counter holds
## columns_add(c, a, b, c, d)  adds four rows of 32 bits; planes after the second are looked at once for all
## uint columns_any(c)      which columns are not 0
## uint columns_count(c, i) what has been added to column i

<%def name="declarations(planes)">\
#define COLUMNS_MOST ${(1 << planes) - 1}u
typedef struct { ${" ".join(f"uint plane{p};" for p in range(planes))} } columns_t;

static inline void columns_add(columns_t *columns, const uint a, const uint b, const uint c, const uint d) {
    const uint odd = a ^ b, first = columns->plane0 ^ odd, odder = c ^ d;
    const uint two = (columns->plane0 & odd) | (a & b), other_two = (first & odder) | (c & d);
    columns->plane0 = first ^ odder;
    const uint either = two ^ other_two;
    uint carry = (columns->plane1 & either) | (two & other_two);
    columns->plane1 ^= either;
% for p in range(2, planes):
    {
        const uint up = columns->plane${p} & carry;
        columns->plane${p} ^= carry;
        carry = up;
    }
% endfor
}

static inline uint columns_any(const columns_t *columns) {
    return ${" | ".join(f"columns->plane{p}" for p in range(planes))};
}

static inline uint columns_count(const columns_t *columns, const uint column) {
    return ${" | ".join(f"(columns->plane{p} >> column & 1u) << {p}" for p in range(planes))};
}
</%def>
