"""Invertible kernel PCA with random Fourier features (Gedon et al., 2023)."""
