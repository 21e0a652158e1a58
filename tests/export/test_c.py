"""The exported header, compiled by gcc and clang and run, beside Python."""

import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

from tests.export.cases import BUILDERS, get, strict_pipeline, two_classes
from tests.export.compiled import FLAGS, Program
from zeronorm import KernelExpansion, ZeroNormSVC
from zeronorm.export import to_c
from zeronorm.export.c_decision_code import PAIR_SCORES
from zeronorm.export.quantised import quantised
from zeronorm.export.reading import describe
from zeronorm.kernels import Kernel
from zeronorm.pairs import worst_scores

SANITISED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g")


def needs(compiler):
    reason = f"needs {compiler}: apt-get install {compiler}"
    return pytest.mark.skipif(shutil.which(compiler) is None, reason=reason)


def compiled(compiler, folder, flags=(), cases=BUILDERS, own=None, **options):
    program = Program({name: get(name) for name in cases}, own, **options)
    return program, program.run(program.compile(folder, compiler, *flags), folder)


def check_predictions(case, scores, predicted, tolerance):
    if describe(case.model).kind == "number":
        np.testing.assert_array_equal(predicted, scores[:, -1])
    elif describe(case.model).is_classifier:
        labels = describe(case.model).labels
        assert (predicted >= 0).all()
        predicted = [labels[int(code)] for code in predicted]
        assert case.wrong(predicted, tolerance) == 0
    elif describe(case.model).kind == "one-class":
        assert case.wrong(predicted.tolist(), tolerance) == 0


@pytest.mark.parametrize(
    ("compiler", "flags", "own_exp"),
    [
        pytest.param("gcc", SANITISED, False, marks=needs("gcc")),
        pytest.param("clang", ("-O1",), True, marks=needs("clang")),
    ],
)
def test_double(compiler, flags, own_exp, tmp_path):
    program, answers = compiled(compiler, tmp_path, flags, own_exp=own_exp, cases=chosen(own_exp))
    for name, (scores, predicted, probabilities) in answers.items():
        case = get(name)
        assert case.error(scores) < 1e-12, name
        check_predictions(case, scores, predicted, 1e-9)
        if case.probabilities is not None:
            np.testing.assert_allclose(
                probabilities, case.probabilities, rtol=1e-9, atol=1e-300, err_msg=name
            )


def chosen(own_exp):
    """A density needs a logarithm, which has no form of its own."""
    return [name for name in BUILDERS if not (own_exp and name == "density")]


@pytest.mark.parametrize(
    ("compiler", "own_exp"),
    [
        pytest.param("gcc", True, marks=needs("gcc")),
        pytest.param("clang", False, marks=needs("clang")),
    ],
)
def test_float(compiler, own_exp, tmp_path):
    options = {"own_exp": own_exp, "precision": "float", "cases": chosen(own_exp)}
    _, answers = compiled(compiler, tmp_path, ("-O1",), **options)
    for name, (scores, predicted, probabilities) in answers.items():
        case = get(name)
        sizes = case.sizes()
        assert case.error(scores, sizes) < 1e-5, name
        check_predictions(case, scores, predicted, 1e-5 * sizes[:, 0])
        if case.probabilities is not None:
            error = np.abs(probabilities - case.probabilities) / sizes
            assert error.max() < 1e-5, name


#: What has a form in 16 bits, with rows for the bound where it needs some.
PRODUCTS = ("poly", "sigmoid", "votes, ovo", "votes, ties", "NuSVR", "expansion, sigmoid")
NOT_IN_INTEGERS = ("density", "polynomial", "mixed, polynomial")


@needs("gcc")
def test_int16(tmp_path):
    cases = [name for name in BUILDERS if name not in NOT_IN_INTEGERS]
    own = {name: {"X": get(name).X[:-4]} for name in PRODUCTS}
    own["mixed, poly"] = {"X": get("mixed, poly").frame.drop(3)}
    options = {"own_exp": True, "precision": "int16", "cases": cases, "own": own}
    program, answers = compiled("gcc", tmp_path, SANITISED, **options)
    for name, (scores, predicted, _) in answers.items():
        case = get(name)
        bound = float(re.search(r"by more than ([0-9.e+-]+),", program.headers[name])[1])
        difference = np.abs(scores - case.scores.reshape(scores.shape)).max(axis=1)
        within = bound + 1e-5 * case.sizes()[:, 0]
        description = describe(case.model)  # of votes alone the scores jump
        is_voted = description.votes is not None and description.pair_scores == "votes"
        is_bounded = (case.margin > within) | (not is_voted)
        if name in own:
            is_bounded &= within_box(case, own[name]["X"])
        assert (difference <= within)[is_bounded].all(), name
        assert bound < 0.3, name  # it says something
        check_predictions(case, scores, predicted, np.where(is_bounded, within, np.inf))


