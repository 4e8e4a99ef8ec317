"""The benchmark measures what it says, on a size that takes no time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import bench_vectors


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench")
    bench_vectors.prepare(folder, 400)
    return folder


def test_the_vectors_are_like_e5s_and_the_nearest_are_exact(given: Path) -> None:
    vectors, queries = np.load(given / "vectors.npy"), np.load(given / "queries.npy")
    assert np.linalg.norm(vectors.mean(axis=0)) == pytest.approx(0.9, abs=0.02)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    first = np.load(given / "nearest.npy")[:, 0]
    assert first.tolist() == (queries @ vectors.T).argmax(axis=1).tolist()


@pytest.mark.parametrize("name", bench_vectors.CONTENDERS)
def test_every_contender_finds_and_forgets(given: Path, tmp_path: Path, name: str) -> None:
    for package in ("usearch", "sqlite_vec"):
        if package.partition("_")[0] in name:
            pytest.importorskip(package, reason="a peer of the benchmark only")
    for file in given.iterdir():
        (tmp_path / file.name).symlink_to(file)
    figures = bench_vectors.search(name, tmp_path, bench_vectors.build(name, tmp_path))
    assert figures.recall_50 > 0.9
    assert figures.search_ms > 0
    assert figures.file_mb > 0.1
