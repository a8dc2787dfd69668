"""What estimators say of data that are no rows of numbers: what is wrong, where, and what to do."""

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import kernelpca
from kernelpca import PCA, InvertibleKernelPCA, KernelPCA

pd = pytest.importorskip("pandas")

FRAME = pd.DataFrame(
    {
        "size": [1.0, 2.0, 4.0],
        "kind": ["a", "b", "c"],
        "day": pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-05"]),
        "count": pd.array([1, 2, 3], dtype="Int64"),
        "group": pd.Categorical(["u", "v", "u"]),
        "number": pd.Series([1, 2, 3], dtype=object),
    }
)
MODELS = pytest.mark.parametrize("model", [KernelPCA(1), PCA(1), InvertibleKernelPCA(1)])


@MODELS
@pytest.mark.parametrize("wrong", [["kind"], ["day"], ["kind", "day", "group"]])
def test_columns_without_numbers_are_named(model, wrong):
    X = FRAME[["size", "count", "number", *wrong]]
    with pytest.raises(ValueError, match="hold no numbers") as caught:
        model.fit(X)
    text = str(caught.value)
    assert f"X has columns that hold no numbers: {', '.join(wrong)}. Encode them" in text
    assert f"X.drop(columns={wrong!r}), or X.select_dtypes('number')" in text
    model.fit(X.drop(columns=wrong))


def test_of_many_columns_five_are_named():
    X = pd.DataFrame({f"c{i}": ["x", "y"] for i in range(9)}).assign(size=1.0)
    with pytest.raises(
        ValueError, match=r"numbers: c0, c1, c2, c3, c4 and 4 more. Encode .*: X.select_dtypes\('number'\)"
    ):
        KernelPCA(1).fit(X)
    with pytest.raises(ValueError, match="or use a kernel for strings on one of them"):
        KernelPCA(1).fit(X[["c0"]])


@MODELS
@pytest.mark.parametrize("path", ["wine.csv", Path("wine.csv")])
def test_the_name_of_a_file_is_no_data(model, path):
    with pytest.raises(ValueError, match=r"kernelpca.open_data\('wine.csv'\)"):
        model.fit(path)


HOLES = np.arange(40.0).reshape(10, 4)
HOLES[2:9, 1] = np.nan
HOLES[3, 2] = np.nan
WHERE = "8 missing values in 7 of 10 rows (rows 2, 3, 4, 5, 6, ..., counted from 0), in "


@MODELS
def test_missing_values_are_counted(model):
    for X, columns in (
        (HOLES, "column 1 (7), column 2 (1)"),
        (HOLES.tolist(), "column 1 (7), column 2 (1)"),
        (pd.DataFrame(HOLES, columns=list("abcd")), "columns b (7), c (1)"),
    ):
        with pytest.raises(ValueError, match="Input X contains NaN") as caught:
            model.fit(X)
        assert f"Input X contains NaN: {WHERE}{columns}. Fill them" in str(caught.value)
        assert "HistGradientBoosting" not in str(caught.value)


def test_missing_values_of_sparse_rows_are_counted():
    with pytest.raises(ValueError, match="NaN") as caught:
        KernelPCA(1).fit(sparse.csr_array(HOLES))
    assert f"{WHERE}column 1 (7), column 2 (1)" in str(caught.value)


def test_missing_values_of_new_rows_are_counted():
    model = KernelPCA(1).fit(np.nan_to_num(HOLES))
    with pytest.raises(ValueError, match=r"1 missing value in 1 of 1 rows \(rows 0, counted from 0\), in column 1"):
        model.transform(HOLES[2:3])


@MODELS
def test_infinite_values_are_counted(model):
    X = np.nan_to_num(HOLES)
    X[[4, 7], 3] = np.inf
    with pytest.raises(ValueError, match=r"contains infinity: 2 infinite values in 2 of 10 rows \(rows 4, 7, counted"):
        model.fit(X)


@MODELS
def test_images_are_made_rows(model):
    with pytest.raises(ValueError, match=r"dim 3.*shape \(10, 4, 4\).*X.reshape\(len\(X\), -1\)"):
        model.fit(np.zeros((10, 4, 4)))


def test_sparse_rows_have_no_way_back():
    model = KernelPCA(2).fit(sparse.random_array((20, 5), density=0.5, format="csr", rng=0))
    with pytest.raises(ValueError, match=r"on sparse rows.*X.toarray\(\)"):
        model.inverse_transform(np.zeros((1, 2)))


def test_a_model_file_that_is_not_there(tmp_path):
    KernelPCA(1).save(tmp_path / "wine.kpca")
    with pytest.raises(FileNotFoundError, match=r"nix.kpca does not exist. In its folder: wine.kpca. Models are made"):
        kernelpca.load(tmp_path / "nix.kpca")