def within_box(case, X):
    """Rows whose numbers are no larger than those of X, in the columns that hold numbers."""
    frame, X = pd.DataFrame(case.frame), pd.DataFrame(X)
    numbers = X.select_dtypes("number").columns
    inside = frame[numbers].abs() <= X[numbers].abs().max()
    return (inside | frame[numbers].isna()).all(axis=1).to_numpy()


EXP = """\
#include <stdio.h>
#include "model.h"

int main(void)
{
    real x, value;
    while (fread(&x, sizeof(x), 1, stdin) == 1) {
        value = model_exp(x);
        fwrite(&value, sizeof(value), 1, stdout);
    }
    return 0;
}
"""


@needs("gcc")
@pytest.mark.parametrize(("precision", "stated"), [("float", 2e-7), ("double", 3e-16)])
def test_own_exp_is_as_accurate_as_it_says(precision, stated, tmp_path):
    text = to_c(get("no terms").model, tmp_path / "model.h", precision=precision, own_exp=True)
    assert f"error below {stated:.0e}".replace("e-0", "e-") in text
    (tmp_path / "exp.c").write_text(re.sub(r"\breal\b", precision, EXP))
    build = ["gcc", *FLAGS, "-o", tmp_path / "exp", tmp_path / "exp.c"]
    subprocess.run(build, check=True)
    ends = (-87.0, 88.0) if precision == "float" else (-708.0, 709.0)
    kind = np.float32 if precision == "float" else np.float64
    x = np.linspace(*ends, 400_001).astype(kind)
    edges = np.array([-1e30, ends[0] - 1, ends[1] + 1, 1e30, np.nan, 0.0], dtype=kind)
    given = np.concatenate([x, edges]).tobytes()
    found = subprocess.run([tmp_path / "exp"], input=given, capture_output=True, check=True)
    values = np.frombuffer(found.stdout, dtype=kind)
    exact = np.exp(x.astype(np.longdouble))
    inside = x > ends[0]
    error = np.abs(values[: len(x)] / exact - 1)[inside]
    assert stated / 5 < error.max() < stated
    np.testing.assert_allclose(
        values[-6:], [0, 0, np.exp(ends[1]), np.exp(ends[1]), np.nan, 1], rtol=1e-6
    )


PAIRS = """\
#include <stdio.h>
#define MODEL_CLASSES 4
typedef double real;
%s
int main(void)
{
    real pairs[6], scores[MODEL_CLASSES];
    while (fread(pairs, sizeof(pairs), 1, stdin) == 1) {
        model_class_scores(pairs, scores);
        fwrite(scores, sizeof(scores), 1, stdout);
    }
    return 0;
}
"""


@needs("gcc")
def test_the_worst_pair_is_that_of_numpy_also_of_what_is_no_number(tmp_path):
    rng = np.random.default_rng(0)
    pairs = rng.integers(-3, 4, size=(500, 6)).astype(float)
    pairs[rng.random(pairs.shape) < 0.1] = np.nan
    (tmp_path / "pairs.c").write_text(PAIRS % PAIR_SCORES["worst"])
    subprocess.run(["gcc", *FLAGS, "-o", tmp_path / "pairs", tmp_path / "pairs.c"], check=True)
    found = subprocess.run(
        [tmp_path / "pairs"], input=pairs.tobytes(), capture_output=True, check=True
    )
    scores = np.frombuffer(found.stdout).reshape(500, 4)
    np.testing.assert_array_equal(scores, worst_scores(pairs, 4))


KERNEL = """\
#include <stdio.h>
#include "model.h"

int main(void)
{
    uint32_t squares = 0, value;
    for (; squares <= MODEL_FARTHEST_SQUARE; squares += MODEL_FARTHEST / 32 + 1) {
        value = model_kernel(squares);
        fwrite(&squares, sizeof(squares), 1, stdout);
        fwrite(&value, sizeof(value), 1, stdout);
    }
    return 0;
}
"""


@needs("gcc")
@pytest.mark.parametrize("spread", [1e-3, 10.0, 1e4])
def test_kernel_in_integers_is_as_accurate_as_it_says(spread, tmp_path):
    expansion = KernelExpansion([[0.0], [spread]], [1.0, -1.0], 0.0, Kernel("rbf", gamma=1.0))
    text = to_c(expansion, tmp_path / "model.h", precision="int16")
    assert "times 65535, to within 4." in text
    (tmp_path / "kernel.c").write_text(KERNEL)
    build = ["gcc", *FLAGS, "-o", tmp_path / "kernel", tmp_path / "kernel.c", "-lm"]
    subprocess.run(build, check=True)
    found = subprocess.run([tmp_path / "kernel"], capture_output=True, check=True)
    squares, values = np.frombuffer(found.stdout, dtype=np.uint32).astype(float).reshape(-1, 2).T
    assert len(squares) > 30
    unit = quantised(describe(expansion), None).unit
    assert np.abs(values - 65535 * np.exp(-squares * unit**2)).max() < 4


