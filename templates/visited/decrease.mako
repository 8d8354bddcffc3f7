## decrease: give a vertex a smaller key, and find for whom that was news.
##
## cell_t        what a vertex has in cells[v]: its key, or the key above the stage that gave it
## lower         declares a flag, whether this lane decreased the key of v, and `was`, the cell before
## first         an expression for a lane that decreased it to `key` <= `bound`: whether v has not been
##               decreased to such a key in this stage before; then exactly one lane queues it
## In scope      cells, stamps, and the key vocabulary; config.claims
## Called by     any control flow
## Races         the plain look before may be stale, which only ever means too large: the atomic
##               decides. With "packed" one atomic also says whether the vertex was decreased in this
##               stage already, since of equal keys the later stage is the larger cell
## Choice        config.claims: "packed" (32-bit keys, one 64-bit atomic), "stamped" (any key, a
##               second atomic on stamps[v] for those that are queued) or "none" (everyone who decreased
##               v queues it, so that a queue may have it many times)

<%def name="declarations()">
% if config.claims == "packed":
typedef ulong cell_t;
#define CELL_NONE ((ulong)KEY_NONE << 32)
#define CELL(key_, stage_) ((ulong)(key_) << 32 | (stage_))
#define CELL_KEY(cell_) ((key_t)((cell_) >> 32))
#define KEY_AT(v_) (((__global const key_t *)cells)[2 * (size_t)(v_) + 1])
#define FRESH_KEY_AT(v_) LOAD_KEY((volatile __global key_t *)cells + 2 * (size_t)(v_) + 1)
% else:
typedef key_t cell_t;
#define CELL_NONE KEY_NONE
#define CELL(key_, stage_) (key_)
#define CELL_KEY(cell_) (cell_)
#define KEY_AT(v_) cells[v_]
#define FRESH_KEY_AT(v_) LOAD_KEY((volatile __global key_t *)cells + (v_))
% endif
</%def>

<%def name="decrease(decreased, was, v, may, key, stage)">
cell_t ${was} = 0;
% if config.claims == "packed":
if (${may}) ${was} = atom_min((volatile __global ulong *)cells + ${v}, CELL(${key}, ${stage}));
% else:
if (${may}) ${was} = ATOMIC_MIN_KEY((volatile __global key_t *)cells + ${v}, ${key});
% endif
const int ${decreased} = ${may} && ${key} < CELL_KEY(${was});
</%def>

<%def name="first(v, was, stage, bound)" filter="trim">
% if config.claims == "none":
1
% elif config.claims == "packed":
((uint)${was} != ${stage} || CELL_KEY(${was}) > ${bound})
% else:
(atomic_xchg(stamps + ${v}, ${stage}) != ${stage})
% endif
</%def>
