## ones: how many bits of a word are set.
##
## vocabulary()   at file scope: uint ones_of(uint word)
## Called by      any work-item, in any control flow
## Barriers       none
## Local memory   none
## Choice         a compiler for the host's processor has an instruction for it, which it also makes
##                SIMD code of; PoCL calls a function for popcount()

<%def name="vocabulary()">\
#if defined(__x86_64__) || defined(__aarch64__)
static inline uint ones_of(uint word) { return (uint)__builtin_popcount(word); }
#else
static inline uint ones_of(uint word) { return popcount(word); }
#endif
</%def>
