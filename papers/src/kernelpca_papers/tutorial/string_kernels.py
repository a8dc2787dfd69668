"""String kernels (appendix B) on number words of five languages and on strings of two random chains."""

from __future__ import annotations

from typing import Any

import numpy as np

from kernelpca.kernels import Kernel, Spectrum, Subsequence
from kernelpca_papers.claims import Claim
from kernelpca_papers.experiment import Experiment, Findings, Found, Picture, Setting
from kernelpca_papers.tutorial.kernel_checks import draw_scores, examine, informative, tabulate, validity

WORDS, CHAINS = "number words", "chains"
NUMBERS = {  # one to twenty
    "English": "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty",
    "German": "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn zwanzig",
    "Italian": "uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici "
    "diciassette diciotto diciannove venti",
    "Finnish": "yksi kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän kymmenen yksitoista kaksitoista "
    "kolmetoista neljätoista viisitoista kuusitoista seitsemäntoista kahdeksantoista yhdeksäntoista kaksikymmentä",
    "Spanish": "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis "
    "diecisiete dieciocho diecinueve veinte",
}
LETTERS = "letters counted"
KERNELS: dict[str, Kernel] = {
    LETTERS: Spectrum(1),
    "string, n = 2": Spectrum(2, decay=0.5),
    "string, n = 3": Spectrum(3, decay=0.5),
    "string, n up to 3": Spectrum(3, decay=0.5, up_to=True),
    "string, n = 2, normalized": Spectrum(2, decay=0.5).normalize(),
    "with gaps, n = 2, normalized": Subsequence(2, decay=0.5).normalize(),
}
ALPHABET, LENGTH, STAY = "acgt", 60, 0.5


def pieces(chains: int) -> list[dict[str, Any]]:
    """Every kernel on both sets of strings."""
    n = {WORDS: sum(len(words.split()) for words in NUMBERS.values()), CHAINS: chains}
    return [{"data": data, "kernel": kernel, "n": n[data]} for data in n for kernel in KERNELS]


def run(data: str, kernel: str, n: int) -> dict[str, np.ndarray]:
    """Look at a kernel."""
    return examine(KERNELS[kernel], *(number_words() if data == WORDS else chain_strings(n)))


def number_words() -> tuple[list[str], np.ndarray]:
    """-> n words with a mark on either side, (n,): and the number of their language."""
    words = [(f"_{word}_", i) for i, line in enumerate(NUMBERS.values()) for word in line.split()]
    return [word for word, _ in words], np.array([i for _, i in words])


def chain_strings(n: int) -> tuple[list[str], np.ndarray]:
    """-> n strings of 60 letters, (n,): which chain made each.

    In both chains every letter is as frequent as any other. One goes with probability 1/2 to the next letter of a, c,
    g, t and around, the other to the one before; otherwise to any letter. Counts of letters cannot tell them apart.
    """
    rng = np.random.default_rng(0)
    labels = np.arange(n) % 2
    steps = np.where(rng.random((n, LENGTH)) < STAY, np.where(labels, 1, -1)[:, None], rng.integers(0, 4, (n, LENGTH)))
    letters = np.cumsum(steps, axis=1) % 4
    return ["".join(ALPHABET[i] for i in row) for row in letters], labels


def conclude(found: Found) -> Findings:
    """Validity of every kernel, what its scores show, and a picture for each data set."""
    claims = [claim for data in (WORDS, CHAINS) for claim in validity(found, data, {})]
    claims.append(informative(found, WORDS, [kernel for kernel in KERNELS if kernel != LETTERS]))
    by_pairs, by_letters = (
        float(found.one("accuracy", data=CHAINS, kernel=kernel)[1]) for kernel in ("string, n = 2", LETTERS)
    )
    text = "Substrings tell what letters do not: accuracy with two scores of the string kernel, n = 2, less that of "
    claims.append(Claim(f"{text}counted letters (chains)", "appendix B", 0.0, by_pairs - by_letters, "at least"))
    names = {WORDS: list(NUMBERS), CHAINS: ["backward", "forward"]}
    pictures = [
        Picture(
            data.replace(" ", "-"),
            draw_scores(found, data, names[data], 3),
            "No figure: appendix B lists the kernel.",
            f"First two scores of {data}, and how often the nearest other string is of the same class.",
        )
        for data in (WORDS, CHAINS)
    ]
    table = tabulate(found, "What scores tell of classes", dict.fromkeys((WORDS, CHAINS), LETTERS))
    return Findings(claims, [table], pictures, NOTES)


NOTES = (
    "The kernel is printed with substrings without gaps, weight lambda^n, and a reference to Lodhi et al. (2002), "
    "whose kernel allows gaps and weights each occurrence by its span: both are here. With one length n the printed "
    "weight is the same for all substrings and only scales the matrix; it matters where lengths are mixed.",
    "Long words have many substrings: the first score of number words has a correlation of 0.58 with their length for "
    "n = 2 and 3, and of 0.09 for n = 2 once the kernel is normalized.",
)

EXPERIMENT = Experiment(
    name="tutorial/string-kernels",
    title="String kernels on words and on random chains",
    source="appendix B",
    settings=(
        Setting("number words", f"one to twenty in {', '.join(NUMBERS)}, a mark on either side", "not printed, chosen"),
        Setting(
            "chains", "150 strings (full 400) of 60 letters a, c, g, t of two chains, seed 0", "not printed, chosen"
        ),
        Setting("lambda", "0.5", "not printed, chosen; printed: below 1"),
        Setting("length n", "2, 3, up to 3", "not printed, chosen"),
        Setting("components", "1, 2 and 10", "not printed, chosen"),
    ),
    null="Linear PCA of counted letters with as many components and the part of the largest class (chance) stand "
    "beside the kernels.",
    sizes={"full": {"chains": 400}, "quick": {"chains": 150}, "tiny": {"chains": 40}},
    pieces=pieces,
    run=run,
    conclude=conclude,
    seconds={"full": 5, "quick": 4},
)
