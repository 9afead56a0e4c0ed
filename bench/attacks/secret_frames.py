"""Places where secrets stand, and secrets to put there: all made up, none from anybody's life."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from typing import Final

_ALNUM: Final = string.ascii_letters + string.digits
_HEX: Final = "0123456789abcdef"
_SYMBOLS: Final = "#%^*+~"


def _mixed(numbers: random.Random, alphabet: str, size: int) -> str:
    """Draw letters and digits until both are there."""
    while True:
        drawn = "".join(numbers.choices(alphabet, k=size))
        if any(map(str.isdigit, drawn)) and any(map(str.isalpha, drawn)):
            return drawn


def _password(numbers: random.Random) -> str:
    body = _mixed(numbers, _ALNUM, numbers.randint(8, 16))
    if numbers.random() < 0.4:
        place = numbers.randint(2, len(body) - 2)
        return body[:place] + numbers.choice(_SYMBOLS) + body[place:]
    return body


def _token(numbers: random.Random) -> str:
    return _mixed(numbers, _ALNUM, numbers.randint(24, 48))


def _digits(numbers: random.Random) -> str:
    return _mixed(numbers, _HEX, numbers.choice((32, 40, 64)))


def _base64(numbers: random.Random) -> str:
    return _mixed(numbers, _ALNUM + "+/", numbers.choice((43, 86))) + "="


def _prefixed(numbers: random.Random) -> str:
    prefix, size = numbers.choice(_KEYS)
    return prefix + _mixed(numbers, _ALNUM, size)


_KEYS: Final = (
    ("sk-proj-", 48),
    ("sk-ant-api03-", 80),
    ("ghp_", 36),
    ("gho_", 36),
    ("glpat-", 20),
    ("xoxb-", 40),
    ("sk_live_", 24),
    ("rk_test_", 24),
    ("npm_", 36),
    ("hf_", 34),
    ("hvs.", 24),
    ("dp.pt.", 43),
    ("lin_api_", 40),
    ("ntn_", 46),
    ("gsk_", 52),
    ("AIza", 35),
    ("ya29.", 60),
    ("dckr_pat_", 27),
    ("figd_", 40),
    ("secret_", 43),
)
DRAW: Final[dict[str, Callable[[random.Random], str]]] = {
    "password": _password,
    "token": _token,
    "hex": _digits,
    "base64": _base64,
    "key": _prefixed,
}
"""Makers of secrets, by kind."""

FRAMES: Final[tuple[tuple[str, str], ...]] = tuple(
    (kind, frame)
    for kind, frames in {
        "key": (
            "I pasted {} into the wrong window.",
            "key={}",
            "`{}`",
            '{{"k": "{}"}}',
            "see\n{}\nbelow",
            "密钥 {} 请保存",
        ),
        "password": (
            "PASSWORD={}",
            "export DB_PASSWORD='{}'",
            "password: {}",
            '  root_password: "{}"',
            "smtp.password = {}",
            '{{"user": "ann", "password": "{}"}}',
            '{{\\"pwd\\": \\"{}\\"}}',
            "run --password {} --fast",
            "run --db-password={}",
            '["run", "--password", "{}"]',
            "<password>{}</password>",
            '<add key="Password" value="{}" />',
            "- name: ADMIN_PASSWORD\n  value: {}",
            "User Id=ann;Password={};Encrypt=true",
            "machine h.example.org login ann password {}",
            "mongodb://ann:{}@db.example.org/x",
            "curl -u ann:{} https://h.example.org",
            "sshpass -p {} ssh ann@h.example.org",
            "mysql -u ann -p{} x",
            "CREATE USER ann IDENTIFIED BY '{}';",
            "echo 'ann:{}' | chpasswd",
            "| password | {} |",
            "| user | password |\n|---|---|\n| ann | {} |",
            "user,password\nann,{}",
            "USER    PASSWORD\nann     {}",
            "password:\n  {}",
            "connect(user='ann', password='{}')",
            'conn.setPassword("{}");',
            "The password is {} until Friday",
            "the root password for the new machine is {}, tell nobody",
            "log in with password {} and look",
            "Das Passwort lautet {} und gilt ab morgen",
            "Kennwort: {}",
            "Le mot de passe est {} pour tous",
            "mot de passe : {}",
            "La contraseña es {} desde ayer",
            "contraseña: {}",
            "A senha é {} para todos",
            "senha: {}",
            "密码是{}，别忘了",
            "密码：{}",
            "パスワードは「{}」です",
            "パスワード：{}",
            "пароль: {}",
            "пароль от сервера — {} до пятницы",
        ),
        "token": (
            "TOKEN={}",
            "API_KEY={}",
            "auth_token: {}",
            'api_key = "{}"',
            "clientSecret: '{}'",
            '{{"access_token": "{}"}}',
            "Authorization: Bearer {}",
            "-H 'X-Api-Key: {}'",
            "Cookie: theme=dark; sessionid={}; lang=de",
            "Set-Cookie: sid={}; Path=/; HttpOnly",
            "https://h.example.org/a?access_token={}&page=2",
            "https://h.example.org/reset?token={}",
            "//registry.example.org/:_authToken={}",
            'os.environ["API_TOKEN"] = "{}"',
            'token := "{}"',
            "The API token is {} for now",
            "Der API-Schlüssel ist {} und",
            "clé API : {}",
            "clave secreta: {}",
            "chave de API: {}",
            "令牌：{}",
            "トークン：{}",
            "токен: {}",
            "name\ttoken\nci\t{}",
            "token: >-\n  {}",
        ),
        "hex": (
            "DD_API_KEY={}",
            "secret_key: {}",
            '"client_secret": "{}"',
            "https://{}@h.example.org/42",
            "https://h.example.org/o?X-Amz-Signature={}",
            "Authorization: token {}",
        ),
        "base64": (
            "PrivateKey = {}",
            "AccountName=x;AccountKey={};EndpointSuffix=y",
            "aws_secret_access_key = {}",
            "    client-key-data: {}",
            '{{"auths": {{"r.example.org": {{"auth": "{}"}}}}}}',
            "APP_KEY=base64:{}",
        ),
    }.items()
    for frame in frames
)
"""The kind of secret and the text around it."""


def draw(numbers: random.Random) -> tuple[str, str, str]:
    """Return a text with a secret in it, the secret, and the text without it."""
    kind, frame = numbers.choice(FRAMES)
    secret = DRAW[kind](numbers)
    return frame.format(secret), secret, frame
