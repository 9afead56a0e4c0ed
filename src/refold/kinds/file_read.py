"""Source files as a tool reads them, with or without line numbers: signatures count more."""

from __future__ import annotations

import re
from typing import Final

from refold.kinds._errors import split_source
from refold.kinds._lines import END, GradesByLine, any_of, line_pattern, line_rules
from refold.kinds.base import HEADING, NOISE, SIGNATURE, Grade, Kind, Pieces, Sample

_IMPORT: Final = Grade("import", 1.3)
_DOCSTRING: Final = Grade("docstring", 1.1)

_NUMBER: Final = r"[ \t]*+[0-9]++(?: ?(?:→|\t)|[:|] ?+|  )"
_SIGNATURE: Final = any_of(
    # Python
    r"(?:async )?def \w",
    r"class \w",
    # JavaScript, TypeScript
    r"(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:async )?"
    r"(?:function\b|class \w|interface \w|enum \w|namespace \w|type \w++[ <=])",
    r"export (?:const|let|default|async)\b",
    r"(?:const|let|var) \w++ = (?:async )?(?:\(|function\b)",
    # Go
    r"func[ (]",
    r"type \w++ (?:struct|interface|func)\b",
    # Rust
    r"(?:pub(?:\([^)\n]{0,30}+\))? )?(?:async |unsafe |const |extern \"C\" )*+"
    r"(?:fn|struct|enum|trait|union|mod) \w",
    r"impl\b",
    r"macro_rules!",
    # Java, C#, Kotlin
    r"(?:(?:public|private|protected|internal|static|final|abstract|override|sealed) )++"
    r"[\w<>\[\], ?.]++[({:]",
    r"record \w",
    # C, C++
    r"(?:static |inline |extern |const |unsigned |struct )*+"
    r"(?:void|int|char|bool|float|double|long|short|s?size_t|u?int[0-9]++_t)[ *]++\w++\(",
    r"#define \w",
    r"typedef\b",
    r"template ?<",
)
_BODY: Final = re.compile(r"\)(?:[^\n;(){}=]{0,80}+\{(?=\r?\n)|[ \t]*+\r?\n\{)")
"""The end of a line with a body below: a bracket, perhaps a type, and a brace."""
_HEAD: Final = re.compile(
    rf"(?:{_NUMBER})?+[ \t]*+(?!(?:if|for|while|switch|catch|return|with|else|do|synchronized)\b)"
    r"[A-Za-z_$#~*][^\n(=.]*+\("
)
_IMPORTS: Final = any_of(
    r"import\b",
    r"from \S++ import ",
    r"#include",
    r"(?:using|use|package) \w",
    r"(?:const|var) [^\n=]{1,60}+= require\(",
    r"\} from [\"']",
    rf"(?:\w++ )?\"[\w./@-]++\"{END}",  # in the import block of Go
)
_LICENCE: Final = (
    r"(?:#|//|/?\*|--)?[ \t]*+"
    r"(?:Copyright|Licensed under|SPDX-|Permission is hereby|All rights reserved"
    r"|Redistribution and|THIS SOFTWARE|WITHOUT WARRANT|\(c\) [0-9])"
)
_ABOUT: Final = any_of(
    r"\[File: |Here's the (?:result|files)|The file \S",
    r"\([0-9]++ (?:more )?lines (?:above|below)",
    r"#{2,6} \S",  # Markdown
)
# Most lines are code that no rule is about: they are passed over by their first letters.
_GATE: Final = (
    r"(?=def |class |async |export |default |declare |abstract |function|interface |enum |type "
    r"|namespace |const |let |var |func|pub|unsafe |extern |fn |struct |trait |union |mod |impl"
    r"|macro_rules|private |protected |internal |static |final |override |sealed |record |inline "
    r"|unsigned |void|int|char|bool|float|double|long|short|size_t|ssize_t|uint|typedef|template"
    r"|import|from |using |use |package |[A-Z#}\"'/*(\[-])"
)
_MARKS: Final = line_rules(
    rf"(?:{_NUMBER})?+[ \t]*+{_GATE}",
    (SIGNATURE, _SIGNATURE),
    (_IMPORT, _IMPORTS),
    (_DOCSTRING, r"\"\"\"[^\n\"]|'''[^\n']|/\*\* ?\w|//! "),
    (NOISE, _LICENCE),
    (HEADING, _ABOUT),
)

_NUMBER_OF_LINE: Final = re.compile(_NUMBER)
_HEAD_OF_BODY: Final = re.compile(rf"(?:{_NUMBER})?+[ \t]*+{_SIGNATURE}")
_NUMBERED: Final = line_pattern(r"[ \t]++[0-9]++ ?(?:→|\t)")
"""As `cat -n` and most tools number the lines of a file."""
_COUNTED: Final = line_pattern(r"[ \t]*+[0-9]++(?:→|:(?![0-9])|\|)", r"\[File: ")
"""As others do; search hits can look the same, and are asked first."""
_CODE: Final = line_pattern(
    r"[ \t]*+"
    + any_of(
        rf"(?=[a-z#]){_SIGNATURE}",
        r"import |from \S++ import |#include|package |@\w",
        r"(?:return|elif|else|except|try|finally|break|continue|raise|yield)\b|self\.",
        r"(?:if|for|while|with) [^\n]*+(?<=[:{])",
        r"(?:switch|case|let|const|var) ",
        r"//|/\*|\*/|[\w.]++ = |\"[^\"\n]++\" ?: ",
    ),
    r"[^\n]*+(?:(?<=[;{(})])|(?<=\)[:,])|(?<=\},))",
)
_TOOLS: Final = ("read", "view", "cat", "open_file", "str_replace_editor", "edit", "write")
_COMMAND: Final = re.compile(r"[\s\"'|;&(](?:cat|sed -n|head|tail|nl|bat) ([^|\n]*+)")
_SOURCE_FILE: Final = re.compile(
    r"\.(?:pyi?|[cm]?[jt]sx?|go|rs|java|kt|cc?|h|cpp|hpp|cs|rb|php|swift|scala|sh|toml|ya?ml|cfg)\b"
)


def skip_number(text: str, start: int) -> int:
    """Return where the line at *start* begins behind its number, if it has one."""
    found = _NUMBER_OF_LINE.match(text, start)
    return start if found is None else found.end()


def is_signature(text: str, start: int) -> bool:
    """Return whether the line at *start* names a function, a class or the like."""
    return _HEAD_OF_BODY.match(text, start) is not None


def _is_numbered(sample: Sample) -> bool:
    return sample.share(_NUMBERED) >= 0.6


def _claims(sample: Sample) -> bool:
    if sample.share(_COUNTED) >= 0.6:
        return True
    asked = sample.tool.startswith(_TOOLS) or any(
        _SOURCE_FILE.search(found[1]) for found in _COMMAND.finditer(sample.arguments)
    )
    return len(sample.lines) >= 2 and sample.share(_CODE) >= (0.15 if asked else 0.4)


def split_file(text: str) -> Pieces:
    """Cut a source file into lines; signatures, imports and first lines of docs are known."""
    marks = _MARKS(text)
    _mark_bodies(text, marks)
    return split_source(text, marks)


def _mark_bodies(text: str, marks: GradesByLine) -> None:
    """Mark the heads of bodies without a keyword: methods of JavaScript, functions of C."""
    for found in _BODY.finditer(text):
        start = text.rfind("\n", 0, found.start()) + 1
        if start not in marks and _HEAD.match(text, start, found.end()):
            marks[start] = SIGNATURE


KIND: Final = Kind(name="file_read", claims=_claims, is_sure=_is_numbered, split=split_file)
