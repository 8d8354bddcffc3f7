## table: elements of a list in a small hash table in local memory, and whether others are among them.
##
## functions(slots)         at file scope; a power of two, twice as many as it is to hold
## Called by                any work-item, in any control flow; whoever shares a table orders what they
##                          put before they ask
## Barriers                 none
## Local memory             the caller's: `slots` words each
##
## TABLE_SLOTS, TABLE_HOLDS
## TABLE_EMPTY              what all slots are to begin with; no element is it
## table_put(table, x)      elements differ, and are TABLE_HOLDS at most
## uint table_has(table, y) 0 or 1

<%def name="functions(slots)">\
#define TABLE_SLOTS ${slots}u
#define TABLE_HOLDS (TABLE_SLOTS / 2u)
#define TABLE_EMPTY 0xffffffffu

static inline void table_put(volatile __local uint *table, const uint x) {
    uint slot = x % TABLE_SLOTS;
    while (atomic_cmpxchg(&table[slot], TABLE_EMPTY, x) != TABLE_EMPTY) slot = (slot + 1u) % TABLE_SLOTS;
}

static inline uint table_has(const __local uint *table, const uint y) {
    uint slot = y % TABLE_SLOTS, x = table[slot];
    while (x != y && x != TABLE_EMPTY) {
        slot = (slot + 1u) % TABLE_SLOTS;
        x = table[slot];
    }
    return x == y;
}
</%def>
