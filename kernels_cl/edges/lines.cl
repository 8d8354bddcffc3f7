// Edges out of text: lines of a few short numbers, one separator apart, and nothing else.
//
// Each work-item takes a part of the text, of whole lines, or two in turn, and writes to room of its own, so there
// are no races. Where a line is anything else it ends with a note, and whoever asked has the text read by other
// means: what is read here is read alike by all. Of a word of text the lowest byte is the first.
<%
    id_type, id_digits = ("ulong", 15) if wide else ("uint", 9)
    list_of = lambda numbers: ", ".join(f"{number}ul" for number in numbers)
    fives = [5**k for k in range(FIVES)]
    # What is left of dividing 2^64 by a power of five that was shifted up to a 64th bit, less than
    # what it really is by no more than one.
    reciprocals = [-(-(2 ** (63 + five.bit_length())) // five) - 1 for five in fives]
    parts = range(of_item)
%>
<%def name="ids(digits, most_digits, refuse)">\
% for column in range(2):
        ulong id_${column} = 0;
        const uint begin_${column} = at;
        at = ${digits}(text, at, size, &id_${column});
        const uint digits_${column} = at - begin_${column};
        if (digits_${column} - 1 >= ${most_digits} || text[at] != ${"'\\n'" if column + 1 == columns else "gap"}) { ${refuse} }
        ++at;
        id_${column} -= base;
        if (id_${column} >= ${("most_sources", "most_targets")[column]}) { ${refuse} }
% endfor
</%def>\
% if decimals:
__constant double POWERS_OF_TEN[16] = {${", ".join(f"1e{k}" for k in range(16))}};
__constant ulong FIVES[${FIVES}] = {${list_of(fives)}};
__constant ulong RECIPROCALS[${FIVES}] = {${list_of(reciprocals)}};
% endif

// Eight bytes of text, the first one lowest: a compiler makes one access of them.
static inline __attribute__((always_inline)) ulong lines_word(__global const uchar *text)
{
    return ${" | ".join(f"(ulong)text[{k}] << {8 * k}" for k in range(8))};
}

// Digits from a byte on, as a number behind what `value` is; gives where they end.
static inline __attribute__((always_inline)) uint lines_digits(__global const uchar *text, uint at, ulong *value)
{
    for (uint digit = text[at] - '0'; digit < 10; digit = text[++at] - '0') *value = *value * 10 + digit;
    return at;
}

// The same where there are mostly more than four digits, as of ids: four at once, a fifth of all time less.
static inline __attribute__((always_inline)) uint lines_some_digits(__global const uchar *text, uint at, uint size, ulong *value)
{
    if (at + 4u <= size) {
        __global const uchar *from = text + at;
        uint digits = (${" | ".join(f"(uint)from[{k}] << {8 * k}" for k in range(4))}) ^ 0x30303030u;
        if (!((digits | (digits + 0x76767676u)) & 0x80808080u)) {
            // Neighbours join, then pairs.
            digits = (digits * 10u + (digits >> 8)) & 0x00FF00FFu;
            *value = *value * 10000u + ((digits * 100u + (digits >> 16)) & 0xFFFFu);
            at += 4u;
        }
    }
    return lines_digits(text, at, value);
}

// The same of many digits, eight at once where there are as many.
static inline __attribute__((always_inline)) uint lines_many_digits(__global const uchar *text, uint at, uint size, ulong *value)
{
    for (; at + 8u <= size; at += 8u) {
        ulong digits = lines_word(text + at) ^ 0x3030303030303030ul;
        if ((digits | (digits + 0x7676767676767676ul)) & 0x8080808080808080ul) break;
        digits = (digits * 10ul + (digits >> 8)) & 0x00FF00FF00FF00FFul;
        digits = (digits * 100ul + (digits >> 16)) & 0x0000FFFF0000FFFFul;
        *value = *value * 100000000ul + ((digits * 10000ul + (digits >> 32)) & 0xFFFFFFFFul);
    }
    return lines_some_digits(text, at, size, value);
}

% if of_item == 2:
// The place of the lowest bit. Where popcount is a call it costs as much as the rest of a number.
#define LOWEST_BIT(word) (uint)popcount(~(word) & ((word) - 1ul))
#ifdef __has_builtin
#if __has_builtin(__builtin_ctzl)
#undef LOWEST_BIT
#define LOWEST_BIT(word) (uint)__builtin_ctzl(word)
#endif
#endif
// Eight bytes of text from wherever on. Where some of these are asked for one by one as well, as in what is called
// last below, a compiler makes eight accesses of what is above.
#ifdef __ENDIAN_LITTLE__
typedef ulong __attribute__((aligned(1))) lines_eight;
#define LINES_EIGHT(from) *(__global const lines_eight *)(from)
#else
#define LINES_EIGHT(from) lines_word(from)
#endif

// The same of an id, of mostly fewer than eight digits. Their number is computed: a processor that guesses at each
// digit whether another follows is often wrong where lengths vary, which costs as much as the id.
static inline __attribute__((always_inline)) uint lines_id(__global const uchar *text, const uint at, const uint size, ulong *value)
{
    if (at + 8u <= size) {
        const ulong digits = LINES_EIGHT(text + at) ^ 0x3030303030303030ul;
        // The highest bit of each byte that is no digit. A sum may carry, but not out of a digit.
        const ulong others = (digits | (digits + 0x7676767676767676ul)) & 0x8080808080808080ul;
        if (others) {
            // What is before the first of them goes up, with zeros for first digits. Neighbours make pairs, in every
            // other byte; first and third, second and fourth are weighed by one product, whose upper half adds them up.
            const uint bits = LOWEST_BIT(others) & 56u;
            const ulong id = digits << ((64u - bits) & 63u), halves = 0x000000FF000000FFul, pairs = id * 10ul + (id >> 8);
            *value = ((pairs & halves) * ((1000000ul << 32) | 100ul) + ((pairs >> 16) & halves) * ((10000ul << 32) | 1ul)) >> 32;
            return at + (bits >> 3);
        }
    }
    return lines_many_digits(text, at, size, value);
}

// Reads a line of two ids from `place` on, which moves behind it; gives a note, or 0.
static inline __attribute__((always_inline)) uint lines_pair(
    __global const uchar *text,
    uint *place,
    const uint size,
    const uchar gap,
    const ulong base,
    const ulong most_sources,
    const ulong most_targets,
    __global ${id_type} *src,
    __global ${id_type} *dst)
{
    uint at = *place;
    ${ids("lines_id", id_digits, f"return {ODD}u;")}
    *src = id_0;
    *dst = id_1;
    *place = at;
    return 0;
}
% endif

// Zeros before the first other digit of a number that is not zero, its point aside.
static uint lines_zeros(__global const uchar *text, uint at)
{
    uint zeros = 0;
    for (; text[at] == '0' || text[at] == '.'; ++at) zeros += text[at] == '0';
    return zeros;
}
% if decimals:

// The bits of the float64 nearest to value / 10^power, of two as near the even one.
static ulong lines_float64(ulong value, uint power)
{
    if (!value) return 0;
    // With the highest bit of the value in the highest place, and that of 5^power in place `shift`,
    // value / 5^power * 2^shift has 63 or 64 bits before its point. It is more than `quotient`, and
    // less than two more. (The logarithm of five to base two is a little below 1189 / 512.)
    const uint zeros = clz(value), shift = (power * 1189u) >> 9;
    value <<= zeros;
    const ulong quotient = mul_hi(value, RECIPROCALS[power]);
    const uint spare = 10u + (uint)(quotient >> 63);
    const ulong mantissa = quotient >> spare, rest = quotient & ((1ul << spare) - 1ul);
    const ulong below = (1ul << (spare - 1u)) - 1ul;
    bool up = rest > below;
    if (rest == below) {
        // Above, on or below the middle: the difference is less than 5^power, so its low word will do.
        const long above = (long)((value << shift) - (quotient + 1ul) * FIVES[power]);
        up = above > 0 || (above == 0 && (mantissa & 1ul));
    }
    // A mantissa that is rounded up to the next power of two carries into the exponent.
    return ((ulong)(1074u + spare - shift - zeros - power) << 52) + mantissa + (up ? 1ul : 0ul);
}
% endif

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
% if of_item == 2:
    const uint size = begins[${of_item}u * get_global_size(0)];
% for part in parts:
    const uint part_${part} = ${of_item}u * get_global_id(0) + ${part}u, end_${part} = begins[part_${part} + 1u];
    uint at_${part} = begins[part_${part}], row_${part} = part_${part} * room, note_${part} = 0;
% endfor
    // An id begins where the one before was seen to end, for which most of a processor would wait.
    while (${" && ".join(f"at_{part} < end_{part}" for part in parts)}) {
% for part in parts:
        note_${part} = lines_pair(text, &at_${part}, size, gap, base, most_sources, most_targets, src + row_${part}, dst + row_${part});
        if (note_${part}) break;
        ++row_${part};
% endfor
    }
% for part in parts:
    while (at_${part} < end_${part} && !(${" | ".join(f"note_{other}" for other in parts)})) {
        note_${part} = lines_pair(text, &at_${part}, size, gap, base, most_sources, most_targets, src + row_${part}, dst + row_${part});
        row_${part} += !note_${part};
    }
    found[part_${part}] = note_${part} ? note_${part} : row_${part} - part_${part} * room;
% endfor
% else:
    const uint own = get_global_id(0), first = own * room, end = begins[own + 1];
    const uint size = begins[get_global_size(0)];
    uint at = begins[own], row = first, note = 0;
    while (at < end && !note) {
% if marker:
        if (text[at] != ${marker} || text[at + 1] != gap) { note = ${ODD}u; break; }
        at += 2;
% endif
        ${ids("lines_some_digits", id_digits, f"note = {ODD}u; break;")}
% for column in range(2, columns):
<% after = "'\\n'" if column + 1 == columns else "gap" %>\
        {
            ulong value = 0;
            const uint minus = text[at] == '-', begin = at + minus;
            at = lines_digits(text, begin, &value);
            uint digits = at - begin, power = 0;
            if (!digits) note = ${ODD}u;
% if column == weight and not decimals:
            if (text[at] == '.' || (text[at] | 0x20) == 'e') note = ${DECIMALS}u;
            else if (text[at] != ${after}) note = ${ODD}u;
% else:
            if (text[at] == '.') {
                const uint point = ++at;
                at = lines_many_digits(text, at, size, &value);
                power = at - point;
                digits += power;
                if (!power) note = ${ODD}u;
            }
            if ((text[at] | 0x20) == 'e') {
                ulong exponent = 0;
                const uint negative = text[at + 1] == '-', first = at + 1 + (negative || text[at + 1] == '+');
                at = lines_digits(text, first, &exponent);
                if (at - first - 1 >= 3) note = ${ODD}u;
                power += negative ? (uint)exponent : -(uint)exponent;
            }
            if (power >= ${FIVES} || text[at] != ${after}) note = ${ODD}u;
% endif
            if (digits > ${MOST_DIGITS} && digits - lines_zeros(text, begin) > ${MOST_DIGITS}) note = ${ODD}u;
            // The bits of -0 are for those to know who see all weights.
            if (minus && !value) note = ${ODD}u;
            if (note) break;
            ++at;
% if column == weight and decimals:
            // Of a few digits, which a double holds exactly, a division rounds once.
            const ulong size = digits <= 15 && power <= 15
                ? as_ulong((double)value / POWERS_OF_TEN[power]) : lines_float64(value, power);
            weights[row] = (ulong)minus << 63 | size;
% elif column == weight:
            weights[row] = minus ? -value : value;
% endif
        }
% endfor
        src[row] = id_0;
        dst[row] = id_1;
        ++row;
    }
    found[own] = note ? note : row - first;
% endif
}
