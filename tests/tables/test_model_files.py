"""Model files that were damaged, edited or made up: a sentence, and never another model."""

import json
import os
import threading

import numpy as np
import pytest

from zeronorm import KernelExpansion, files
from zeronorm.decisions import Classes, DecisionRule
from zeronorm.kernels import Kernel
from zeronorm.model import Model
from zeronorm.tables.columns import MISSING_CODE, Column
from zeronorm.tables.encoding import CategoryEncoding, TableEncoder
from zeronorm.tables.model import TableModel
from zeronorm.tables.table import Table, TableError


def expansion(kernel=None):
    vectors = [[0.25, 1.0], [2.0, -1.5], [-0.125, 3.0]]
    return KernelExpansion(vectors, [1.5, -2.0, 0.75], 0.125, kernel or Kernel("rbf", gamma=0.5))


def table_model(kernel=None):
    columns = [Column("n"), Column("t", ("blue", "red"))]
    X = np.array([[1.0, 0], [3.0, 1], [np.nan, MISSING_CODE]])
    encoder = TableEncoder(columns).fit(X)
    f = KernelExpansion(
        encoder.transform(X), [1.0, -1.0, 0.5], 0.1, kernel or Kernel("rbf", gamma=0.5)
    )
    return TableModel("y", encoder, Model(f, Classes(["no", "yes"])))


def first_version(classes=("no", "yes"), f=None):
    """A description of a table model as version 1 had it."""
    data = table_model().to_dict()
    f = data.pop("model")["function"] if f is None else f.to_dict()
    data.pop("model", None)
    return data | {"version": 1, "classes": list(classes), "expansion": f}


RBF = Kernel("rbf")
MODELS = {"expansion": expansion, "table": table_model}
ROWS = Table("new.csv", {"n": ("1", "-4", ""), "t": ("red", "blue", "?")}, [2, 3, 4])


@pytest.fixture(params=MODELS)
def model(request):
    return MODELS[request.param]()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


def edit(path, change):
    """Apply a change to the values in a model file."""
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


class TestChecksum:
    def test_round_trip(self, model, path):
        model.save(path)
        assert type(model).load(path).to_dict() == model.to_dict()

    def test_every_flipped_bit_is_found_or_harmless(self, model, path):
        """Whatever loads after one bit was flipped is the very model that was saved."""
        model.save(path)
        good = path.read_bytes()
        n_found = 0
        for place in range(len(good)):
            bad = bytearray(good)
            bad[place] ^= 1 << (place % 7)
            path.write_bytes(bad)
            try:
                read = type(model).load(path)
            except ValueError as error:
                assert "model.json" in str(error)
                n_found += 1
            else:
                assert read.to_dict() == model.to_dict(), bad[place - 20 : place + 20]
        assert n_found > 0.8 * len(good)  # the rest are blanks and the like

    def test_another_number_is_said_to_be_damage_or_an_edit(self, model, path):
        model.save(path)
        path.write_text(path.read_text().replace("0.5", "0.7"))
        with pytest.raises(ValueError, match='edited .* remove the line that starts with "check'):
            type(model).load(path)

    def test_a_person_may_edit_a_file_and_remove_the_line(self, model, path):
        model.save(path)
        lines = path.read_text().replace('"gamma": 0.5', '"gamma": 0.7').splitlines()
        kept = [line for line in lines if not line.strip().startswith('"checksum"')]
        assert len(kept) == len(lines) - 1
        path.write_text("\n".join(kept))
        read = type(model).load(path)
        assert '"gamma": 0.7' in files.model_text(read.to_dict())

    def test_a_file_of_the_first_version_has_none(self, model, path):
        path.write_text(files.readable_json(model.to_dict()))
        assert "checksum" not in path.read_text()
        assert type(model).load(path).to_dict() == model.to_dict()

    def test_another_layout_of_the_same_values_is_the_same_model(self, model, path):
        model.save(path)
        document = json.loads(path.read_text())
        path.write_text(json.dumps(dict(reversed(document.items())), indent=7))
        assert type(model).load(path).to_dict() == model.to_dict()

    @pytest.mark.parametrize("checksum", [None, "", 7, "md5:1", "sha256:", ["x"]], ids=repr)
    def test_a_checksum_that_is_none(self, model, path, checksum):
        model.save(path)
        edit(path, lambda document: document.update(checksum=checksum))
        with pytest.raises(ValueError, match="does not match the checksum"):
            type(model).load(path)


