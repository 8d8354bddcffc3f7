## memory: loads, stores and fences between work-groups, in the flavour that traits.memory_ops names.
##
## vocabulary()  at file scope, once: declares every word below
## In scope      traits (DeviceTraits)
## Called by     any work-item, in any control flow
## Barriers      none
## Local memory  none
## Choice        one sibling file per value of traits.memory_ops
##
## A pointer below is `volatile __global T *`; T is uint, or ulong where the word ends in _ulong.
## T load_relaxed(p), load_acquire(p)            device scope; also load_relaxed_ulong, ...
## void store_relaxed(p, x), store_release(p, x) device scope; also store_relaxed_ulong, ...
## void fence_device()                           acquire and release at device scope
## uint load_streaming(const __global uint *p)   data that no work-item writes during the launch and
##                                               that is read once: kept out of the nearest cache
## void prefetch_global(const __global void *p)  a hint; p lies inside a buffer
## void spin_hint()                              once in each turn of a loop that waits

## uint load_read_only(const __global uint *p)   data that no work-item writes during the launch, by the
##                                               path that need not be coherent where there is one; only
##                                               in renderings of config.cache "read-only"
##
## module.loaded(config, array, place)   an expression: a word that no work-item writes, by config.cache

<%!
    WORDS = {"streaming": "load_streaming", "read-only": "load_read_only"}

    def loaded(config, array, place):
        word = WORDS.get(getattr(config, "cache", ""))
        return f"{word}({array} + {place})" if word else f"{array}[{place}]"
%>

<%def name="vocabulary()">\
<%include file="${'/memory/' + traits.memory_ops + '.mako'}"/>\
% if getattr(context.get("config", None), "cache", "") == "read-only":
static inline uint load_read_only(const __global uint *p) {
% if traits.memory_ops == "ptx":
    uint x;
    asm("ld.global.nc.u32 %0, [%1];" : "=r"(x) : "l"(p));
    return x;
% else:
    return *p;
% endif
}
% endif
</%def>
