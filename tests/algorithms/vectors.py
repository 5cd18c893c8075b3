"""Small problems given by formulas, a stream of row numbers, and what the methods must give on them (to 1e-10)."""

from __future__ import annotations

import numpy as np

import saddlery as sd


def data(spread: bool = False, n: int = 12, d: int = 6):
    """A matrix with a third of its entries 0, targets, and labels -1 and 1; `spread`: rows of very unequal norm."""
    i, j = np.arange(n)[:, None], np.arange(d)[None, :]
    A = ((37 * i**2 + 91 * j + 17 * i * j + 11) % 101) / 50 - 1
    A[(i + 2 * j) % 3 == 0] = 0.0
    if spread:
        A = A * 4.0 ** ((i % 5) - 2)
    i = np.arange(n)
    targets = ((53 * i + 7) % 23) / 8 - 1
    margins = np.where((i**2 + i // 2) % 3 == 0, 1.0, -1.0)
    return A, targets, margins


def stream(length: int) -> np.ndarray:
    """Integers of a linear congruential generator, in [0, 2^31)."""
    s, out = 12345, []
    for _ in range(length):
        s = (1103515245 * s + 12345) % 2**31
        out.append(s)
    return np.array(out)


def rows(length: int, n: int = 12) -> np.ndarray:
    """Row numbers from the stream."""
    return stream(length) * n // 2**31


def batches(length: int, size: int, n: int = 12) -> list[tuple[int, ...]]:
    """Batches from the stream; a row that is in the batch already is skipped."""
    numbers, out = iter(rows(20 * length * size, n).tolist()), []
    for _ in range(length):
        batch: list[int] = []
        while len(batch) < size:
            i = next(numbers)
            if i not in batch:
                batch.append(i)
        out.append(tuple(batch))
    return out


PROBLEMS = {
    "squared": (False, sd.Squared(), 1),
    "smooth hinge": (False, sd.SmoothHinge(), 2),
    "squared, spread": (True, sd.Squared(), 1),
}

OPTIMA = {"squared": 0.34991517738558, "smooth hinge": 0.20544296209795, "squared, spread": 0.24162579444886}

# problem, method -> P, D, x0, xbar0 after 40 steps
STEPS = {
    ("squared", "spdc"): (0.3691392672453, 0.2585437444169, 0.01628524767426, 0.02049309360235),
    ("squared", "spdc-nonuniform"): (0.3682577426765, 0.221347397405, -0.01138066208799, -0.008767870888544),
    ("squared", "adaspdc"): (0.3725472440771, 0.3069174195768, -0.006146547784623, -0.001349890765443),
    ("squared", "adaspdc-sigma"): (0.3612189007316, 0.3241302199898, -0.05054914833268, -0.04993467341734),
    ("squared", "adaspdc-balanced"): (0.3622134064251, 0.324534270838, -0.03440876761091, -0.03273872334488),
    ("smooth hinge", "spdc"): (0.2302425080631, 0.1345245060044, 0.4514036563381, 0.4573573290775),
    ("smooth hinge", "spdc-nonuniform"): (0.2497791029945, 0.1092539930425, 0.2978512492068, 0.3032733078538),
    ("smooth hinge", "adaspdc"): (0.2206025872945, 0.152459558644, 0.569880661425, 0.5798203377717),
    ("smooth hinge", "adaspdc-sigma"): (0.2214006265596, 0.1468850475931, 0.5238688103215, 0.5330382094462),
    ("smooth hinge", "adaspdc-balanced"): (0.2214983826476, 0.1464972014428, 0.537548013057, 0.54695289598),
    ("squared, spread", "spdc"): (0.3114541073749, -0.01075226596764, 0.02474170872219, 0.02556582614379),
    ("squared, spread", "spdc-nonuniform"): (0.3477698274741, 0.05372927827803, 0.06554024777766, 0.06799952351558),
    ("squared, spread", "adaspdc"): (68.15103976949, -61.17467844441, -0.7454768388566, -1.043257997033),
    ("squared, spread", "adaspdc-sigma"): (0.2770229731271, -0.05119111524373, 0.06010277568241, 0.06051176066737),
    ("squared, spread", "adaspdc-balanced"): (0.6549938327069, 0.1625528648813, 0.1992729875839, 0.1898445829919),
}

BATCHES = {  # adaspdc, m = 3, 20 steps: P, D, x0
    "squared": (0.3715571427397, 0.2801819349673, 0.06447996402107),
    "smooth hinge": (0.2213090851486, 0.1669550920034, 0.5352264312178),
    "squared, spread": (0.3455556033704, 0.1903064399925, 0.1248311482901),
}

ASCENTS = {  # P, D: sdca 40 steps; adasdca+ m = 10, 3 epochs, options I and II; adasdca 36 steps
    ("squared", "sdca"): (0.3572488335895, 0.3321924318434),
    ("squared", "I"): (0.3554420536243, 0.3412993350628),
    ("squared", "II"): (0.3602018613294, 0.327633522797),
    ("squared", "adasdca"): (0.3505819467639, 0.3457461748707),
    ("smooth hinge", "sdca"): (0.2311175653117, 0.155406836817),
    ("smooth hinge", "I"): (0.207375035569, 0.20215355762),
    ("smooth hinge", "II"): (0.2077511748482, 0.1983104144364),
    ("smooth hinge", "adasdca"): (0.2056464929207, 0.2049435511771),
    ("squared, spread", "sdca"): (0.4265950844752, 0.2394817501975),
    ("squared, spread", "I"): (0.264160253607, 0.2402530983083),
    ("squared, spread", "II"): (1.070728365029, 0.2211377417378),
    ("squared, spread", "adasdca"): (0.3084708594813, 0.2241054479882),
}
