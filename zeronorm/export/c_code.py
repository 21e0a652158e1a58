"""Pieces of the C header. `model_`, `MODEL_` and `real` stand for the names of the one at hand."""

#: Constants stay in flash: of the chips that need a word for that, AVR is the common one.
FLASH = """\
#ifndef ZERONORM_FLASH
#if defined(__AVR__)
#include <avr/pgmspace.h>
#define ZERONORM_FLASH PROGMEM
#define ZERONORM_REAL(address) pgm_read_float(address)
#define ZERONORM_SHORT(address) ((int16_t)pgm_read_word(address))
#else
#define ZERONORM_FLASH
#define ZERONORM_REAL(address) (*(address))
#define ZERONORM_SHORT(address) (*(address))
#endif
#endif
"""

#: n log 2 + r = x; log 2 in two parts, of which the first has few digits, so that n times it is
#: exact. POLYNOMIAL is that of exp(r).
EXP = """\
/* exp, with a relative error below ACCURACY; 0 below LEAST, exp(MOST) beyond MOST. */
static inline real model_exp(real x)
{
    union { real value; BITS bits; } power;
    real r, sum;
    int i, n;
    if (!(x > LEAST)) {
        return x != x ? x : ZERO;
    }
    if (x > MOST) {
        x = MOST;
    }
    n = (int)(x * INVERSE + (x < ZERO ? -HALF : HALF));
    r = (x - (real)n * HIGH) - (real)n * LOW;
    sum = ZERONORM_REAL(&model_powers[DEGREE]);
    for (i = DEGREE - 1; i >= 0; i--) {
        sum = sum * r + ZERONORM_REAL(&model_powers[i]);
    }
    power.bits = (BITS)(n + BIAS) << DIGITS;
    return sum * power.value;
}
"""

#: A text column comes as the number of its level. Blanks are Python's, of ASCII.
LEVEL = """\
static inline int model_is_blank(char c)
{
    return (c >= 9 && c <= 13) || (c >= 28 && c <= 32);
}

/* What to put into x[column] for a text: the number of the level, -1 if it is not known, NaN if it
   is missing (a null pointer, too). */
static inline real model_level(int column, const char *text)
{
    const char *const *levels = 0;
    int count = 0, is_stripped = 0, length = 0, known = 0, place, i;
    if (text == 0) {
        return (real)NAN;
    }
    switch (column) {
SWITCH    default:
        return (real)NAN;
    }
    while (is_stripped && model_is_blank(*text)) {
        text++;
    }
    while (text[length] != 0) {
        length++;
    }
    while (is_stripped && length > 0 && model_is_blank(text[length - 1])) {
        length--;
    }
    for (place = 0; place < count; place++) {
        for (i = 0; i < length && levels[place][i] == text[i] && levels[place][i] != 0; i++) {
        }
        if (i == length && levels[place][i] == 0) {
            return place < known ? (real)place : (real)NAN;
        }
    }
    return (real)-1;
}
"""

NUMBERS_OPEN = """\
    for (i = 0; i < MODEL_NUMBERS; i++) {
        real value = x[INDEX];
"""

FILL = """\
        if (value != value) {
            value = ZERONORM_REAL(&model_fills[i]);
        }
"""

CLIP = """\
        if (value < ZERONORM_REAL(&model_lows[i])) {
            value = ZERONORM_REAL(&model_lows[i]);
        } else if (value > ZERONORM_REAL(&model_highs[i])) {
            value = ZERONORM_REAL(&model_highs[i]);
        }
"""

LOOKUPS = """\
    for (k = 0; k < MODEL_LOOKUPS; k++) {
        real value = x[ZERONORM_SHORT(&model_lookup_columns[k])];
        real found = ZERONORM_REAL(&model_unknown_values[k]);
        if (value != value) {
            found = ZERONORM_REAL(&model_missing_values[k]);
        }
LEVELS        z[MODEL_NUMBERS + k] = found;
    }
"""

LEVELS = """\
        for (i = model_starts[k]; i < model_starts[k + 1]; i++) {
            if (value == ZERONORM_REAL(&model_level_codes[i])) {
                found = ZERONORM_REAL(&model_level_values[i]);
            }
        }
"""

OUTPUTS_OPEN = """\
/* The outputs of the function itself, MODEL_OUTPUTS of them. */
static inline void model_outputs(const real *x, real *values)
{
"""

START = """\
    for (o = 0; o < MODEL_OUTPUTS; o++) {
        values[o] = ZERONORM_REAL(&model_intercept[o]);
    }
"""

LINEAR = """\
    for (i = 0; i < MODEL_FEATURES; i++) {
        for (o = 0; o < MODEL_OUTPUTS; o++) {
            values[o] += ZERONORM_REAL(&model_linear[i][o]) * Z(i);
        }
    }
"""

TERMS = """\
    for (j = 0; j < MODEL_TERMS; j++) {
        real sum = 0;
        for (i = 0; i < MODEL_FEATURES; i++) {
ADD        }
        sum = VALUE;
        for (o = 0; o < MODEL_OUTPUTS; o++) {
            values[o] += COEFFICIENT * sum;
        }
    }
"""