@needs("g++")
@pytest.mark.parametrize("options", [{}, {"precision": "int16", "own_exp": True}])
def test_arduino_folder(options, tmp_path):
    folder = tmp_path / "blink"
    text = to_c(get("table").model, folder, arduino=True, **options)
    assert sorted(path.name for path in folder.iterdir()) == ["blink.h", "blink.ino"]
    assert (folder / "blink.h").read_text() == text
    # The IDE compiles a sketch as C++, with its own header before it.
    arduino = "struct Port { void begin(int) {} template <class T> void println(T) {} };\n"
    arduino += "static Port Serial;\nstatic void delay(int) {}\n"
    (tmp_path / "sketch.cpp").write_text(
        arduino + '#include "blink/blink.ino"\nint main() { setup(); loop(); return 0; }\n'
    )
    flags = ["-std=c++11", "-Wall", "-Wextra", "-Werror"]
    build = ["g++", *flags, "-o", tmp_path / "sketch", tmp_path / "sketch.cpp"]
    subprocess.run(build, check=True)
    subprocess.run([tmp_path / "sketch"], check=True)
    with pytest.raises(ValueError, match="exists and is not empty"):
        to_c(get("table").model, folder, arduino=True)
    assert len(list(tmp_path.iterdir())) == 3  # nothing temporary is left


MISSING = """\
#include <math.h>
#include <stdio.h>
#include "model.h"

int main(void)
{
    real x[3] = {0, 0, 0};
    x[1] = (real)NAN;
    printf("%d %d\\n", model_class(x), model_label(model_class(x)) == 0);
    return 0;
}
"""


@needs("gcc")
@pytest.mark.parametrize("precision", ["double", "float", "int16"])
def test_no_class_without_a_number(precision, tmp_path):
    text = to_c(get("rbf").model, tmp_path / "model.h", precision=precision)
    real = "double" if precision == "double" else "float"
    (tmp_path / "missing.c").write_text(re.sub(r"\breal\b", real, MISSING))
    build = ["gcc", *FLAGS, "-o", tmp_path / "missing", tmp_path / "missing.c", "-lm"]
    subprocess.run(build, check=True)
    found = subprocess.run([tmp_path / "missing"], capture_output=True, text=True, check=True)
    assert found.stdout == "-1 1\n"
    assert "error:     not measured" in text


STRICT = """\
#include <stdio.h>
#include "model.h"

static int judged(double code, const char *size)
{
    double x[2];
    x[0] = code;
    x[1] = float_level(1, size);
    return float_class(x);
}

int main(void)
{
    printf("%d %d %d ", judged(1, "S"), judged(99, "S"), judged(1, "XXL"));
    printf("%d %d\\n", judged(NAN, "S"), judged(1, 0));
    return 0;
}
"""


@needs("gcc")
def test_no_class_for_a_level_that_is_not_known(tmp_path):
    """And a word of C before all names."""
    model, rows = strict_pipeline()
    to_c(model, tmp_path / "model.h", name="float")
    (tmp_path / "strict.c").write_text(STRICT)
    build = ["gcc", *FLAGS, "-o", tmp_path / "strict", tmp_path / "strict.c", "-lm"]
    subprocess.run(build, check=True)
    found = subprocess.run([tmp_path / "strict"], capture_output=True, text=True, check=True)
    first = model.classes_.tolist().index(
        model.predict(pd.DataFrame(rows[:1], columns=["code", "size"]))[0]
    )
    assert found.stdout == f"{first} -1 -1 -1 -1\n"


