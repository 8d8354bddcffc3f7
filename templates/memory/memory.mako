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

<%def name="vocabulary()">\
<%include file="${'/memory/' + traits.memory_ops + '.mako'}"/>\
</%def>
