"""Analysis of "Kernel PCA and de-noising in feature spaces" by Mika et al. (Baldassarre et al.)."""
