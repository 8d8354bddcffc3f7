<%namespace name="numbers" file="/edges/numbers.mako"/>\
// Edges out of text: lines of a few short numbers, one separator apart, and nothing else.
//
// Each work-item takes some parts of the text, of whole lines, and writes to room of its own, so there are no
// races. Where a line is anything else it ends with a note, and whoever asked has the text read by other
// means: what is read here is read alike by all.
//
// A processor guesses at each digit whether another follows, and where lengths vary it is often wrong, which costs
// as much as the number. Where lengths are computed, a number begins where the one before was seen to end, for
// which most of a processor would wait. So lines are read together, one of each part in turn: first where numbers
// end, then what they are. If any of these lines is not as it mostly is, each part goes on alone for a while.
<%
    id_type, id_digits = ("ulong", 15) if wide else ("uint", 9)
    ends = (("src", "most_sources"), ("dst", "most_targets"))
    kinds = ["src", "dst", *(["weight"] if weight else []), *(["fraction"] if decimals else [])]
    reach = 9 * len(kinds) + bool(weight) + 2 * bool(marker)  # of a line of short numbers, a fourth column aside
    parts = range(PARTS)
    after = lambda column: "'\\n'" if column + 1 == columns else "gap"
    any_of = lambda form: " | ".join(form.format(part) for part in parts)
    start = lambda kind, part: f"{(kinds.index(kind) * PARTS + part) * TOGETHER}u"
%>
${numbers.functions(decimals)}
% if weight:
${numbers.value("lines_weight", not decimals, True)}
% endif
% if columns > (3 if weight else 2):
${numbers.value("lines_other", False, False)}
% endif
// Reads a line from `place` on, which moves behind it; gives a note, or 0.
static inline __attribute__((always_inline)) uint lines_line(
    __global const uchar *text,
    uint *place,
    const uint size,
    const uchar gap,
    const ulong base,
    const ulong most_sources,
    const ulong most_targets,
% if weight:
    __global ulong *weight,
% endif
    __global ${id_type} *src,
    __global ${id_type} *dst)
{
    uint at = *place;
% if marker:
    if (text[at] != ${marker} || text[at + 1] != gap) return ${ODD}u;
    at += 2;
% endif
% for column, (_, most) in enumerate(ends):
    ulong id_${column} = 0;
    const uint begin_${column} = at;
    at = lines_some_digits(text, at, size, &id_${column});
    const uint digits_${column} = at - begin_${column};
    if (digits_${column} - 1 >= ${id_digits} || text[at] != ${after(column)}) return ${ODD}u;
    ++at;
    id_${column} -= base;
    if (id_${column} >= ${most}) return ${ODD}u;
% endfor
% for column in range(2, columns):
<% name, more = ("lines_weight", ", weight") if column == weight else ("lines_other", "") %>\
    const uint note_${column} = ${name}(text, &at, size, ${after(column)}${more});
    if (note_${column}) return note_${column};
% endfor
    *src = id_0;
    *dst = id_1;
    *place = at;
    return 0;
}
${numbers.together(decimals)}
## Keeps a word and how many digits it begins with, after which its part goes on; or that there is no digit.
<%def name="seen(kind, part, there='')">\
            {
% if there:
                const ulong word = ${there} ? LINES_EIGHT(text + at_${part}) : LINES_ZEROS;
                const uint length = ${there} ? lines_length(word) : 0u;
% else:
                const ulong word = LINES_EIGHT(text + at_${part});
                const uint length = lines_length(word);
% endif
                words[${start(kind, part)} + line] = word;
                lengths[${start(kind, part)} + line] = length;
                at_${part} += length >> 3;
            }
</%def>\
<%def name="ended(part, column)">\
            odd |= text[at_${part}] ^ ${after(column)};
            ++at_${part};
