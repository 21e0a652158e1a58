"""Pieces of the C header after the outputs, see c_code.py."""

#: Scores of classes from the outputs of their pairs, by how they are made.
PAIR_SCORES = {
    "votes": """\
/* Votes of the pairs, ties split by the summed confidences, as scikit-learn has it. */
static inline void model_class_scores(const real *pairs, real *scores)
{
    real votes[MODEL_CLASSES];
    int a, b, p = 0;
    for (a = 0; a < MODEL_CLASSES; a++) {
        scores[a] = 0;
        votes[a] = 0;
    }
    for (a = 0; a < MODEL_CLASSES; a++) {
        for (b = a + 1; b < MODEL_CLASSES; b++, p++) {
            scores[a] += pairs[p];
            scores[b] -= pairs[p];
            votes[pairs[p] >= 0 ? a : b] += 1;
        }
    }
    for (a = 0; a < MODEL_CLASSES; a++) {
        real size = scores[a] < 0 ? -scores[a] : scores[a];
        scores[a] = votes[a] + scores[a] / (3 * (size + 1));
    }
}
""",
    "worst": """\
/* The worst value of each class among its pairs; what is no number stays none. */
static inline void model_class_scores(const real *pairs, real *scores)
{
    int a, b, p = 0;
    scores[0] = pairs[0];
    for (b = 1; b < MODEL_CLASSES; b++) {
        scores[b] = -pairs[b - 1];
    }
    for (a = 0; a < MODEL_CLASSES; a++) {
        for (b = a + 1; b < MODEL_CLASSES; b++, p++) {
            if (pairs[p] < scores[a] || pairs[p] != pairs[p]) {
                scores[a] = pairs[p];
            }
            if (-pairs[p] < scores[b] || pairs[p] != pairs[p]) {
                scores[b] = -pairs[p];
            }
        }
    }
}
""",
}

PAIRS = "    real pairs[MODEL_OUTPUTS];\n"
VALUES = "    model_outputs(x, values);\n"
SCORED = "    model_outputs(x, pairs);\n    model_class_scores(pairs, values);\n"

PREDICT_TARGET = """\
/* The prediction. */
static inline real model_predict(const real *x)
{
    real value;
    model_decision(x, &value);
    return value;
}
"""

PREDICT_TARGETS = """\
/* The predictions, MODEL_OUTPUTS of them: one for each target. */
static inline void model_predict(const real *x, real *values)
{
    model_decision(x, values);
}
"""

LIMITED = """\
    int o;
    model_outputs(x, values);
    for (o = 0; o < MODEL_OUTPUTS; o++) {
        const real low = ZERONORM_REAL(&model_low[o]), high = ZERONORM_REAL(&model_high[o]);
        values[o] = values[o] < low ? low : values[o] > high ? high : values[o];
    }
}
"""

FINITE = """\
static inline int model_is_finite(const real *values)
{
    int o;
    for (o = 0; o < MODEL_OUTPUTS; o++) {
        if (!(values[o] - values[o] == 0)) {
            return 0;
        }
    }
    return 1;
}
"""

LARGEST = """\
    for (a = 1; a < MODEL_CLASSES; a++) {
        if (scores[a] > scores[best]) {
            best = a;
        }
    }
    return best;
}
"""

BY_VOTES = """\
    for (a = 0; a < MODEL_CLASSES; a++) {
        scores[a] = 0;
    }
    for (a = 0; a < MODEL_CLASSES; a++) {
        for (b = a + 1; b < MODEL_CLASSES; b++, p++) {
            scores[values[p] > 0 ? a : b] += 1;
        }
    }
"""

CLASS_OPEN = """\
/* The number of the class, -1 where some output is not finite. */
static inline int model_class(const real *x)
{
    real values[MODEL_OUTPUTS];
"""

CHECK = """\
    model_outputs(x, values);
    if (!model_is_finite(values)) {
        return -1;
    }
"""

LOGISTIC = """\
static inline real model_link(real value)
{
    return 1 / (1 + EXP(-value));
}
"""

#: See zeronorm/export/normal.py.
PROBIT = """\
static inline real model_link(real value)
{
    real u = (value < 0 ? -value : value) * ROOT_HALF;
    real t = 2 / (2 + u), sum = 0;
    int i;
    for (i = TAIL - 1; i >= 0; i--) {
        sum = sum * (2 * t - 1) + ZERONORM_REAL(&model_tail[i]);
    }
    sum = t * EXP(sum - u * u) / 2;
    return value > 0 ? 1 - sum : sum;
}
"""

PROBABILITIES_OPEN = """\
/* The probability of every class, MODEL_CLASSES of them. */
static inline void model_probabilities(const real *x, real *values)
{
"""

SUM = "    real sum = 0, best;\n    int a;\n"

EACH = """\
    real sum = 0;
    int a;
    model_outputs(x, values);
    for (a = 0; a < MODEL_CLASSES; a++) {
        values[a] = model_link(values[a]);
        if (values[a] < TINY) {
            values[a] = TINY; /* the largest is then still the largest */
        }
        sum += values[a];
    }
"""

SOFTMAX = """\
    best = values[0];
    for (a = 1; a < MODEL_CLASSES; a++) {
        if (values[a] > best) {
            best = values[a];
        }
    }
    for (a = 0; a < MODEL_CLASSES; a++) {
        values[a] = EXP(SLOPE * (values[a] - best));
        sum += values[a];
    }
"""

NORMALISED = """\
    for (a = 0; a < MODEL_CLASSES; a++) {
        values[a] /= sum;
    }
}
"""
