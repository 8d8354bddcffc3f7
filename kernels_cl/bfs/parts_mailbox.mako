## parts_mailbox: what devices read of each other in host memory, and what they decide by it.
##
## decided, merged   expressions: of one work-item, whether all were heard of; of a word, what is new
## put               a statement: a word that was pulled goes to this device's mailbox
## In scope          memory and system vocabularies, state words, peers, rule, mailbox_words; where they are
##                   called, own_box and box0, box1, ... (addresses), reached, found, rank and numbers of
##                   the graph
## Barriers          none

## Words of mailboxes, and how they are got at.
<%def name="places()">
% if config.word_bits == 64:
#define LOAD_WORD_SYSTEM(p) load_system_ulong(p)
% else:
#define LOAD_WORD_SYSTEM(p) load_system(p)
% endif
% for name, place in mailbox_words.items():
#define ${name} ${place}u
% endfor
#define BOX(address) ((volatile __global uint *)(address))
#define BOX_BITS(address) ((volatile __global word_t *)(BOX(address) + BOX_FOUND))
#define BOX_LIST(address) (BOX(address) + BOX_FOUND)
</%def>

<%def name="declarations()">
${places()}

// Whether a word of another's mailbox came to be what it is waited for.
static int box_wait(volatile __global uint *word, const uint wanted, const uint spin_limit) {
    for (uint spins = 0; spins < spin_limit; ++spins)
        if (load_acquire_system(word) == wanted) return 1;
    return 0;
}

// The bits of a word that are new to this device; then both bitmaps hold them.
static inline word_t merge_word(const uint w,
                                % for peer in range(peers):
                                const ulong box${peer}, const uint from${peer}, const uint past${peer},
                                % endfor
                                __global word_t *reached, __global word_t *found) {
    const word_t before = reached[w];
    word_t merged = found[w];
    % for peer in range(peers):
    if (w >= from${peer} && w < past${peer}) merged |= LOAD_WORD_SYSTEM(BOX_BITS(box${peer}) + w);
    % endfor
    reached[w] = merged;
    found[w] = merged;
    return merged & ~before;
}

// By one work-item, once all groups of this device have merged a level: hand over the counts of what is
// next here, take those of the others, and decide what all do with it.
static int decide(volatile __global uint *state, const ulong own_box,
                  % for peer in range(peers):
                  const ulong box${peer},
                  % endfor
                  const uint vertices, const ulong edges, const uint rank, const uint stamp, const uint level,
                  const uint n_all, const ulong m_all, const uint hubs_all, const ulong map_bytes,
                  const uint spin_limit) {
    volatile __global uint *const own = BOX(own_box);
    own[BOX_VERTICES] = vertices;
    own[BOX_EDGES] = (uint)edges;
    own[BOX_EDGES + 1] = (uint)(edges >> 32);
    own[BOX_HUBS] = state[FOUND_HUBS];
    store_release_system(own + BOX_COUNTED, stamp);
    uint vertices_all = vertices, hubs_found = state[FOUND_HUBS], having = edges ? 1u << rank : 0u;
    ulong edges_all = edges;
    int lists_fit = 4 * (edges + 1) <= map_bytes;
    % for peer in range(peers):
    {
        volatile __global uint *const box = BOX(box${peer});
        if (!box_wait(box + BOX_COUNTED, stamp, spin_limit)) return 0;
        const ulong theirs = load_system(box + BOX_EDGES) | (ulong)load_system(box + BOX_EDGES + 1) << 32;
        vertices_all += load_system(box + BOX_VERTICES);
        hubs_found += load_system(box + BOX_HUBS);
        edges_all += theirs;
        lists_fit &= 4 * (theirs + 1) <= map_bytes;
        having |= theirs ? 1u << (${peer}u + (${peer}u >= rank)) : 0u;
    }
    % endfor
    volatile __global ulong *const explored = (volatile __global ulong *)(state + EXPLORED);
    const ulong known = *explored + edges_all;
    *explored = known;
    int pulls = 0;
    % if config.pull:
    const int before = state[PULLS];
    state[UNQUEUED] = before;
    % if rule.gamma is not None:
    pulls = hubs_all > 0 && 100ul * (hubs_found - state[HUBS_BEFORE]) > ${rule.gamma}ul * hubs_all;
    % else:
    pulls = ${rule.push_cost}ul * edges_all > (m_all - known) / ${config.pull.alpha}u + n_all / ${config.pull.floor}u;
    % endif
    % if rule.one_way:
    if (before) pulls = ${f"!(vertices_all < n_all / {rule.beta}u)" if rule.beta else "1"};
    % endif
    pulls = pulls && level > 0;
    % endif
    state[HUBS_BEFORE] = hubs_found;
    state[PULLS] = pulls;
    // All lists fit, and together they are smaller.
    state[LISTS] = !pulls && lists_fit && 4 * (edges_all + ${peers + 1}) < map_bytes * ${peers + 1};
    state[HAVING] = having;
    state[ENDED] = vertices_all == 0;
    state[DECIDED] = level;
    volatile __global uint *const entry = own + BOX_LOG + (level % LOG_LEVELS) * LOG_WORDS;
    entry[0] = vertices_all;
    entry[1] = pulls;
    entry[3] = device_clock_ns();
    return 1;
}
</%def>

<%def name="decided(vertices, edges, stamp, level)" buffered="True">decide(state, own_box, ${"".join(f"box{peer}, " for peer in range(peers))}${vertices}, ${edges}, rank, ${stamp}, ${level}, n_all, m_all, hubs_all, map_bytes, spin_limit / 4u)</%def>
<%def name="merged(word)" buffered="True">merge_word(${word}, ${"".join(f"box{peer}, from{peer}, past{peer}, " for peer in range(peers))}reached, found)</%def>
<%def name="put(word)">
if (${word} < tile_end) {
    BOX_BITS(own_box)[first_word + ${word}] = to_visited[${word}];
    % if not counts_hubs:
    fresh[${word}] = to_visited[${word}] & ~from_visited[${word}];
    % endif
}
</%def>
