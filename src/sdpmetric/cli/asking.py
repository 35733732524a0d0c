"""The work of `sdpmetric ask`: read and check everything, then start the server."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click
import numpy as np

from .._support.files import readable
from .._support.optional import check_installed
from ..linalg.items import items_of
from ..page.links import check_names
from ..page.questions import Question
from ..page.stimuli import MEDIA_TYPES, Stimuli
from ..page.study import Settings, Study
from ..responses.study_files import COLUMNS
from .commands.ask import AskOptions
from .printing import print_json, say
from .tables.reading import read
from .tables.table import Table, is_number
from .tables.writing import check_writable

_TEXTS = ("consent", "instructions", "practice", "debriefing")


def run(options: AskOptions) -> None:
    """Serve the study until Ctrl-C."""
    for package in ("starlette", "uvicorn", "jinja2", "markdown_it"):
        check_installed(package, "sdpmetric ask")
    from ..page.serve import Address, listen, serve

    check_writable(options.output, (".db",))
    for name in ("public_url", "completion_url"):
        _check_url(name, getattr(options, name))
    stimuli = read_stimuli(options)
    settings = _settings(options, stimuli)
    address = Address(options.host, options.port, options.public_url)
    taken = listen(address)
    try:
        study = Study(options.output, stimuli, settings)
    except BaseException:
        taken.close()
        raise

    def announce(links: dict[str, str]) -> None:
        if options.as_json:
            print_json({"output": options.output, "n_items": len(stimuli.ids), "links": links})
            return
        for name, link in links.items():
            say(f"{name:14}{link}")
        say(f"Answers go to {options.output}. Stop with Ctrl-C; start again to go on.")
        if not address.local:
            say(
                f"Warning: --host {options.host} lets every computer in the network reach this "
                "page, without encryption. For the internet use a proxy and --public-url.",
                err=True,
            )

    with suppress(KeyboardInterrupt):  # the usual end
        serve(study, address, taken, browser=not options.no_browser, announce=announce)
    if not options.as_json:
        say(f"Stopped. The answers are in {options.output}.")


def read_stimuli(options: AskOptions) -> Stimuli:
    """The items that the options name."""
    table = read(options.data)
    shown, column = _shown(options)
    ids = table.ids(options.id_) if options.id_ else [str(i) for i in range(len(table))]
    if shown == "text":
        contents = table.texts(column) if column else list(ids)
    else:
        folder = Path(options.data).parent
        contents = [str(folder / name) for name in table.texts(str(column))]
    used = {options.id_, column, options.describe, *options.drop}
    X, names = _features(options, table, {name for name in used if name})
    told = table.texts(options.describe) if options.describe else []
    return Stimuli(ids, X, names, shown, contents, told)


def _shown(options: AskOptions) -> tuple[str, str | None]:
    """What is shown of an item, and the column that holds it."""
    given = {n: getattr(options, n) for n in (*MEDIA_TYPES, "text") if getattr(options, n)}
    if len(given) > 1:
        names = " and ".join(f"--{name}" for name in given)
        raise click.UsageError(f"Got {names}, expected one of them.")
    if not given and not options.id_:
        raise click.UsageError(
            "Missing option '--id', '--image', '--audio', '--video' or '--text'."
        )
    return next(iter(given.items()), ("text", None))


def _features(options: AskOptions, table: Table, used: set[str]) -> tuple[Any, list[str]]:
    for name in used:
        table.column(name)  # for its check
    if options.vectors is not None:
        vectors = read(options.vectors)
        if len(vectors) != len(table):
            raise ValueError(
                f"{options.vectors} has {len(vectors)} rows, expected {len(table)}, as many as "
                f"{options.data}."
            )
        X, known = vectors.features()
    else:
        numeric = [n for n, c in table.columns.items() if n not in used and any(map(is_number, c))]
        if not numeric and table.block is None:
            raise ValueError(
                f"{options.data} has no numeric column, expected features of the items, or "
                "--vectors."
            )
        X, known = table.features(only=numeric or None)
    items = items_of(X)
    X = items.rows(slice(0, len(items))).astype(np.float64)
    return X, known or [f"x{i}" for i in range(X.shape[1])]


def _settings(options: AskOptions, stimuli: Stimuli) -> Settings:
    texts = {n: _markdown(getattr(options, n)) for n in _TEXTS if getattr(options, n)}
    names: list[str] = []
    if options.participants is not None:
        names = [line.strip() for line in _markdown(options.participants).splitlines()]
        names = [name for name in names if name]
        if not names:
            raise ValueError(f"{options.participants} holds no name, expected one in each line.")
        check_names(names)
    return Settings(
        kind=options.ask,
        target=options.target,
        title=options.title,
        prompt=options.prompt,
        texts=texts,
        practice=options.practice_trials if options.practice else 0,
        completion=options.completion_url,
        participants=names,
        catch=[] if options.catch is None else _catch(options.catch, options.ask, stimuli),
        active=not options.random,
    )


def _markdown(path: str) -> str:
    with readable(Path(path)):
        try:
            return Path(path).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise ValueError(f"{path} is not UTF-8 text.") from None


def _catch(path: str, kind: str, stimuli: Stimuli) -> list[Question]:
    """Questions with known answers, from a table with the columns of the answers."""
    table = read(path)
    *columns, chosen = COLUMNS[kind]
    for name in (*columns, chosen):
        table.check_known(name, set(stimuli.ids), "DATA")
    cells = (table.texts(name) for name in (*columns, chosen))
    questions = []
    for i, (a, b, c, right) in enumerate(zip(*cells, strict=True)):
        allowed = (a, b, c) if kind == "odd-one-out" else (b, c)
        if len({a, b, c}) < 3 or right not in allowed:
            raise ValueError(
                f"{table.place(i)}: found {a!r}, {b!r}, {c!r}, {right!r}; expected three different "
                f"items, and one of {', '.join(map(repr, allowed))} as {chosen!r}."
            )
        rows = (stimuli.rows[a], stimuli.rows[b], stimuli.rows[c])
        questions.append(Question(rows, "catch", stimuli.rows[right]))
    return questions


def _check_url(name: str, url: str) -> None:
    try:
        parts = urlsplit(url)
        known = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:  # such as brackets that do not match
        known = False
    if url and not known:
        option = name.replace("_", "-")
        raise ValueError(f"--{option} must be an address with http:// or https://, got {url!r}.")
