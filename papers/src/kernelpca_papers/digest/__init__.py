"""A kernel PCA digest with a new backward mapping strategy (García-González et al., 2021)."""
