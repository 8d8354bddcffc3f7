## find: a scan of those left for counts of at most the level, which go and are queued.
##
## find(size)     in FIND: the queue, and control[LEAST], the least count above; by tiles of this size
## In scope       now, slot, state, fresh, left_from, queue_to, and the kernel's arguments; the queue's
##                begin_stage()
## Called by      all work-items, in uniform control flow; no barriers, but those of the queue's end
##
## The first one of a run that begins anew puts counts, statuses and numbers in place along the way, and
## forgets what triangles another run has claimed.
##
## A lane asks for `find_ahead` items at a time: one after the other, each would wait for its answers.

<%namespace name="tiles" file="/grid/tiles.mako"/>
<%namespace name="queue" file="/frontier/queue.mako"/>
<%namespace name="incidence" file="/truss/incidence.mako"/>

<%def name="find(size)">
const int begins = now.list == UNBEGUN && anew, of_all = now.list == UNBEGUN || now.list == NO_LIST;
__global const uint *const known = begins ? initial : counts;
uint least = NO_COUNT;
<%tiles:each_tile count="now.length" size="${size}">
    for (uint first = tile_begin; first < tile_end; first += ${find_ahead}u * LANES) {
        uint under = 0u;    // a bit for each of this lane's items that goes
        % for k in range(find_ahead):
        const uint place${k} = first + ${k}u * LANES + lane_id();
        const int active${k} = place${k} < tile_end;
        const uint x${k} = of_all ? (active${k} ? place${k} : tile_begin) : left_from[active${k} ? place${k} : tile_begin];
        % endfor
        % for k in range(find_ahead):
        // Both come at once, though of some that have gone the count is not wanted.
        const uint count${k} = known[x${k}], status${k} = status[x${k}];
        % endfor
        % for k in range(find_ahead):
        if (active${k} && (begins || status${k} == ALIVE)) {
            if (begins) {
                counts[x${k}] = count${k};
                status[x${k}] = (uchar)ALIVE;
                numbers[x${k}] = 0u;
                % if claiming:
                for (uint word = x${k}; word < claim_words; word += n) claims[word] = 0u;
                % endif
            }
            if (count${k} <= now.level) under |= ${1 << k}u;
            else least = min(least, count${k});
        }
        % endfor
        for (uint k = 0u; k < ${find_ahead}u && lane_any(under >> k); ++k) {
            const int goes = under >> k & 1u;
            const uint place = goes ? first + k * LANES + lane_id() : tile_begin;
            const uint x = of_all ? place : left_from[place];
            if (goes) {
                ${incidence.remove('x', 'fresh')}
            }
            ${queue.push("goes", "x", "queue_to")}
        }
    }
</%tiles:each_tile>
${queue.end_stage("queue_to", "0")}
lane_converge();
const uint least_here = lane_reduce_min(least);
if (lane_id() == 0u && least_here < control[LEAST]) atomic_min(&control[LEAST], least_here);
</%def>
