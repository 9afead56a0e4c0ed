"""The check of the built site finds links that lead nowhere, and nothing else."""

from __future__ import annotations

from pathlib import Path

from tests.docs.scripts import load_script


def test_links_are_followed_to_their_place(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text(
        '<h1 id="top">a</h1><a href="#top"></a><a href="sub/page.html#b%20c"></a>'
        '<a href="https://example.org/gone"></a><img src="picture.png">',
        encoding="utf-8",
    )
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "page.html").write_text(
        '<a href="../index.html"></a><p id="b c"></p>'
        '<a href="../index.html#nowhere"></a><a href="gone.html"></a>',
        encoding="utf-8",
    )
    (tmp_path / "llms.txt").write_text(
        "# A site\n\n- [Page](sub/page.html): it is here.\n- [Gone](gone.html): it is not.\n",
        encoding="utf-8",
    )
    broken, inside, outside = load_script("check_site").find_broken(tmp_path)
    assert broken == [
        "index.html: picture.png",
        "sub/page.html: ../index.html#nowhere",
        "sub/page.html: gone.html",
        "llms.txt: gone.html",
    ]
    assert (inside, outside) == (8, 1)
