"""What every pre-image method must do. A new one gives itself and models it works with, and inherits all."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from kernelpca import KernelPCA
from kernelpca.preimage import Inversion


class PreimageContract:
    """Subclass, and give fixtures `method` and `model` (a KernelPCA with that method, fitted), `X` and `new` (rows)."""

    def test_answers_come_with_evidence(self, model, new):
        Z = model.transform(new)
        found = model.invert(Z)
        assert isinstance(found, Inversion)
        assert found.points.shape == new.shape
        assert found.points.dtype == new.dtype
        assert np.isfinite(found.points).all()
        for evidence in (found.distance, found.reliability, found.iterations, found.converged):
            assert evidence.shape == (len(new),)
        assert (found.distance >= 0).all()
        assert ((found.reliability >= 0) & (found.reliability <= 1)).all()
        assert found.method == repr(model.preimage_)
        assert "pre-images by" in str(found)

    def test_distances_are_those_in_feature_space(self, model, new):
        Z = model.transform(new)
        found = model.invert(Z)
        squared = model.residuals(found.points) + np.square(model.transform(found.points) - Z).sum(axis=1)
        np.testing.assert_allclose(found.distance**2, squared, rtol=1e-6, atol=1e-9)

    def test_points_do_not_depend_on_their_company(self, model, new):
        Z = model.transform(new)
        together = model.inverse_transform(Z)
        alone = np.vstack([model.inverse_transform(z[None]) for z in Z[:5]])
        scale = np.abs(together).max()
        np.testing.assert_allclose(alone, together[:5], atol=1e-4 * scale)
        np.testing.assert_allclose(model.invert(Z).points, together, atol=1e-9 * scale)

    def test_nothing_given_is_changed(self, model, new):
        Z = model.transform(new)
        before, rows = Z.copy(), new.copy()
        model.inverse_transform(Z, reference=new)
        model.denoise(new)
        np.testing.assert_array_equal(Z, before)
        np.testing.assert_array_equal(new, rows)

    def test_answers_repeat(self, model, new):
        Z = model.transform(new)
        np.testing.assert_array_equal(model.inverse_transform(Z), model.inverse_transform(Z))

    @pytest.mark.filterwarnings("ignore:.*had not converged")
    def test_bounds_are_kept(self, model, method, X, new):
        bounded = clone(method).set_params(bounds=(0.1, 0.6))
        held = KernelPCA(**model.get_params(deep=False) | {"preimage": bounded}).fit(X)
        low, high = np.asarray([0.1, 0.6], dtype=new.dtype)
        for points in (held.inverse_transform(held.transform(new)), held.denoise(new)):
            assert points.min() >= low - 1e-6
            assert points.max() <= high + 1e-6

    def test_single_precision(self, model, X, new):
        single = KernelPCA(**model.get_params(deep=False)).fit(X.astype(np.float32))
        points = single.denoise(new.astype(np.float32))
        assert points.dtype == np.float32
        off = np.abs(points - model.denoise(new))
        assert np.median(off) < 1e-2 * np.abs(new).max()

    def test_scores_that_make_no_sense(self, model):
        k = model.n_components_
        with pytest.raises(ValueError, match=f"Z has {k + 1} columns; this model has {k}"):
            model.inverse_transform(np.zeros((1, k + 1)))
        with pytest.raises(ValueError, match="contains NaN"):
            model.inverse_transform(np.full((1, k), np.nan))

    def test_references_of_another_shape(self, model, new):
        Z = model.transform(new)
        with pytest.raises(ValueError, match=r"reference has shape .* need a reference of shape"):
            model.inverse_transform(Z, reference=new[:-1])
        with pytest.raises(ValueError, match=r"reference has shape"):
            model.invert(Z, reference=new[:, :-1])