DIFFERENCE = """\
            real difference = Z(i) - ZERONORM_REAL(&model_vectors[j][i]);
"""

#: Everything in integers but for the last line: squares stay below 2^32 because what is too far
#: ends the loop, a coefficient times a kernel value below 2^31, and so is their sum in parts.
QUANTISED = """\
    for (o = 0; o < MODEL_OUTPUTS; o++) {
        sums[o] = 0;
    }
    for (j = 0; j < MODEL_TERMS; j++) {
        uint32_t squares = 0;
        int32_t kernel;
        for (i = 0; i < MODEL_FEATURES && squares <= MODEL_FARTHEST_SQUARE; i++) {
            int32_t difference = (int32_t)q[i] - ZERONORM_SHORT(&model_vectors[j][i]);
            uint32_t size = (uint32_t)(difference < 0 ? -difference : difference);
            squares += size > MODEL_FARTHEST ? MODEL_FARTHEST_SQUARE + 1u : size * size;
        }
        if (squares > MODEL_FARTHEST_SQUARE) {
            continue;
        }
        kernel = (int32_t)model_kernel(squares);
        for (o = 0; o < MODEL_OUTPUTS; o++) {
            sums[o] += ZERONORM_SHORT(&model_coef[j][o]) * kernel / MODEL_PART;
        }
    }
    for (o = 0; o < MODEL_OUTPUTS; o++) {
        values[o] += ZERONORM_REAL(&model_steps[o]) * (real)sums[o];
    }
"""

#: The integer part of the power of two is a shift, its fraction (16 binary digits) a polynomial
#: with alternating signs, so that all sums are positive.
KERNEL = """\
/* exp(-squares * unit^2) times 65535, to within 4. */
static inline uint32_t model_kernel(uint32_t squares)
{
    uint32_t power = (uint32_t)(((uint64_t)squares * MODEL_POWER) >> MODEL_SHIFT);
    uint32_t sum = 0;
    int i;
    for (i = DEGREE; i >= 0; i--) {
        sum = (uint16_t)ZERONORM_SHORT(&model_halves[i]) - ((sum * (power & 0xFFFFu)) >> 16);
    }
    return sum >> (power >> 16);
}
"""

QUANTISE = """\
/* Features in units of the grid, so that distances are sums of integers; it returns 0, or NaN if
   one is missing. */
static inline real model_quantise(const real *z, int16_t *q)
{
    int i;
    for (i = 0; i < MODEL_FEATURES; i++) {
        real value = (Z(i) - ZERONORM_REAL(&model_middles[i])) * ZERONORM_REAL(&model_grid[i]);
        if (value != value) {
            return value;
        }
        if (value < -32767.0f) {
            value = -32767.0f;
        } else if (value > 32767.0f) {
            value = 32767.0f;
        }
        q[i] = (int16_t)(value + (value < 0 ? -0.5f : 0.5f));
    }
    return 0;
}
"""

QUANTISED_VARIABLES = """\
    int16_t q[MODEL_FEATURES];
    int32_t sums[MODEL_OUTPUTS];
    real missing;
"""

QUANTISE_CALL = """\
    missing = model_quantise(z, q);
    if (missing != 0) {
        for (o = 0; o < MODEL_OUTPUTS; o++) {
            values[o] = missing;
        }
        return;
    }
"""

MONOMIALS = """\
    for (j = 0; j < MODEL_TERMS; j++) {
        real sum = 1;
        for (i = model_factor_starts[j]; i < model_factor_starts[j + 1]; i++) {
            sum *= model_power(Z(ZERONORM_SHORT(&model_factors[i])), model_exponents[i]);
        }
        for (o = 0; o < MODEL_OUTPUTS; o++) {
            values[o] += ZERONORM_REAL(&model_coef[j][o]) * sum;
        }
    }
"""

POWER = """\
static inline real model_power(real x, int exponent)
{
    real product = 1;
    while (exponent-- > 0) {
        product *= x;
    }
    return product;
}
"""

#: A second pass, scaled by the nearest kernel, so that nothing vanishes and no memory is needed.
DENSITY = """\
/* The distance of the features from a vector, in widths. */
static inline real model_distance(const real *z, int j)
{
    real sum = 0;
    int i;
    for (i = 0; i < MODEL_FEATURES; i++) {
ADD    }
    return sum;
}

/* The logarithm of the density. */
static inline void model_outputs(const real *x, real *values)
{
    real least = 0, sum = 0;
    int j;
FEATURES    for (j = 0; j < MODEL_TERMS; j++) {
        real distance = model_distance(z, j);
        if (j == 0 || distance < least) {
            least = distance;
        }
    }
    for (j = 0; j < MODEL_TERMS; j++) {
        sum += ZERONORM_REAL(&model_coef[j][0]) * EXP(least - model_distance(z, j));
    }
    values[0] = ZERONORM_REAL(&model_intercept[0]) - least + LOG(sum);
}
"""

SKETCH = """\
/* MODEL: fill x with the inputs that model.h lists, and use the answer. */
#include "model.h"

void setup()
{
    Serial.begin(9600);
}

void loop()
{
    real x[MODEL_INPUTS] = {0};
PRINT    delay(1000);
}
"""
