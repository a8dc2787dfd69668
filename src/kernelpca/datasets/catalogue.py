"""The data files that experiments use: what is in them, where they come from, and the digest that tells them apart."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DataFile:
    """A file of data."""

    name: str
    sha256: str
    contents: str
    origin: str


FILES = {
    file.name: file
    for file in (
        DataFile(
            "usps.npz",
            "298bb437c927472c384f028eee8d0fb1c78094f42465f67087620fc7856a3609",
            "X float32 (9298, 256) between 0 and 1, y, split (0 for the 7291 training rows)",
            "USPS handwritten digits, Hull (1994)",
        ),
        DataFile(
            "cpsc_normal_beats.h5",
            "e12993994f6b94e76b24096fac80e05040b9265a65644111e86623d3c73be14e",
            "normal heart beats of three recordings, 512 samples each",
            "China Physiological Signal Challenge 2018; github.com/dgedon/invertible_kernel_PCA, ecg_data/",
        ),
        DataFile(
            "orl_faces.npz",
            "7c4b7c4a320fe160869b49d6a3fd2e229fd0cbefab59150622a8d45feb97d97d",
            "images uint8 (400, 112, 92), subject, image_no",
            "ORL face database, Samaria and Harter (1994), Olivetti Research Laboratory",
        ),
        DataFile(
            "mnist.npz",
            "06af5dfe73b70e3bc1c36439982b18a8d76803db9b544f6fdf838a37fbb01b64",
            "x_train uint8 (60000, 28, 28), y_train, x_test, y_test",
            "MNIST, LeCun, Cortes and Burges",
        ),
        DataFile(
            "cifar10_test.npz",
            "bef27f3a8bed606fe141cdaa6b5b0fe0c285ad18fd484fd27b51f91ddfad1830",
            "images uint8 (10000, 32, 32, 3), labels",
            "the test images of CIFAR-10, Krizhevsky (2009)",
        ),
        DataFile(
            "protein_val.npz",
            "b71e697847207d476a8b6ad1d14a0602ae7364d2c6b34c525dea3370c08fdddd",
            "sparse float64 (2871, 357), y",
            "LIBSVM's protein, validation part, Wang (2002)",
        ),
        DataFile(
            "rcv1_vw_subset.npz",
            "2027110f87876cab1a45ae975e17ac1992e4487bbb5adfab98e58eed037fdbf4",
            "sparse float64 (1747, 47236), y",
            "a sample of RCV1, Lewis et al. (2004)",
        ),
        DataFile(
            "reuters_tick.npz",
            "20b786f8dd1717da40e2d707c4a42a3feb1727675d751b655f194b7c4b369953",
            "sparse float64 (11069, 8315), y, split",
            "Reuters-21578 as prepared for LASVM, Bordes et al. (2005)",
        ),
        DataFile(
            "hands_video.npz",
            "711b2e32ca980a22865688aa0b042b0a672bd83eccb848c22e3b0f725f70e6b1",
            "frames uint8 (123, 60, 80), fps",
            "a gray video of two hands opening and closing; github.com/shyamrajendran/mlsp, ps2/hands.mp4",
        ),
    )
}
