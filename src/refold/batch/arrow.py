"""Fold and unfold Arrow batches whose conversations are JSON text, or lists of structs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from refold.batch.record import FoldedRecord, RecordFolder, parse_json, unfold_record
from refold.checks import check_choice, need
from refold.errors import ConfigError, RefoldError, describe
from refold.messages.json_style import Style
from refold.stores import Store

if TYPE_CHECKING:
    import pyarrow as pa

ADDED: Final = ("originals", "tokens_before", "tokens_after")
"""The columns that folding adds, beside `error` where errors are kept."""
COLUMN: Final = "messages"
_TYPE_KEY: Final = b"refold.type"
"""Metadata of a column that was made from structs: its schema in Arrow's format, in hex."""
_STYLE: Final = Style(ascii_only=False)

Rows = TypeVar("Rows", bound="pa.RecordBatch | pa.Table")
Change = Callable[[int, str], Any]
"""Changes the text in one row; returns `None` to leave the row out."""


def fold_batch(
    batch: Rows,
    *,
    column: str = COLUMN,
    errors: Literal["raise", "keep"] = "raise",
    **choices: Any,
) -> Rows:
    """Fold the conversations in *column* of a batch or table; other columns stay as they are.

    Each is JSON text, as for `fold_record`; a list of structs is read as such text, without null
    fields. Adds the columns `originals`, `tokens_before` and `tokens_after`. With *errors* `keep`,
    a row that is not a conversation stays as it is, and the column `error` says why. *choices* are
    those of `Compressor`.

    Raises `ConfigError` if the column is missing, or if a column to add already exists.
    """
    check_choice("errors", errors, ("raise", "keep"))
    folder = RecordFolder(**choices)
    failures: list[str | None] = []

    def change(_: int, text: str) -> FoldedRecord:
        try:
            record = folder.fold(text)[0]
        except RefoldError as error:
            if errors == "raise":
                raise
            failures.append(describe(error))
            return FoldedRecord(folded=text, originals=None, tokens_before=0, tokens_after=0)  # type: ignore[typeddict-item]
        failures.append(None)
        return record

    folded = fold_rows(batch, column, change)
    if errors == "keep":
        reasons = need("pyarrow", "batch").array(failures, "string")
        folded = folded.append_column("error", reasons)
    return folded


def unfold_batch(batch: Rows, *, column: str = COLUMN, store: Store | None = None) -> Rows:
    """Restore what `fold_batch` was given: the same text, or the same list of structs."""
    return unfold_rows(
        batch, column, lambda _, folded, note: unfold_record(folded, note, store=store)
    )


def fold_rows(batch: Rows, column: str, change: Change) -> Rows:
    """Replace each text by the result of *change*; leave out rows where it is `None`."""
    pa = need("pyarrow", "batch")
    place = _find_column(batch.schema, column)
    taken = {*ADDED, "error"} & set(batch.schema.names)
    if taken:
        raise ConfigError(
            f"there is already a column {min(taken)!r}: rename it, or unfold it first"
        )
    field = _folded_field(batch.schema.field(place))
    records = [change(row, text) for row, text in enumerate(_texts(batch.column(place)))]
    done = [record for record in records if record is not None]
    kept = _filter(batch, [record is not None for record in records])
    texts = pa.array([record["folded"] for record in done], field.type)
    kept = kept.set_column(place, field, texts)
    for name, type_ in zip(ADDED, (pa.string(), pa.int64(), pa.int64()), strict=True):
        kept = kept.append_column(name, pa.array([record[name] for record in done], type_))
    return kept


def unfold_rows(batch: Rows, column: str, change: Callable[[int, str, str], str | None]) -> Rows:
    """Replace each folded text by the result of *change*, and drop the added columns."""
    place = _find_column(batch.schema, column)
    if "originals" not in batch.schema.names:
        raise ConfigError("not a folded batch: it has no column 'originals'")
    texts = batch.column(place).to_pylist()
    is_kept = [True] * batch.num_rows
    for row, note in enumerate(batch.column("originals").to_pylist()):
        if note is not None:  # else `fold_batch` could not read the row and kept it
            texts[row] = change(row, texts[row], note)
            is_kept[row] = texts[row] is not None
    field = _unfolded_field(batch.schema.field(place))
    done = [text for text, is_one in zip(texts, is_kept, strict=True) if is_one]
    kept = _filter(batch, is_kept).set_column(place, field, _values(done, field.type))
    added = [name for name in (*ADDED, "error") if name in kept.schema.names]
    unfolded: Rows = kept.drop_columns(added)
    return unfolded


def _filter(batch: Rows, is_kept: Sequence[bool]) -> Rows:
    # Arrow cannot filter every type of column, so filter only if necessary.
    if all(is_kept):
        return batch
    kept: Rows = batch.filter(need("pyarrow", "batch").array(is_kept, "bool"))
    return kept


def _find_column(schema: pa.Schema, column: str) -> int:
    """Return the index of *column*; raise `ConfigError` unless there is exactly one."""
    if schema.names.count(column) != 1:
        got = ", ".join(map(repr, schema.names)) or "none"
        raise ConfigError(
            f"expected one column {column!r}, got {got}: say with column= or --column which one "
            "has the conversations"
        )
    return int(schema.get_field_index(column))


def _folded_field(field: pa.Field) -> pa.Field:
    """Return the field for folded texts; for structs, its metadata has the original type."""
    pa = need("pyarrow", "batch")
    if _is_text(field.type):
        return field
    if not _is_json(field.type):
        raise ConfigError(
            f"the column {field.name!r} is not JSON text, and cannot become it: {field.type}"
        )
    note = pa.schema([field]).serialize().to_pybytes().hex().encode()
    return pa.field(field.name, pa.string(), metadata={_TYPE_KEY: note})


def _unfolded_field(field: pa.Field) -> pa.Field:
    """Undo `_folded_field`."""
    pa = need("pyarrow", "batch")
    note = (field.metadata or {}).get(_TYPE_KEY)
    if note is None:
        return field
    return pa.ipc.read_schema(pa.py_buffer(bytes.fromhex(note.decode()))).field(0)


def _texts(column: pa.Array) -> Iterator[str]:
    if _is_text(column.type):
        yield from column.to_pylist()
    else:
        yield from (_STYLE.dump(_without_nulls(value)) for value in column.to_pylist())


def _values(texts: Sequence[str], type_: Any) -> pa.Array:
    pa = need("pyarrow", "batch")
    if _is_text(type_):
        return pa.array(texts, type_)
    return pa.array([parse_json(text, "record") for text in texts], type_)


def _is_text(type_: Any) -> bool:
    types = need("pyarrow.types", "batch")
    return bool(
        types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_)
    )


def _is_json(type_: Any) -> bool:
    """Return whether values of a type survive a round trip through JSON."""
    types = need("pyarrow.types", "batch")
    scalars = (types.is_boolean, types.is_null, types.is_integer, types.is_floating)
    inside = [type_]
    while inside:
        one = inside.pop()
        if types.is_struct(one):
            inside.extend(field.type for field in one)
        elif types.is_list(one) or types.is_large_list(one) or types.is_fixed_size_list(one):
            inside.append(one.value_type)
        elif not _is_text(one) and not any(is_one(one) for is_one in scalars):
            return False
    return True


def _without_nulls(value: Any) -> Any:
    """Drop null fields: structs in a column have the fields of all others."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value
