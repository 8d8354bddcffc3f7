// Edges out of text: lines of a few short numbers, one separator apart, and nothing else.
//
// Each work-item takes whole lines and writes to room of its own, so there are no races. Where a line
// is anything else it ends with a note, and whoever asked has the text read by other means: what is
// read here is read alike by all. No number has more digits than a double holds exactly, so that a
// decimal is one division, which rounds once.
<%
    id_type, id_digits = ("ulong", 15) if wide else ("uint", 9)
    powers = ", ".join(f"1e{k}" for k in range(16))
%>
% if decimals:
__constant double POWERS_OF_TEN[16] = {${powers}};
% endif

// Digits from a byte on, as a number behind what `value` is; gives where they end.
static uint lines_digits(__global const uchar *text, uint at, ulong *value)
{
    for (uint digit = text[at] - '0'; digit < 10; digit = text[++at] - '0') *value = *value * 10 + digit;
    return at;
}

__kernel void edges_lines(
    __global const uchar *restrict text,        // lines, each with its newline
    __global const uint *restrict begins,       // [work-items + 1] where the lines of each begin
    const uchar gap,                            // what separates two numbers
    const ulong base,                           // least vertex, as it is written
    const ulong most_sources,
    const ulong most_targets,
    const uint room,                            // lines that a work-item may find
    __global ${id_type} *restrict src,          // [work-items * room] out
    __global ${id_type} *restrict dst,          // [work-items * room] out
% if weight:
    __global ulong *restrict weights,           // [work-items * room] out: the bits of ${'doubles' if decimals else 'longs'}
% endif
    __global uint *restrict found)              // [work-items] out: lines, or why not
{
    const uint own = get_global_id(0), first = own * room, end = begins[own + 1];
    uint at = begins[own], row = first, note = 0;
    while (at < end && !note) {
% if marker:
        if (text[at] != ${marker} || text[at + 1] != gap) { note = ${ODD}u; break; }
        at += 2;
% endif
% for column in range(2):
        ulong id_${column} = 0;
        const uint begin_${column} = at;
        at = lines_digits(text, at, &id_${column});
        const uint digits_${column} = at - begin_${column};
        if (digits_${column} - 1 >= ${id_digits} || text[at] != ${"'\\n'" if column + 1 == columns else "gap"}) { note = ${ODD}u; break; }
        ++at;
        id_${column} -= base;
        if (id_${column} >= ${("most_sources", "most_targets")[column]}) { note = ${ODD}u; break; }
% endfor
% for column in range(2, columns):
        {
            ulong value = 0;
            const uint minus = text[at] == '-', begin = at + minus;
            at = lines_digits(text, begin, &value);
            uint digits = at - begin, behind = 0;
            if (!digits) note = ${ODD}u;
            if (text[at] == '.') {
                const uint point = ++at;
                at = lines_digits(text, at, &value);
                behind = at - point;
                digits += behind;
                if (!behind) note = ${ODD}u;
% if column == weight and not decimals:
                if (!note) note = ${DECIMALS}u;
% endif
            }
            // The bits of -0 are for those to know who see all weights.
            if (digits > 15 || (minus && !value) || text[at] != ${"'\\n'" if column + 1 == columns else "gap"}) note = ${ODD}u;
            ++at;
% if column == weight and decimals:
            const double size = (double)value / POWERS_OF_TEN[behind & 15];
            weights[row] = as_ulong(minus ? -size : size);
% elif column == weight:
            weights[row] = minus ? -value : value;
% endif
        }
        if (note) break;
% endfor
        src[row] = id_0;
        dst[row] = id_1;
        ++row;
    }
    found[own] = note ? note : row - first;
}
