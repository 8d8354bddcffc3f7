## gather: hand each vertex of a bitmap to a visit body, exactly once.
##
## each_added    those that the last bitmap stage added: of `after` and not of `before`
## each_bit      those of the words that an expression in `w` gives, which is evaluated once for each
## rank, take    of the bits that lanes have in words of their own: where each lane's begin among all, of which there
##               are `total`; then, of those from `first` on, one for each lane
## Body sees     active, v
## Called by     all work-items, in uniform control flow; the body runs in lane-uniform flow

<%namespace name="lanes" file="/lanes/lanes.mako"/>
<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="search" file="/balance/shared/search.mako"/>

<%def name="each_added(before, after, words)">${bits(words, f"{after}[w] & ~{before}[w]", caller.body)}</%def>

<%def name="each_bit(words, word)">${bits(words, word, caller.body)}</%def>

<%def name="bits(words, word_at, visit)">
<%tiles:each_tile count="${words}" size="${config.pull_tile if lanes.module.one_lane(context) else config.lanes}">
% if lanes.module.one_lane(context):
    for (uint w = tile_begin; w < tile_end; ++w) {
        for (word_t added = ${word_at}; added; added &= added - 1) {
            const int active = 1;
            const uint v = (w << WORD_SHIFT) + word_first(added);
            ${visit()}
        }
    }
% else:
    const uint w = tile_begin + lane_id();
    const word_t added = w < tile_end ? ${word_at} : 0;
    ${rank("added")}
    for (uint first = 0; first < total; first += LANES) {
        ${take("added")}
        ${visit()}
    }
% endif
</%tiles:each_tile>
</%def>

<%def name="rank(word)">
const uint mine = (uint)popcount(${word}), my_rank = lane_scan_exclusive_add(mine);
const uint total = lane_broadcast(my_rank + mine, LANES - 1);
</%def>

<%def name="take(words)">
const uint rank = first + lane_id();
const int active = rank < total;
${search.owner("owner", "my_rank", "rank")}
const uint nth = rank - lane_shuffle(my_rank, owner);
const word_t word = lane_shuffle(${words}, owner);
const uint v = active ? ((tile_begin + owner) << WORD_SHIFT) + word_select(word, nth) : 0u;
</%def>
