"""The names of a text that may be listed beside its summary: a secret is no name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

_SUSPECT: Final = re.compile(
    r"[0-9][A-Za-z_]|[A-Za-z_][0-9]|[a-z][A-Z]|[A-Za-z0-9][!#$^&*]|://|[0-9][0-9 -]{11}"
)
"""What may be a secret among names: others are words, measures and places."""
_SHAPED: Final = re.compile(r"[A-Za-z0-9_-]{20}|://[^\n]{0,200}?[@=]|[0-9][0-9 -]{11}")
"""What may be one by its shape, whatever the text says."""
_ROOTS: Final = (
    "passw", "passp", "passc", "_pass", "pass=", "pass:", "pwd", "mdp", "mot de pass", "contrase",
    "senha", "wachtw", "secret", "token", "cred", "key:", "key=", "key is", "_key", "apikey",
    "api key", "bearer", "authori", "cookie", "clave", "chave", "jeton", "geheim", "kennw",
    "zugang", "otp", "cvv", "mnemonic", "parola", "sifre", "heslo",
    "sshpass", " -u", " -p", "machine ", "identified", "login",
)  # fmt: skip
"""In lower case, what is in the words of `secret_names` or around them."""
_FAR_ROOTS: Final = tuple(
    (
        "密 口令 令牌 凭 憑 秘钥 私钥 授权 访问码 验证 パス 鍵 キー トークン "
        "シークレット 合言葉 コード 番号 парол токен ключ секрет данные пин 비밀 암호 "
        "토큰 키 인증 clé schlüssel lösen hasło şifre jelszó كلمة पास mật รหัส código"
    ).split()
)
"""The same beyond ASCII."""


def without_secrets(
    text: str, names: tuple[str, ...], find: Callable[[str], Iterable[str]]
) -> tuple[str, ...]:
    """Return *names*, what *find* finds in *text*, without its secrets, their parts and holders.

    Most texts have no name that looks like a secret, or nothing that announces one; that is seen
    at little cost. Otherwise the names stay that are found in the text without its secrets.
    """
    listed = "\n".join(names)
    if not _SUSPECT.search(listed) or not (_SHAPED.search(listed) or _may_announce(text)):
        return names
    from refold.text.redaction import hide_secrets  # knows many patterns, and few texts get here

    hidden = hide_secrets(text)
    if hidden == text:
        return names
    kept = set(find(hidden))
    return tuple([name for name in names if name in kept])


def _may_announce(text: str) -> bool:
    """Tell at little cost whether there may be a word that announces secrets."""
    lower = text.lower()
    return _has_any(lower, _ROOTS) or (not lower.isascii() and _has_any(lower, _FAR_ROOTS))


def _has_any(text: str, words: tuple[str, ...]) -> bool:
    for word in words:  # noqa: SIM110 - `any` costs more than the searches
        if word in text:
            return True
    return False
