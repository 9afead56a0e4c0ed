"""The headers of a patch name the files that it changes; its lines do not."""

from __future__ import annotations

from refold.files.shell_programs import diffed_files, is_patch, may_hold_patch, patched_files

PATCH = """*** Begin Patch
*** Update File: src/queue.py
*** Move to: src/line.py
@@
-see src/other.py
+*** Update File: not this one
*** Add File: docs/a b.md
+text
*** Delete File: old.py
*** End Patch"""

DIFF = """diff --git a/src/queue.py b/src/queue.py
--- a/src/queue.py\t2024-01-01
+++ b/src/queue.py\t2024-01-02
@@ -1 +1 @@
-see a/src/other.py
+see b/src/more.py
--- /dev/null
+++ b/new.py
"""


def test_a_patch_names_every_file_that_it_touches() -> None:
    assert patched_files(PATCH) == ["src/queue.py", "src/line.py", "docs/a b.md", "old.py"]


def test_a_patch_is_known_by_its_first_line() -> None:
    assert is_patch(PATCH)
    assert is_patch(f"\n{PATCH}")
    assert not is_patch(f"This is a patch: {PATCH}")
    assert may_hold_patch(f"This is a patch: {PATCH}")
    assert not is_patch(DIFF)


def test_a_diff_names_the_files_in_its_headers() -> None:
    assert diffed_files(DIFF, 1) == ["src/queue.py", "new.py"]
    assert diffed_files(DIFF, 0) == ["a/src/queue.py", "b/src/queue.py", "b/new.py"]
    assert diffed_files(DIFF, 9) == []
