"""Bags of visual words of the Face-Background images: Harris-Laplace points, SIFT, 100 words.

The paper uses Harris-Affine points; OpenCV's Python binding has no affine adaptation. Points are
turned to their dominant gradient direction, as SIFT does with its own. The codebook sees the
training images of its split and nothing else. Descriptors and bags are kept in output/, which is
not part of the project.
"""

from __future__ import annotations

import tarfile
from functools import cache
from pathlib import Path

import cv2
import numpy as np
from sklearn.cluster import KMeans

from benchmarks.common import ROOT, Array, data_folder
from benchmarks.paper.rows import SAMPLE, WORDS

KEPT = ROOT / "output" / "paper"
WINDOW = 1.5  # times a point's size: what decides its direction
BINS = 36


def images() -> tuple[list[Array], Array]:
    """Grey images in the order of the archive; y is 1 for a face."""
    with tarfile.open(data_folder() / "caltech_face_background_jpeg.tar") as archive:
        names = archive.getnames()
        raw = [archive.extractfile(name).read() for name in names]  # type: ignore[union-attr]
    grey = [cv2.imdecode(np.frombuffer(r, np.uint8), cv2.IMREAD_GRAYSCALE) for r in raw]
    return grey, np.array([name.startswith("Faces") for name in names], dtype=np.int64)


def directions(image: Array, points: list[cv2.KeyPoint]) -> list[cv2.KeyPoint]:
    """The same points, each with the angle of the strongest gradients around it."""
    smooth = cv2.GaussianBlur(image.astype(np.float32), (0, 0), 1.6)
    dx, dy = cv2.Sobel(smooth, cv2.CV_32F, 1, 0), cv2.Sobel(smooth, cv2.CV_32F, 0, 1)
    strength, angle = cv2.cartToPolar(dx, dy, angleInDegrees=True)
    turned = []
    for p in points:
        (x, y), r = p.pt, max(2.0, WINDOW * p.size / 2)
        top, left = max(0, int(y - r)), max(0, int(x - r))
        box = slice(top, int(y + r) + 1), slice(left, int(x + r) + 1)
        rows, columns = np.ogrid[: strength[box].shape[0], : strength[box].shape[1]]
        far = (rows + top - y) ** 2 + (columns + left - x) ** 2
        weight = strength[box] * np.exp(-2.0 * far / r**2)
        bins = (angle[box] * (BINS / 360.0)).astype(np.int64) % BINS
        votes: Array = np.bincount(bins.ravel(), weight.ravel(), BINS)
        votes = votes + (np.roll(votes, 1) + np.roll(votes, -1)) / 2
        degrees = (float(votes.argmax()) + 0.5) * 360.0 / BINS
        turned.append(cv2.KeyPoint(x, y, p.size, degrees, p.response, p.octave, p.class_id))
    return turned


@cache
def descriptors() -> tuple[Array, Array, Array]:
    """All descriptors as bytes, the image that each belongs to, and y."""
    path = KEPT / "descriptors.npz"
    if not path.exists():
        detector, sift = cv2.xfeatures2d.HarrisLaplaceFeatureDetector_create(), cv2.SIFT_create()
        grey, y = images()
        found = [sift.compute(g, directions(g, list(detector.detect(g, None))))[1] for g in grey]
        found = [np.empty((0, 128), np.float32) if d is None else d for d in found]
        owner = np.repeat(np.arange(len(found)), [len(d) for d in found])
        store(path, X=np.vstack(found).astype(np.uint8), owner=owner, y=y)
    with np.load(path) as stored:
        return stored["X"], stored["owner"], stored["y"]


def bags(train: Array, run: int) -> Array:
    """Counts of the visual words in every image, the words found in the training images."""
    path = KEPT / f"bags-{WORDS}-{SAMPLE}-{run}.npz"
    if not path.exists():
        X, owner, y = descriptors()
        seen = np.flatnonzero(np.isin(owner, train))
        sample = np.random.default_rng(run).permutation(seen)[:SAMPLE]
        words = KMeans(WORDS, n_init=1, max_iter=100, random_state=run)
        words.fit(X[sample].astype(np.float32))
        found = np.zeros((len(y), WORDS))
        np.add.at(found, (owner, words.predict(X.astype(np.float32))), 1.0)
        store(path, counts=found, train=np.sort(train))
    with np.load(path) as stored:
        if not np.array_equal(stored["train"], np.sort(train)):
            raise RuntimeError(f"{path.name} is of another split; remove it.")
        counts: Array = stored["counts"]
    return counts


def store(path: Path, **arrays: Array) -> None:
    """All or nothing: an interrupted run leaves no half file behind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_suffix(".tmp.npz")
    np.savez_compressed(half, **arrays)  # type: ignore[arg-type]  # no array is allow_pickle
    half.replace(path)
