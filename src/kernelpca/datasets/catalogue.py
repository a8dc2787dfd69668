"""The data files that experiments use: what is in them, where they come from, and the digests that tell them apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kernelpca.datasets import convert


@dataclass(frozen=True)
class Source:
    """A public source: the addresses of its files, and what makes our arrays of them (None: the file as it is)."""

    addresses: tuple[str, ...]
    convert: Callable[..., convert.Arrays] | None = None


@dataclass(frozen=True)
class DataFile:
    """A file of data.

    `sha256` is that of the file's bytes, `arrays` that of its arrays ("" if only the bytes count); either will do.
    Sources are tried in order; where there is none, `by_hand` says how to make the file.
    """

    name: str
    sha256: str
    arrays: str
    contents: str
    origin: str
    sources: tuple[Source, ...] = ()
    by_hand: str = ""


def _github(repository: str, commit: str, path: str) -> str:
    return f"https://raw.githubusercontent.com/{repository}/{commit}/{path}"


def _github_archive(repository: str, commit: str) -> str:
    return f"https://github.com/{repository}/archive/{commit}.zip"


def _vowpal_wabbit(commit: str, path: str) -> str:
    return _github("VowpalWabbit/vowpal_wabbit", commit, f"test/{path}")


def _reuters(commit: str, part: str) -> str:
    return _github("X-DataInitiative/tick-datasets", commit, f"binary/reuters/reuters.{part}.bz2")


_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist"
_STATLEARN = "https://hastie.su.domains/ElemStatLearn/datasets"

FILES = {
    file.name: file
    for file in (
        DataFile(
            "usps.npz",
            "298bb437c927472c384f028eee8d0fb1c78094f42465f67087620fc7856a3609",
            "9c36f7e5a8a7e892f86f0b95c6bd97d57437671404ab6c3aed884653ab8c9104",
            "X float32 (9298, 256) between 0 and 1, y, split (0 for the 7291 training rows)",
            "USPS handwritten digits, Hull (1994)",
            (
                Source(
                    (
                        _github(
                            "niuers/Learning-From-Data-A-Short-Course",
                            "35684e893b63bf4039bafcc6d34fe935851baf9a",
                            "data/usps.h5",
                        ),
                    ),
                    convert.usps_from_hdf5,
                ),
                Source((f"{_STATLEARN}/zip.train.gz", f"{_STATLEARN}/zip.test.gz"), convert.usps_from_text),
            ),
        ),
        DataFile(
            "cpsc_normal_beats.h5",
            "e12993994f6b94e76b24096fac80e05040b9265a65644111e86623d3c73be14e",
            "",
            "normal heart beats of three recordings, 512 samples each",
            "China Physiological Signal Challenge 2018",
            (
                Source(
                    (
                        _github(
                            "dgedon/invertible_kernel_PCA",
                            "a3bfb2e15f192cf6d8e57d529c90816a6c969da6",
                            "ecg_data/cpsc_normal_beats.h5",
                        ),
                    )
                ),
            ),
        ),
        DataFile(
            "orl_faces.npz",
            "7c4b7c4a320fe160869b49d6a3fd2e229fd0cbefab59150622a8d45feb97d97d",
            "7d328179c460137144fcb79b756dbf597dc8eee646527da42816c376c79e38bc",
            "images uint8 (400, 112, 92), subject, image_no",
            "ORL face database, Samaria and Harter (1994), Olivetti Research Laboratory",
            (
                Source(
                    (
                        _github_archive("tferrerITBA/MNA-Faces", "66400b7a64ab93319640320e11b16b7d5b4d2940"),
                        _github_archive("Radhikadua123/Face-recognition", "e5ecd45b369edad100e9f9d51dd07974d99ecb8f"),
                    ),
                    convert.orl_faces,
                ),
            ),
        ),
        DataFile(
            "mnist.npz",
            "06af5dfe73b70e3bc1c36439982b18a8d76803db9b544f6fdf838a37fbb01b64",
            "8fc8fc4f0343f34ece1fcfdfb65f0801fac48030ce7c70e62bbb62f64ee2e65b",
            "x_train uint8 (60000, 28, 28), y_train, x_test, y_test",
            "MNIST, LeCun, Cortes and Burges",
            (
                Source(
                    (
                        f"{_MNIST}/train-images-idx3-ubyte.gz",
                        f"{_MNIST}/train-labels-idx1-ubyte.gz",
                        f"{_MNIST}/t10k-images-idx3-ubyte.gz",
                        f"{_MNIST}/t10k-labels-idx1-ubyte.gz",
                    ),
                    convert.mnist,
                ),
            ),
        ),
        DataFile(
            "cifar10_test.npz",
            "bef27f3a8bed606fe141cdaa6b5b0fe0c285ad18fd484fd27b51f91ddfad1830",
            "d6266870e05f511f648dbb16af5efca06cb11079f49073c0d58bba822ac50298",
            "images uint8 (10000, 32, 32, 3), labels",
            "the test images of CIFAR-10, Krizhevsky (2009)",
            (Source(("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",), convert.cifar10_test),),
        ),
        DataFile(
            "protein_val.npz",
            "b71e697847207d476a8b6ad1d14a0602ae7364d2c6b34c525dea3370c08fdddd",
            "f5c19a260da7b1f1cb1be28452057ff1b771819cad2808b8dfa71dafcda4d82f",
            "sparse float64 (2871, 357), y",
            "LIBSVM's protein, validation part, Wang (2002)",
            (
                Source(
                    (_github("xiejx-math/RCGLS", "a81028e32b4edaa42c25551558eb4f76a2c464bb", "data/protein.mat"),),
                    convert.protein_from_matlab,
                ),
                Source(
                    ("https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/protein.val.bz2",),
                    convert.protein_from_svmlight,
                ),
            ),
        ),
        DataFile(
            "rcv1_vw_subset.npz",
            "2027110f87876cab1a45ae975e17ac1992e4487bbb5adfab98e58eed037fdbf4",
            "90287822a312182d13965e9f781e1b038c17f8774ae21b3e14f621d25fe44dc6",
            "sparse float64 (1747, 47236), y",
            "a sample of RCV1, Lewis et al. (2004)",
            (
                Source(
                    (
                        _vowpal_wabbit("0ab79cec7e6902c68888c67d183e65b52b0bb476", "train-sets/rcv1_small.dat"),
                        _vowpal_wabbit("0ab79cec7e6902c68888c67d183e65b52b0bb476", "train-sets/rcv1_smaller.dat"),
                        _vowpal_wabbit("96ce1cf92fd88abca706440e9ddbd7987eefaf74", "test-sets/rcv1_small_test.data"),
                    ),
                    convert.rcv1,
                ),
            ),
        ),
        DataFile(
            "reuters_tick.npz",
            "20b786f8dd1717da40e2d707c4a42a3feb1727675d751b655f194b7c4b369953",
            "d45d88996912a1104adf168ac4f4b6f3f32408e0b7ffa58b1077c6df6433d68b",
            "sparse float64 (11069, 8315), y, split",
            "Reuters-21578 as prepared for LASVM, Bordes et al. (2005)",
            (
                Source(
                    (
                        _reuters("05d934beb18c60386c0050a14d3ffb9517cac8ab", "trn"),
                        _reuters("82c320e4fa41d4ea53f2028ae165eebd64aa3b89", "tst"),
                    ),
                    convert.reuters,
                ),
            ),
        ),
        DataFile(
            "hands_video.npz",
            "711b2e32ca980a22865688aa0b042b0a672bd83eccb848c22e3b0f725f70e6b1",
            "86e2fb75903c3f4335d385e607a0ba7ea8c420f93f76091af8469ccd5e1c1ee7",
            "frames uint8 (123, 60, 80), fps",
            "a gray video of two hands opening and closing",
            by_hand="it needs a video decoder. Get "
            + _github("shyamrajendran/mlsp", "ee2e05b2b1e707443bc2b7be01a87fd47388509c", "ps2/hands.mp4")
            + "; ffmpeg -i hands.mp4 -vf extractplanes=y -fps_mode passthrough -f rawvideo hands.raw; keep with "
            'numpy.savez frames=numpy.fromfile("hands.raw", "uint8").reshape(123, 60, 80), fps=30.072687224669604.',
        ),
    )
}
