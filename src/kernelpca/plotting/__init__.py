"""Pictures of models: displays that compute once and draw, at the sizes and in the look of a journal."""

from kernelpca.plotting.convergence import ConvergenceDisplay
from kernelpca.plotting.error_curve import ErrorCurveDisplay
from kernelpca.plotting.history import FitHistory
from kernelpca.plotting.kernel_matrix import KernelMatrixDisplay
from kernelpca.plotting.parallel_analysis import ParallelAnalysisDisplay
from kernelpca.plotting.preimage import PreimageDisplay
from kernelpca.plotting.residuals import ResidualsDisplay
from kernelpca.plotting.scores import ScoresDisplay
from kernelpca.plotting.spectrum import SpectrumDisplay
from kernelpca.plotting.traversal import TraversalDisplay

__all__ = [
    "ConvergenceDisplay",
    "ErrorCurveDisplay",
    "FitHistory",
    "KernelMatrixDisplay",
    "ParallelAnalysisDisplay",
    "PreimageDisplay",
    "ResidualsDisplay",
    "ScoresDisplay",
    "SpectrumDisplay",
    "TraversalDisplay",
]
