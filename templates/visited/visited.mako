## visited: who has been reached, and claiming a vertex for exactly one finder.
##
## look, claim   declare a flag: v may be free; v is this lane's, true for one lane of the grid
## claim_bit     the same as claim for a bitmap or mask that has no labels behind it
## mark          (labels only) rebuilds the bitmap from the labels before bitmap stages
## Called by     `mark`: one-SIMD groups only, inside a tile of words
## In scope      the_visited (bitmap of this stage), labels, active, v, level
## Called by     any control flow
## Races         the plain read before the atomic may be stale: it can only say "not yet", and the
##               atomic then decides
## Choice        config.frontier.visited: "bitmap" (one bit a vertex, in cache on large graphs) or "labels"
##               (the result array itself, one access less where everything is in cache), both exact;
##               "mask" (the bitmap as bytes, before the labels) and "plain" (the labels) use no atomics:
##               finders that come together may all win. A set bit is always true; bits get lost where
##               two set bits of one byte, and the label decides then.

<%def name="declarations()">
% if config.word_bits == 64:
typedef ulong word_t;
#define WORD_SHIFT 6
#define WORD_OR(p, x) atom_or(p, x)
% else:
typedef uint word_t;
#define WORD_SHIFT 5
#define WORD_OR(p, x) atomic_or(p, x)
% endif
#define WORD_BITS (1u << WORD_SHIFT)
#define WORD_MASK (WORD_BITS - 1u)
#define WORD_BIT(v) ((word_t)1 << ((v) & WORD_MASK))

// Position of the lowest set bit of a word that is not 0, and how many are set. A compiler for the
// host's processor has an instruction for each, but PoCL calls a function for popcount().
#if defined(__x86_64__) || defined(__aarch64__)
static inline uint word_first(word_t word) { return (uint)__builtin_ctzl(word); }
static inline uint word_count(word_t word) { return (uint)__builtin_popcountl(word); }
#else
static inline uint word_first(word_t word) { return (uint)popcount((word & (0 - word)) - 1); }
static inline uint word_count(word_t word) { return (uint)popcount(word); }
#endif

// Position of the k-th set bit (k from 0) of a word that has more than k.
static inline uint word_select(word_t word, uint k) {
    uint position = 0;
    % for width in (32, 16, 8, 4, 2, 1):
    % if width < config.word_bits:
    {
        const uint below = (uint)popcount(word & (((word_t)1 << ${width}) - 1));
        const uint above = k >= below;
        k -= above ? below : 0u;
        word >>= above ? ${width} : 0;
        position += above ? ${width}u : 0u;
    }
    % endif
    % endfor
    return position;
}
</%def>

## A look before the claim: whether v may still be unclaimed. Looks of one batch overlap. With `when`
## they are only made where it is true: an atomic that fails costs less than waiting twice.
<%def name="look(may_claim, v, active, labels, unreached, when=None)">
% if config.frontier.visited == "bitmap":
const int ${may_claim} = ${active} && !(${f"({when}) && (" if when else ""}the_visited[${v} >> WORD_SHIFT] & WORD_BIT(${v})${")" if when else ""});
% elif config.frontier.visited == "mask":
const int ${may_claim} = ${active} && !(((__global const uchar *)the_visited)[${v} >> 3] & (1u << (${v} & 7u)));
% else:
const int ${may_claim} = ${active} && ${f"(!({when}) || " if when else ""}${labels}[${v}] == ${unreached}${")" if when else ""};
% endif
</%def>

<%def name="claim(claimed, v, may_claim, labels, unreached, level)">
int ${claimed} = 0;
% if config.frontier.visited == "bitmap":
if (${may_claim}) ${claimed} = !(WORD_OR(&the_visited[${v} >> WORD_SHIFT], WORD_BIT(${v})) & WORD_BIT(${v}));
if (${claimed}) ${labels}[${v}] = ${level};
% elif config.frontier.visited == "mask":
if (${may_claim}) {
    ((__global uchar *)the_visited)[${v} >> 3] |= (uchar)(1u << (${v} & 7u));
    ${claimed} = ${labels}[${v}] == ${unreached};
    if (${claimed}) ${labels}[${v}] = ${level};
}
% elif config.frontier.visited == "plain":
if (${may_claim}) {
    ${labels}[${v}] = ${level};
    ${claimed} = 1;
}
% else:
if (${may_claim}) ${claimed} = atomic_cmpxchg(&${labels}[${v}], ${unreached}, ${level}) == ${unreached};
% endif
</%def>

<%def name="claim_bit(claimed, v, may_claim)">
int ${claimed} = 0;
% if config.frontier.visited == "bitmap":
if (${may_claim}) ${claimed} = !(WORD_OR(&the_visited[${v} >> WORD_SHIFT], WORD_BIT(${v})) & WORD_BIT(${v}));
% else:
if (${may_claim}) {
    ((__global uchar *)the_visited)[${v} >> 3] |= (uchar)(1u << (${v} & 7u));
    ${claimed} = 1;
}
% endif
</%def>

<%def name="mark(labels, unreached)">
for (uint w = tile_begin; w < tile_end; ++w) {
    const uint first = w << WORD_SHIFT, count = min(n - first, (uint)WORD_BITS);
    word_t reached_bits = 0;
    for (uint i = 0; i < count; ++i) reached_bits |= (word_t)(${labels}[first + i] != ${unreached}) << i;
    the_visited[w] = reached_bits;
}
</%def>
