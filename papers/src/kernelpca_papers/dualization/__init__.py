"""Extending kernel PCA through dualization (Tonin et al., 2023): the methods of others that it compares with."""

from kernelpca_papers.dualization.robust import L1KernelPCA, UnsquaredKernelPCA
from kernelpca_papers.dualization.sparse import ElasticNetKernelPCA, SequentialSparseKernelPCA

__all__ = ["ElasticNetKernelPCA", "L1KernelPCA", "SequentialSparseKernelPCA", "UnsquaredKernelPCA"]