class TestKeys:
    @pytest.mark.parametrize("key", ["vectors", "gamma", "format"])
    def test_a_key_that_stands_twice(self, model, path, key):
        text = files.readable_json(model.to_dict())
        start = text.index(f'"{key}"')
        path.write_text(text[:start] + f'"{key}": 1, ' + text[start:])
        with pytest.raises(ValueError, match=f"'{key}' stands there more than once"):
            type(model).load(path)

    def test_a_key_twice_among_very_many(self, path):
        """Minutes if every key were looked for among all the others."""
        keys = ", ".join(f'"k{i}": 0' for i in range(300_000))
        path.write_text(f'{{{keys}, "k299999": 1}}')
        with pytest.raises(ValueError, match="'k299999' stands there more than once"):
            files.read_json(path)

    def test_a_key_that_is_not_known(self, model, path):
        model.save(path)
        edit(path, lambda document: (document.pop("checksum"), document.update(metric=[1.0])))
        with pytest.raises(ValueError, match="'metric' is not a key of this format"):
            type(model).load(path)

    def test_a_number_of_the_kernel_that_is_not_known(self):
        data = Kernel("rbf").to_dict() | {"sigma": 2.0}
        with pytest.raises(ValueError, match="name, gamma, degree and coef0"):
            Kernel.from_dict(data)

    @pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
    def test_what_is_no_number_in_json(self, path, constant):
        path.write_text(f'{{"a": {constant}}}')
        with pytest.raises(ValueError, match=f"{constant} is no number in JSON"):
            files.read_json(path)

    def test_half_a_character_cannot_be_printed_again(self, path):
        text = files.readable_json(table_model().to_dict())
        path.write_text(text.replace('"yes"', '"\\ud800"'))
        with pytest.raises(TableError, match="model.json is damaged"):
            TableModel.load(path)
        path.write_text(text.replace('"yes"', '"\\ud83d\\ude00"'))
        assert TableModel.load(path).model.classes_.tolist() == ["no", "\N{GRINNING FACE}"]

    def test_deep_files(self, model, path):
        """Also those that are just not too deep to be read."""
        model.save(path)
        edit(path, lambda d: d.get("model", {"function": d})["function"].update(coef="deep"))
        text = path.read_text()
        for depth in (1, 100, *range(800, 1010)):
            path.write_text(text.replace('"deep"', "[" * depth + "]" * depth))
            with pytest.raises(ValueError, match=r"model\.json"):
                type(model).load(path)


class TestLength:
    @pytest.fixture(autouse=True)
    def short(self, monkeypatch):
        monkeypatch.setattr(files, "MAX_BYTES", 5_000)

    def test_a_longer_file_is_not_read(self, model, path, monkeypatch):
        path.write_bytes(b" " * 5_001)
        monkeypatch.setattr(files.json, "loads", None)
        with pytest.raises(ValueError, match="model.json is longer than the 0 MiB"):
            type(model).load(path)

    def test_what_would_not_be_read_again_is_not_written(self, model, path, monkeypatch):
        monkeypatch.setattr(files, "MAX_BYTES", 300)
        with pytest.raises(ValueError, match="longer than the 0 MiB .* keep fewer terms"):
            model.save(path)
        assert os.listdir(path.parent) == []

    @pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
    def test_a_device_is_no_model(self, model, device):
        with pytest.raises(ValueError, match=f"{device} is a device"):
            type(model).load(device)

    def test_a_pipe_is_read(self, model, path):
        model.save(path)
        assert read_from_pipe(type(model).load, path.read_bytes()).to_dict() == model.to_dict()

    def test_an_endless_pipe_is_not(self, model):
        with pytest.raises(ValueError, match="is longer than"):
            read_from_pipe(type(model).load, b" " * 10_000_000)


def read_from_pipe(load, content):
    """Call `load` with the name of a pipe into which a thread writes."""
    source, sink = os.pipe()

    def write():
        with open(sink, "wb") as stream:
            try:
                stream.write(content)
            except BrokenPipeError:
                pass  # the reader had enough

    writer = threading.Thread(target=write)
    writer.start()
    try:
        return load(f"/dev/fd/{source}")
    finally:
        os.close(source)
        writer.join()


