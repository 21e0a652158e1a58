"""Pieces of the JavaScript module."""

#: What every module has, whatever the model.
VALUES = """\
// A row is an array of values in the order of `columns`, or an object with these names. Missing:
// null, undefined, NaN, a text that is empty (unless the model knows it as a level).
function cell(row, column) {
  const name = columns[column];
  const value = Array.isArray(row) ? row[column] : Object.hasOwn(row, name) ? row[name] : null;
  return value === undefined || Number.isNaN(value) ? null : value;
}

// Number(" ") is zero, and a blank is no number.
function isBlank(value) {
  return value === null || (typeof value === "string" && value.trim() === "");
}

function number(value) {
  return isBlank(value) ? NaN : Number(value);
}
"""

NUMBER = """\
function numberOf(row, [column, fill, low, high, centre, factor]) {
  let x = number(cell(row, column));
  if (Number.isNaN(x)) x = fill;
  return (Number.isNaN(x) ? x : Math.min(Math.max(x, low), high) - centre) * factor;
}
"""

LOOKUP = """\
// A truth value is spelled as the levels are.
function textOf(value, column) {
  const text = typeof value === "boolean" ? booleans[column][Number(value)] : String(value);
  const kept = isStripped[column] ? text.trim() : text;
  return gaps[column].includes(kept) ? null : kept;
}

function levelOf(row, [column, levels, values, missing, unknown]) {
  let value = cell(row, column);
  if (!isText[column]) value = isBlank(value) ? null : Number(value);
  else if (value !== null) value = textOf(value, column);
  if (value === null) return missing;
  const place = levels.indexOf(value);
  return place < 0 ? unknown : values[place];
}
"""

KERNELS = {
    "rbf": """\
function term(z, j) {
  let sum = 0;
  for (let i = 0; i < z.length; i++) {
    const difference = z[i] - vectors[j][i];
    sum += widths[i] * difference * difference;
  }
  return sum;
}
""",
    "product": """\
function term(z, j) {
  let sum = offsets[j];
  for (let i = 0; i < z.length; i++) sum += vectors[j][i] * z[i];
  return sum;
}
""",
    "monomials": """\
function term(z, j) {
  let product = 1;
  for (const [i, exponent] of factors[j]) product *= power(z[i], exponent);
  return product;
}
""",
}

POWER = """\
function power(x, exponent) {
  let product = 1;
  for (let n = 0; n < exponent; n++) product *= x;
  return product;
}
"""

SUM = """\
/** The outputs of the function itself. */
export function outputs(row) {
  const z = features(row);
  const values = intercept.slice();
  for (let j = 0; j < coef.length; j++) {
    const value = VALUE;
    for (let o = 0; o < values.length; o++) values[o] += coef[j][o] * value;
  }
  for (let i = 0; i < linear.length; i++) {
    for (let o = 0; o < values.length; o++) values[o] += linear[i][o] * z[i];
  }
  return values;
}
"""

#: The logarithm of a mixture, scaled by its nearest kernel so that nothing vanishes.
LOGARITHM = """\
/** The logarithm of the density. */
export function outputs(row) {
  const z = features(row);
  const distances = coef.map((_, j) => term(z, j));
  const least = Math.min(...distances);
  let sum = 0;
  for (let j = 0; j < coef.length; j++) sum += coef[j][0] * Math.exp(least - distances[j]);
  return [intercept[0] - least + Math.log(sum)];
}
"""

VOTES = """\
function votesOf(values, isForFirst) {
  const votes = new Array(nClasses).fill(0);
  let pair = 0;
  for (let a = 0; a < nClasses; a++) {
    for (let b = a + 1; b < nClasses; b++) votes[isForFirst(values[pair++]) ? a : b]++;
  }
  return votes;
}
"""

#: Scores of classes from the outputs of their pairs, by how they are made. Votes are as in
#: scikit-learn, ties split by the summed confidences.
PAIR_SCORES = {
    "votes": """\
function classScores(values) {
  const sums = new Array(nClasses).fill(0);
  let pair = 0;
  for (let a = 0; a < nClasses; a++) {
    for (let b = a + 1; b < nClasses; b++) {
      sums[a] += values[pair];
      sums[b] -= values[pair++];
    }
  }
  const votes = votesOf(values, (value) => value >= 0);
  return votes.map((count, c) => count + sums[c] / (3 * (Math.abs(sums[c]) + 1)));
}
""",
    "worst": """\
function classScores(values) {
  const scores = new Array(nClasses).fill(Infinity);
  let pair = 0;
  for (let a = 0; a < nClasses; a++) {
    for (let b = a + 1; b < nClasses; b++) {
      scores[a] = Math.min(scores[a], values[pair]);
      scores[b] = Math.min(scores[b], -values[pair++]);
    }
  }
  return scores;
}
""",
}

LIMITED = """\
function limited(values) {
  return values.map((value, o) => {
    if (!Number.isFinite(value)) return value;
    return Math.min(Math.max(value, low[o]), high[o]);
  });
}
"""

LARGEST = """\
function largest(values) {
  let best = 0;
  for (let c = 1; c < values.length; c++) if (values[c] > values[best]) best = c;
  return best;
}
"""

LOGISTIC = "const link = (value) => 1 / (1 + Math.exp(-value));\n"

PROBIT = """\
function link(value) {
  const u = Math.abs(value) / Math.SQRT2;
  const t = 2 / (2 + u);
  let sum = 0;
  for (let n = tail.length - 1; n >= 0; n--) sum = sum * (2 * t - 1) + tail[n];
  const half = (t * Math.exp(sum - u * u)) / 2;
  return value > 0 ? 1 - half : half;
}
"""

#: Far from every class all are tiny: the largest is then still the largest.
EACH = """\
  const each = values.map((value) => Math.max(link(value), 2.2250738585072014e-308));
  const sum = each.reduce((a, b) => a + b);
  return each.map((value) => value / sum);
"""

SOFTMAX = """\
  const best = Math.max(...values);
  const each = values.map((value) => Math.exp(slope * (value - best)));
  const sum = each.reduce((a, b) => a + b);
  return each.map((value) => value / sum);
"""
