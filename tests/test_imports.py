"""What an import brings along: little, and nothing that only the command line or an extra needs."""

import subprocess
import sys

import pytest

import zeronorm

HEAVY = ("highspy", "rich", "typer", "pandas", "torch", "pyarrow", "matplotlib", "onnx", "dask")


def imported(program, before=""):
    """The heavy packages that a program imports, those of what comes before left out."""
    text = f"""
import sys
{before}
before = set(sys.modules)
{program}
print(*({HEAVY!r} & (sys.modules.keys() - before)))
"""
    text = text.replace(repr(HEAVY), repr(set(HEAVY)))
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_the_library():
    assert imported("import zeronorm") == []
    assert imported("import zeronorm; assert 'sklearn' not in sys.modules") == []


@pytest.mark.parametrize("program", ["from zeronorm import *", "from zeronorm import SparseSVC"])
def test_the_estimators(program):
    # scikit-learn may import some of them for its own ends.
    assert imported(program, "import sklearn.svm, sklearn.model_selection") == []


def test_parts_of_scikit_learn_that_nobody_needs_yet():
    unneeded = "sklearn.decomposition", "sklearn.feature_selection", "sklearn.neighbors"
    program = f"""
from zeronorm import SparseSVC, SparseSVR, load
assert not set({unneeded!r}) & sys.modules.keys()
"""
    assert imported(program, "import sklearn.svm, sklearn.model_selection") == []


def test_the_command_line_alone():
    program = """
import zeronorm.tables.cli
assert not {"sklearn", "numpy", "scipy"} & sys.modules.keys()
"""
    assert set(imported(program)) <= {"typer", "rich"}


def test_lazy_names():
    assert set(zeronorm.__all__) <= set(dir(zeronorm))
    for name in zeronorm.__all__:
        assert getattr(zeronorm, name) is not None
    assert zeronorm.model_selection.__name__ == "zeronorm.model_selection"
    with pytest.raises(AttributeError, match="no attribute 'SparseSVM'"):
        zeronorm.SparseSVM  # noqa: B018
    with pytest.raises(ImportError):
        from zeronorm import SparseSVM  # noqa: F401
