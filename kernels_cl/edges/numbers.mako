## numbers: what digits of a text say, of a few numbers one after the other, or of four at once.
##
## functions(decimals)    at file scope: lines_some_digits and, if `decimals`, lines_float64
## together(decimals)     at file scope: lines_length, which says how many digits a word of text begins with, and
##                        lines_four, which says what they are; if `decimals`, lines_quotients
## value(name, longs, bits)   at file scope, after functions: a function of this name, which reads what stands behind
##                        the ids of a line
## In scope               FIVES, MOST_DIGITS, ODD, DECIMALS
## Called by              any work-item, in any control flow
## Barriers               none
## Local memory           none
##
## Of a word of text the lowest byte is the first.

<%def name="functions(decimals)">\
<%
    list_of = lambda numbers: ", ".join(f"{number}ul" for number in numbers)
    fives = [5**k for k in range(FIVES)]
    # What is left of dividing 2^64 by a power of five that was shifted up to a 64th bit, less than
    # what it really is by no more than one.
    reciprocals = [-(-(2 ** (63 + five.bit_length())) // five) - 1 for five in fives]
%>\
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
</%def>

## bits: whether anybody wants them, those of a long or of a double. Of a decimal, `longs` gives a note.
<%def name="value(name, longs, bits)">\
// Reads a number from `place` on, which moves behind what follows it; gives a note, or 0.
static inline __attribute__((always_inline)) uint ${name}(
    __global const uchar *text, uint *place, const uint size, const uchar after${", __global ulong *bits" if bits else ""})
{
    ulong value = 0;
    uint at = *place, power = 0;
    const uint minus = text[at] == '-', begin = at + minus;
    at = lines_digits(text, begin, &value);
    uint digits = at - begin;
    if (!digits) return ${ODD}u;
% if longs:
    if (text[at] == '.' || (text[at] | 0x20) == 'e') return ${DECIMALS}u;
    if (text[at] != after) return ${ODD}u;
% else:
    if (text[at] == '.') {
        const uint point = ++at;
        at = lines_many_digits(text, at, size, &value);
        power = at - point;
        digits += power;
        if (!power) return ${ODD}u;
    }
    if ((text[at] | 0x20) == 'e') {
        ulong exponent = 0;
        const uint negative = text[at + 1] == '-', first = at + 1 + (negative || text[at + 1] == '+');
        at = lines_digits(text, first, &exponent);
        if (at - first - 1 >= 3) return ${ODD}u;
        power += negative ? (uint)exponent : -(uint)exponent;
    }
    if (power >= ${FIVES} || text[at] != after) return ${ODD}u;
% endif
    if (digits > ${MOST_DIGITS} && digits - lines_zeros(text, begin) > ${MOST_DIGITS}) return ${ODD}u;
    // The bits of -0 are for those to know who see all weights.
    if (minus && !value) return ${ODD}u;
    *place = at + 1;
% if bits and longs:
    *bits = minus ? -value : value;
% elif bits:
    // Of a few digits, which a double holds exactly, a division rounds once.
    const ulong unsigned_bits = digits <= 15 && power <= 15
        ? as_ulong((double)value / POWERS_OF_TEN[power]) : lines_float64(value, power);
    *bits = (ulong)minus << 63 | unsigned_bits;
% endif
    return 0;
}
</%def>

<%def name="together(decimals)">\
// The place of the lowest bit, 64 if there is none. Where popcount is a call it costs as much as the rest of a number.
#define LOWEST_BIT(word) (uint)popcount(~(word) & ((word) - 1ul))
#ifdef __has_builtin
#if __has_builtin(__builtin_ctzl)
#undef LOWEST_BIT
#define LOWEST_BIT(word) ((word) ? (uint)__builtin_ctzl(word) : 64u)
#endif
#endif
// Eight bytes of text from wherever on. Where some of these are asked for one by one as well, a compiler makes eight
// accesses of what is above.
#ifdef __ENDIAN_LITTLE__
typedef ulong __attribute__((aligned(1))) lines_eight;
#define LINES_EIGHT(from) *(__global const lines_eight *)(from)
#else
#define LINES_EIGHT(from) lines_word(from)
#endif
// Four elements from wherever on: where vload4 and vstore4 are calls, they cost as much as what they are for.
typedef ulong4 __attribute__((aligned(8))) lines_ulong4;
typedef uint4 __attribute__((aligned(4))) lines_uint4;
#define LINES_FOUR(from) *(const lines_ulong4 *)(from)

#define LINES_ZEROS 0x3030303030303030ul

// Bits of a word before its first byte that lacks a bit of all digits, as what separates numbers does.
static inline __attribute__((always_inline)) uint lines_length(const ulong word)
{
    const ulong others = ~word & 0x1010101010101010ul;
    return LOWEST_BIT(others) & ~7u;
}

// What so many bits of four words say; `wrong` has the highest bit of each byte of them that is no digit, and of the
// first byte if there are none.
static inline __attribute__((always_inline)) ulong4 lines_four(const ulong4 words, const ulong4 lengths, ulong4 *wrong)
{
    // They go up, with zeros for first digits. A sum may carry, but not out of a digit: behind what is wrong, more may
    // be. Neighbours join, then pairs.
    const ulong4 digits = (words ^ LINES_ZEROS) << ((64ul - lengths) & 63ul);
    *wrong |= (digits | (digits + 0x7676767676767676ul)) & 0x8080808080808080ul;
    const ulong4 pairs = (as_ulong4(as_ushort16(digits) * (ushort)10) + (digits >> 8)) & 0x00FF00FF00FF00FFul;
    const ulong4 fours = (as_ulong4(as_ushort16(pairs) * (ushort)100) + (pairs >> 16)) & 0x0000FFFF0000FFFFul;
    return (fours & 0xFFFFul) * 10000ul + (fours >> 32);
}
% if decimals:

// The bits of the float64 nearest to numbers of 15 digits at most, of which so many are behind the point: a division
// rounds once. A double holds such integers exactly, in its lowest bits if its exponent is that of 2^52.
static inline __attribute__((always_inline)) ulong4 lines_quotients(const ulong4 before, const ulong4 behind, const ulong4 digits)
{
    const ulong4 exponent = 0x4330000000000000ul;
    const double4 power = (double4)(
        POWERS_OF_TEN[digits.s0], POWERS_OF_TEN[digits.s1], POWERS_OF_TEN[digits.s2], POWERS_OF_TEN[digits.s3]);
    const double4 whole = as_double4(before | exponent) - 0x1p52, part = as_double4(behind | exponent) - 0x1p52;
    return as_ulong4((whole * power + part) / power);
}
% endif
</%def>
