## packed: ascending rows of small numbers as 16-bit words, in units that one load takes.
##
## declarations()        at file scope
## In scope              the lane vocabulary
## Called by             packed_fill: the work-items that write a row, each with its number among them
## Barriers              none
## Local memory          none
##
## PACKED_UNIT           words of a unit, which is aligned and 16 bytes long
## PACKED_RANKS          numbers below it are packed
## PACKED_BEGIN(e, v)    unit where the row of v begins whose first edge is e; rows have room there for
##                       as many words as edges
## PACKED_FEW(counts)    of what is kept of a row: its words
## PACKED_DENSE(counts)  and how many numbers come before them as bits: those of the first
##                       PACKED_BLOCKS(counts) blocks of BLOCK numbers, each with at least BLOCK_LEAST.
##                       A block takes the room of BLOCK_PLACES words, and whoever packs a row sees
##                       that it has the room
## packed_fill(...)      writes what fills up the last unit; no number that is packed is it

<%def name="declarations()">\
#define PACKED_UNIT 8u
#define PACKED_RANKS 65535u
#define PACKED_BEGIN(e, v) ((uint)((e) / PACKED_UNIT) + (v))
#define PACKED_FEW(counts) ((counts) & 0xffffu)
#define PACKED_DENSE(counts) ((counts) >> 16 & 0x1fffu)
#define PACKED_BLOCKS(counts) ((counts) >> 29)
#define PACKED_COUNTS(few, dense, blocks) ((few) | (dense) << 16 | (blocks) << 29)
#define BLOCK 512u
#define BLOCKS 4u                      // that may be bits, up to 7 with below 8,192 numbers
#define BLOCK_WORDS (BLOCK / 32u)
#define BLOCK_PLACES (BLOCK / 16u)
#define BLOCK_UNITS (BLOCK_PLACES / PACKED_UNIT)
#define BLOCK_LEAST 16u
#define DENSE (BLOCK * BLOCKS)          // numbers that may be bits
#define DENSE_WORDS (DENSE / 32u)

static inline void packed_fill(
    __global ushort *restrict row, const uint count, const uint item, const uint items
) {
    const uint end = (count + PACKED_UNIT - 1u) / PACKED_UNIT * PACKED_UNIT;
    for (uint k = count + item; k < end; k += items) row[k] = (ushort)0xffffu;
}
</%def>
