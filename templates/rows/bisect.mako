## bisect: binary searches, over whatever ascends.
##
## first(low, high, below)   moves `low` to the first place, of those from it on and below `high`, of which the
##                  expression `below` does not hold, or to `high`; changes `high`
## last(low, high, upto)     moves `low` to the last place, of those from it on and below `high`, of which `upto`
##                  holds; it does of `low`; changes `high`
## Body             the expressions say `middle` for a place; low and high are variables, of a `type`
## Called by        any work-item, in any control flow

<%def name="first(low, high, below, type='uint')">
while (${low} < ${high}) {
    const ${type} middle = ${low} + (${high} - ${low}) / 2u;
    if (${below}) ${low} = middle + 1u;
    else ${high} = middle;
}
</%def>

<%def name="last(low, high, upto)">
while (${high} - ${low} > 1u) {
    const uint middle = ${low} + (${high} - ${low}) / 2u;
    if (${upto}) ${low} = middle;
    else ${high} = middle;
}
</%def>