class TestValues:
    @pytest.mark.parametrize("column", [4, 10, 2**50])
    def test_a_precomputed_column_that_the_matrix_lacks(self, path, column):
        f = KernelExpansion([[0], [column]], [1.0, 2.0], 0.0, Kernel("precomputed"))
        f.save(path)
        f = KernelExpansion.load(path)
        for call in (f.decision_function, f.kernel_values):
            with pytest.raises(ValueError, match=f"at least {column + 1} columns"):
                call(np.ones((3, 4)))

    def test_the_last_precomputed_column(self):
        f = KernelExpansion([[0], [3]], [1.0, 2.0], 0.0, Kernel("precomputed"))
        np.testing.assert_array_equal(f.decision_function(np.arange(8.0).reshape(2, 4)), [6, 18])

    def test_no_table_has_precomputed_values(self):
        data = first_version(f=KernelExpansion([[7]], [1.0], 0.0, Kernel("precomputed")))
        data["columns"] = data["columns"][:1]
        with pytest.raises(ValueError, match="a precomputed kernel has no values for rows"):
            TableModel.from_dict(data)

    @pytest.mark.parametrize("n_classes", [2, 3, 4])
    def test_rows_without_a_finite_value_have_no_class(self, n_classes):
        """A poly kernel of degree 2.5 is NaN where the inner product is negative."""
        model = table_model(Kernel("poly", gamma=1.0, degree=2.5))
        f, rule = model.model.expansion_, None
        if n_classes > 2:
            votes = 4 if n_classes == 4 else None
            coef = np.ones((f.n_terms, 6 if votes else 3))
            f = KernelExpansion(f.vectors, coef, coef[0], f.kernel, vote_classes=votes)
            rule = DecisionRule(n_classes, is_pairs=n_classes == 4)
        classes = Classes(list("abcd"[:n_classes]), rule)
        model = TableModel("y", model.encoder, Model(f, classes))
        restored = TableModel.from_dict(json.loads(model.to_json()))
        with pytest.raises(TableError, match="new.csv, line 2: the poly kernel .* no finite value"):
            restored.predict(ROWS)

    def test_infinite_values_have_no_class_either(self):
        model = table_model(Kernel("poly", gamma=1.0, degree=2000, coef0=10.0))
        with pytest.raises(TableError, match="no finite value"):
            model.predict(ROWS)

    @pytest.mark.parametrize("label", ["gamma", "degree", "coef0"])
    def test_integers_beyond_64_bits(self, label):
        data = expansion(Kernel("poly", gamma=0.1, degree=2)).to_dict()
        data["kernel"][label] = 10**25
        values = KernelExpansion.from_dict(data).decision_function(np.ones((2, 2)))
        data["kernel"][label] = 1e25
        expected = KernelExpansion.from_dict(data).decision_function(np.ones((2, 2)))
        np.testing.assert_array_equal(values, expected)

    def test_two_classes_of_one_name(self):
        with pytest.raises(ValueError, match="not two or more different labels"):
            TableModel.from_dict(first_version(["no", "no"]))

    def test_votes_for_fewer_classes_than_there_are(self):
        """Four classes have six pairs; six classes have six outputs."""
        vectors = table_model().model.expansion_.vectors
        votes = KernelExpansion(vectors, np.ones((3, 6)), np.zeros(6), RBF, vote_classes=4)
        with pytest.raises(ValueError, match="6 classes do not go with 6 outputs"):
            TableModel.from_dict(first_version("abcdef", votes))

    @pytest.mark.parametrize("level", ["NA", "", " red"])
    def test_levels_that_no_cell_can_have(self, level):
        data = table_model().to_dict()
        data["columns"][1]["levels"][1] = level
        with pytest.raises(ValueError, match="cannot be met in a file"):
            TableModel.from_dict(data)

    def test_very_many_levels(self):
        """Minutes if every level were looked for among all the others."""
        levels = [f"level {i}" for i in range(300_000)]
        items = [{"name": "t", "kind": "category", "levels": [None, *levels]}]
        (encoding,) = TableEncoder.from_list(items).encodings_
        assert encoding == CategoryEncoding((MISSING_CODE, *map(float, range(300_000))))