def test_comment():
    case = get("names")
    X, y = case.frame[:20], np.array(case.predictions[:20])
    y[:2] = ["yes" if label == "no" else "no" for label in y[:2]]
    text = to_c(case.model, precision="float", X=X, y=y)
    assert "error:     10.0 % of the 20 rows given" in text
    assert "SparseLargeMarginClassifier: 4 rbf terms, 3 features, 1 output." in text
    head = text.split("*/")[0]
    assert "x[1]: float" in head and "drop table" in head
    constants = re.findall(r"-?[0-9.]+(?:e[+-]?[0-9]+)?f", text.split("#define MODEL_CLASSES 2")[1])
    assert f"flash:     {4 * len(constants) + 3 + 4} bytes" in head  # and the labels
    line = to_c(get("SVR").model, X=get("SVR").X, y=get("SVR").predictions)
    assert "error:     0 (root of the mean square) on the 224 rows given" in line


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("rbf", {"precision": "half"}, "precision must be one of double, float, int16"),
        ("rbf", {"name": "a b"}, "letters, digits and underscores"),
        ("rbf", {"y": ["no"]}, "y was given without X"),
        (
            "rbf",
            {"X": np.zeros((3, 3)), "y": ["no"]},
            r"y has shape \(1,\).* answers of shape \(3,\)",
        ),
        ("rbf", {"arduino": True}, "writes a folder"),
        ("poly", {"precision": "int16"}, "depends on the rows"),
        ("poly", {"precision": "int16", "X": np.zeros((2, 5))}, "it must have rows, and 3 columns"),
        ("density", {"precision": "int16"}, "A density has no form in 16 bits"),
        ("polynomial", {"precision": "int16"}, "A polynomial has no form in 16 bits"),
        ("density", {"own_exp": True}, "needs a logarithm"),
        ("expansion", {"X": np.zeros((2, 3)), "y": [0, 0]}, "predicts nothing"),
    ],
)
def test_what_cannot_be(name, options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        to_c(get(name).model, None if "arduino" in options else tmp_path / "m.h", **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "precision"), [("rbf", "float"), ("rbf", "int16"), ("scaled", "float")]
)
def test_nothing_of_a_maths_library_where_nothing_is_needed(name, precision):
    assert "math.h" not in to_c(get(name).model, precision=precision, own_exp=True)
    assert "math.h" in to_c(get(name).model)


def test_numbers_beyond_single_precision():
    huge = KernelExpansion([[0.0]], [1e300], 0.0, Kernel("rbf"))
    with pytest.raises(ValueError, match="beyond single precision"):
        to_c(huge, precision="float")
    assert "1e+300" in to_c(huge)


@pytest.mark.parametrize("precision", ["float", "int16"])
def test_levels_that_single_precision_cannot_tell_apart(precision):
    days = np.repeat([[20240130.0], [20240131.0], [20240132.0]], 10, axis=0)
    model = make_pipeline(OneHotEncoder(), SVC()).fit(days, days[:, 0] == 20240131)
    message = "Levels 20240131 and 20240132 of column 'x0' .* take precision='double'"
    with pytest.raises(ValueError, match=message):
        to_c(model, precision=precision)
    assert "20240131" in to_c(model)


@pytest.mark.parametrize("name", ["model_x", "MODEL_x", "real", "EXP"])
@pytest.mark.parametrize(
    ("case", "options"),
    [
        ("mixed", {"own_exp": True}),
        ("probit, several", {}),
        ("SparseSVC, several", {}),
        ("SparseSVC, pairs", {}),
        ("rbf", {"precision": "int16"}),
    ],
)
def test_a_name_that_looks_like_those_in_the_pieces(case, name, options):
    """Nothing of the header depends on its name but what its names begin with."""
    plain = to_c(get(case).model, name="prefix", **options)
    expected = plain.replace("prefix_", f"{name}_").replace("PREFIX_", f"{name.upper()}_")
    assert to_c(get(case).model, name=name, **options) == expected


LABELS = """\
#include <stdio.h>
#include "model.h"

int main(void)
{
    int i;
    for (i = 0; i < MODEL_CLASSES; i++) {
        printf("%s\\n", model_label(i));
    }
    return 0;
}
"""


@needs("gcc")
def test_labels_are_utf_8(tmp_path):
    names = ["zwölf1", "é", "日本", 'a\\b"c%', "??/"]
    X = np.arange(len(names), dtype=float)[:, None]
    to_c(SVC().fit(X, names), tmp_path / "model.h")
    (tmp_path / "labels.c").write_text(LABELS)
    command = ["gcc", *FLAGS, "-o", tmp_path / "labels", tmp_path / "labels.c", "-lm"]
    subprocess.run(command, check=True, timeout=60)
    found = subprocess.run([tmp_path / "labels"], capture_output=True, check=True, timeout=60)
    assert found.stdout.decode("utf-8").splitlines() == sorted(names)


def test_a_text_with_a_nul():
    with pytest.raises(ValueError, match="ends at a NUL"):
        to_c(SVC().fit([[0.0], [1.0]], ["a", "a\0b"]))


def test_rows_in_any_form():
    X, y = two_classes()
    model = ZeroNormSVC(kernel="poly", random_state=0).fit(X, y)
    plain = to_c(model, precision="int16", X=X, y=y)
    assert to_c(model, precision="int16", X=sparse.csr_matrix(X), y=y) == plain
    with pytest.raises(ValueError, match=r"y has shape \(70, 1\).* answers of shape \(70,\)"):
        to_c(model, X=X, y=y[:, None])
