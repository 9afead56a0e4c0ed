"""Every engine with every store: what goes through comes back byte for byte."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from refold import Options
from refold.batch import Job, run_batch
from refold.batch.engines import Engine
from tests.batch.chats import parts, tree, write_lines
from tests.stores import servers

STORES = ("records", "sqlite", "encrypted", "postgres", "redis", "folder", "s3")
ENGINES: tuple[Engine, ...] = ("local", "ray", "spark")
PACKAGES = {
    "encrypted": ("cryptography",),
    "postgres": ("psycopg_pool", "zstandard"),
    "redis": ("redis", "zstandard"),
    "folder": ("obstore", "zstandard"),
    "s3": ("obstore", "zstandard"),
}


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str | None]]:
    """Where each store is that can be had here; what a server needs to be known is set."""
    room = tmp_path_factory.mktemp("places")
    found: dict[str, str | None] = {
        "records": None,
        "sqlite": str(room / "originals.db"),
        "encrypted": str(room / "encrypted.db"),
        "folder": f"file://{room}/objects",
    }
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:

        def start(name: str, make: Callable[[Path], Any]) -> Any:
            if not all(map(find_spec, PACKAGES[name])):
                return None
            try:
                server = stack.enter_context(make(stack.enter_context(servers.folder())))
            except pytest.skip.Exception:
                return None
            found[name] = getattr(server, "url", None) or server.bucket()
            return server

        start("postgres", servers.PostgresServer)
        start("redis", servers.RedisServer)
        s3 = start("s3", servers.S3Server)
        for name, value in s3.options.items() if s3 else ():
            patch.setenv(f"AWS_{name.upper()}", value)
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        yield found


@pytest.fixture(scope="module", params=ENGINES)
def engine(request: pytest.FixtureRequest, places: object) -> Iterator[Engine]:
    """An engine that was started before, and has the stores' environment."""
    need = f"{request.param} is not installed: run make test-batch"
    if request.param == "ray":
        ray = pytest.importorskip("ray", reason=need)
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        yield "ray"
        ray.shutdown()
    elif request.param == "spark":
        pytest.importorskip("pyspark", reason=need)
        builder = importlib.import_module("pyspark.sql").SparkSession.builder
        builder = builder.master("local[2]").config("spark.ui.enabled", "false")
        for name in (name for name in os.environ if name.startswith("AWS_")):
            # Java may run since an earlier test, with the environment of then.
            builder = builder.config(f"spark.executorEnv.{name}", os.environ[name])
        spark = builder.getOrCreate()
        yield "spark"
        spark.stop()
    else:
        yield "local"


@pytest.mark.parametrize("store", STORES)
def test_every_record_comes_back(
    tmp_path: Path, places: dict[str, str | None], engine: Engine, store: str
) -> None:
    if store not in places:
        pytest.skip(f"{store} is not installed; see `make test-stores`")
    for package in PACKAGES.get(store, ()):
        pytest.importorskip(package, reason=f"{package} is not installed: run make test-batch")
    lines = write_lines(tmp_path / "in.jsonl", 12)
    keys = (bytes(range(32)),) if store == "encrypted" else ()
    where: dict[str, Any] = {"store": places[store], "keys": keys}

    def run(source: str, job: Job, **choices: Any) -> None:
        run_batch([str(tmp_path / source)], job, part_bytes=20_000, **choices)

    options = Options(token_budget=400)
    run("in.jsonl", Job(out=tmp_path / "out", options=options, **where), engine=engine, workers=2)
    run("in.jsonl", Job(out=tmp_path / "local", options=options, **where), workers=1)
    assert tree(tmp_path / "out") == tree(tmp_path / "local")
    assert (b"packed" in parts(tmp_path / "out")) == (store == "records")
    workers = 1 if engine == "local" else 2  # of which test_run knows that it changes nothing
    run("out", Job(out=tmp_path / "back", unfold=True, **where), engine=engine, workers=workers)
    assert parts(tmp_path / "back").decode().splitlines() == lines