</%def>\
<%def name="four(kind, part)">\
lines_four(LINES_FOUR(words + ${start(kind, part)} + line), LINES_FOUR(lengths + ${start(kind, part)} + line), &wrong)\
</%def>\
// Reads lines of all parts together from their places on, which move behind; says whether some were odd, or few are left.
static uint lines_together(
    __global const uchar *text,
    __global const uint *ends,
    uint *places,
    uint *rows,
    const uint size,
    const uchar gap,
    const ulong base,
    const ulong most_sources,
    const ulong most_targets,
% if weight:
    __global ulong *weights,
% endif
    __global ${id_type} *src,
    __global ${id_type} *dst)
{
    ulong words[${len(kinds) * PARTS * TOGETHER}], lengths[${len(kinds) * PARTS * TOGETHER}];
% if weight:
    ulong signs[${PARTS * TOGETHER}];
% endif
    // All such numbers have eight digits at most.
    const uint most_src = (uint)min(most_sources, 0xFFFFFFFFul), most_dst = (uint)min(most_targets, 0xFFFFFFFFul);
% for part in parts:
    uint at_${part} = places[${part}];
% endfor
    while (!(${any_of(f"(at_{{0}} + {TOGETHER * LINE_BYTES}u > ends[{{0}}])")})) {
        uint odd = 0;
        for (uint line = 0; line < ${TOGETHER}u && !odd; ++line) {
            if (${any_of(f"(at_{{}} + {reach}u > size)")}) return 1;
% for part in parts:
% if marker:
            odd |= (text[at_${part}] ^ ${marker}u) | (text[at_${part} + 1u] ^ gap);
            at_${part} += 2u;
% endif
% for column, (kind, _) in enumerate(ends):
${seen(kind, part)}\
${ended(part, column)}\
% endfor
% for column in range(2, columns):
% if column == weight:
            const uint minus_${part} = text[at_${part}] == '-';
            signs[${part * TOGETHER}u + line] = -(ulong)minus_${part};
            at_${part} += minus_${part};
${seen("weight", part)}\
% if decimals:
            const bool point_${part} = text[at_${part}] == '.';
            at_${part} += point_${part};
${seen("fraction", part, f"point_{part}")}\
% endif
${ended(part, column)}\
% else:
            if (!odd) {
                uint place = at_${part};
                odd = lines_other(text, &place, size, ${after(column)});
                at_${part} = place;
            }
% endif
% endfor
% endfor
        }
        if (odd || (${any_of("(at_{0} > ends[{0}])")})) return 1;
        ulong4 wrong = 0;
        uint4 beyond = 0;
        for (uint line = 0; line < ${TOGETHER}u; line += 4u) {
% for part in parts:
            {
                const uint row = rows[${part}] + line;
% for kind, _ in ends:
                const uint4 ${kind}_ids = convert_uint4(${four(kind, part)}) - (uint)base;
                beyond |= as_uint4(${kind}_ids >= most_${kind});
% if wide:
                *(__global lines_ulong4 *)(${kind} + row) = convert_ulong4(${kind}_ids);
% else:
                *(__global lines_uint4 *)(${kind} + row) = ${kind}_ids;
% endif
% endfor
% if weight:
                const ulong4 sign = LINES_FOUR(signs + ${part * TOGETHER}u + line);
                const ulong4 value = ${four("weight", part)};
% if decimals:
                const ulong4 behind = ${four("fraction", part)};
                const ulong4 bits = LINES_FOUR(lengths + ${start("fraction", part)} + line);
                const ulong4 all = LINES_FOUR(lengths + ${start("weight", part)} + line) + bits;
                wrong |= (sign & as_ulong4((value | behind) == 0ul)) | as_ulong4(all > ${8 * 15}ul);
                *(__global lines_ulong4 *)(weights + row) = lines_quotients(value, behind, bits >> 3) | sign << 63;
% else:
                wrong |= sign & as_ulong4(value == 0ul);
                *(__global lines_ulong4 *)(weights + row) = (value ^ sign) - sign;
% endif
% endif
            }
% endfor
        }
        const ulong4 all = wrong | as_ulong4((uint8)(beyond, beyond));
        if (all.s0 | all.s1 | all.s2 | all.s3) return 1;
% for part in parts:
        places[${part}] = at_${part};
        rows[${part}] += ${TOGETHER}u;
% endfor
    }
    return 0;
}

__kernel void edges_lines(
    __global const uchar *restrict text,        // lines, each with its newline
    __global const uint *restrict begins,       // [parts + 1] where the lines of each part begin
    const uchar gap,                            // what separates two numbers
    const ulong base,                           // least vertex, as it is written
    const ulong most_sources,
    const ulong most_targets,
    const uint room,                            // lines that a part may have
    __global ${id_type} *restrict src,          // [parts * room] out
    __global ${id_type} *restrict dst,          // [parts * room] out
% if weight:
    __global ulong *restrict weights,           // [parts * room] out: the bits of ${'doubles' if decimals else 'longs'}
% endif
    __global uint *restrict found)              // [parts] out: lines, or why not
{
    const uint first = ${PARTS}u * get_global_id(0), size = begins[${PARTS}u * get_global_size(0)];
    uint places[${PARTS}], rows[${PARTS}], note = 0, left = 1, alone = ${TOGETHER}u;
    for (uint part = 0; part < ${PARTS}u; ++part) {
        places[part] = begins[first + part];
        rows[part] = (first + part) * room;
    }
    while (left && !note) {
        const uint before = rows[0];
        const uint odd = lines_together(
            text, begins + first + 1u, places, rows, size, gap, base, most_sources, most_targets,
            ${"weights, " if weight else ""}src, dst);
        // Where this is so again and again, to try costs no more than a few lines of many.
        alone = !odd ? 0xFFFFFFFFu : rows[0] == before && alone <= ${MOST_ALONE}u ? 4u * alone : ${TOGETHER}u;
        left = 0;
        for (uint part = 0; part < ${PARTS}u; ++part) {
            const uint end = begins[first + part + 1u];
            uint at = places[part], row = rows[part];
            for (uint line = 0; line < alone && at < end && !note; ++line) {
                note = lines_line(
                    text, &at, size, gap, base, most_sources, most_targets,
                    ${"weights + row, " if weight else ""}src + row, dst + row);
                row += !note;
            }
            places[part] = at;
            rows[part] = row;
            left |= at < end;
            found[first + part] = note ? note : row - (first + part) * room;
        }
    }
}
