"""The words that announce a secret: in code, in configuration, and in sixty languages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final


class Grade(IntEnum):
    """How strongly a word announces that what follows is secret."""

    WEAK = 0
    """What follows is secret if it looks like chance: `key`, `auth`, `session`."""
    CODE = 1
    """A few digits follow: `pin`, `otp`, `cvv`."""
    SECRET = 2
    """Something made by a machine follows: `token`, `api_key`."""
    PASSWORD = 3
    """Anything may follow that people can think of."""


# Lower case. A blank stands for a blank, `-`, `_`, `.`, `:` or nothing. Words of up to four
# letters count only where a word, or a hump of one, begins: see `find_names`.
_WORDS: Final = {
    Grade.PASSWORD: (
        "password passwords passwd passwort passwörter kennwort kennwörter passphrase passcode "
        "pass pwd psw pw mdp mot_de_passe mots_de_passe contraseña contrasena contraseñas "
        "senha senhas palavra_passe wachtwoord lösenord hasło parola şifre sifre heslo jelszó "
        "пароль пароля паролем паролю пароли парол фраза 密码 密碼 口令 パスワード "
        "パスフレーズ 비밀번호 암호 파스워드 كلمة_المرور كلمة_السر كلمة_مرور گذرواژه رمز_عبور "
        "पासवर्ड mật_khẩu รหัสผ่าน kata_sandi adgangskode kodeord lösenordet salasana "
        "salasanan slaptažodis parool lozinka zaporka geslo parole heslem hasłem jelszava "
        "jelszavam κωδικός κωδικός_πρόσβασης σύνθημα סיסמה סיסמא парола лозинка гасло 비번 "
        "패스워드 пассворд passord pasahitza contrasenya psk wpa_key wifi_key lykilorð "
        "passordet šifra kata_laluan পাসওয়ার্ড nenosiri wagwoord salasõna fjalëkalimi parolă "
        "паролата contrasinal cyfrinair құпия_сөз şifrə პაროლი գաղտնաբառ ລະຫັດຜ່ານ "
        "ពាក្យសម្ងាត់ စကားဝှက် கடவுச்சொல் పాస్‌వర్డ్ passwrod pasword passowrd paswoord pswd "
        "security_question security_answer sicherheitsfrage seed_phrase recovery_phrase "
        "mnemonic secret_phrase seed_words key_content schlüsselinhalt contenu_de_la_clé "
        "contenido_de_la_clave şifresi şifrem sifresi sifrem parolası parolam parol "
        "پاس_ورڈ нууц_үг የይለፍ_ቃል මුරපදය પાસવર્ડ ಪಾಸ್‌ವರ್ಡ್ പാസ്‌വേഡ് ਪਾਸਵਰਡ ପାସୱାର୍ଡ "
        "kalmar_sirri pasfhocal pasvorto passwuert iphasiwedi maiden_name"
    ),
    Grade.SECRET: (
        "secret secrets token credential credentials creds api_key access_key secret_key "
        "private_key signing_key encryption_key auth_key account_key shared_key master_key "
        "license_key licence_key service_key admin_key deploy_key session_key storage_key "
        "subscription_key preshared_key function_key host_key integration_key application_key "
        "app_key publishable_key server_key bot_key recovery_key wallet_key ssh_key "
        "shared_access_key key_data authtoken bearer api_token sas pat pass_key unseal_key "
        "setup_key jwt_key root_token samlresponse samlrequest assertion community "
        "userpassword geheimnis geheimschlüssel api_schlüssel zugangsschlüssel zugangscode "
        "zugangsdaten anmeldedaten jeton clé_secrète clé_api clé_privée clé_d'accès "
        "identifiants code_d'accès clave clave_secreta clave_de_api clave_privada credenciales "
        "credencial secreto ficha chave_secreta chave_de_api chave_api chave_privada "
        "chave_de_acesso credenciais segredo токен токена токеном секрет секретный_ключ "
        "ключ_доступа ключ_api api_ключ учётные_данные учетные_данные 密钥 密鑰 秘钥 私钥 私鑰 "
        "令牌 凭证 凭据 憑證 授权码 访问码 秘密鍵 アクセスキー apiキー トークン シークレット "
        "シークレットキー 認証キー 合言葉 토큰 비밀_키 api_키 chiave_segreta chiave_api "
        "gettone"
    ),
    Grade.CODE: (
        "pin pin_code digit_code otp cvv cvc cvv2 totp tan geheimzahl verification_code "
        "security_code access_code auth_code 2fa_code mfa_code one_time_code one_time_password "
        "backup_code recovery_code recovery_codes backup_codes scratch_code scratch_codes "
        "one_time_codes emergency_codes door_code gate_code alarm_code entry_code unlock_code "
        "lock_code safe_code passcodes kenncode türcode login_code sign_in_code whatsapp_code "
        "guard_code steam_code signal_code telegram_code sms_code setup_code pairing_code "
        "gift_code gift_card_code voucher_code redeem_code activation_code gutschein "
        "gutscheincode code_cadeau código_de_regalo key_box_code lockbox_code "
        "schlüsselkasten_code "
        "combination unlocks_with unlock_with "
        "puk puk1 puk2 pin1 pin2 puk_code pincode pincodes pin_codes wiederherstellungscode "
        "wiederherstellungscodes notfallcodes códigos_de_recuperación codes_de_récupération "
        "codici_di_recupero code_secret codigo_secreto código_secreto коды_восстановления "
        "恢复代码 备用码 バックアップコード 복구_코드 bestätigungscode sicherheitscode "
        "code_de_vérification código_de_verificación código_de_segurança código_de_verificação "
        "код_подтверждения пин_код пинкод 验证码 驗證碼 認証コード 暗証番号 確認コード "
        "인증번호"
    ),
    Grade.WEAK: (
        "key keys auth sig signature session sid session_id sessid phpsessid jsessionid jwt "
        "salt cookie oauth schlüssel clé clef llave chave chiave ключ ключом 鍵 キー 钥匙 세션 "
        "login licence license webhook nonce hmac refresh otpauth seed tokens api_keys"
    ),
}
GRADES: Final = {
    word.replace("_", " "): grade for grade, words in _WORDS.items() for word in words.split()
}
_COMMON: Final = frozenset({"pass"})
"""Words of every text: alone they count for little."""
_GLUED: Final = frozenset({"pwd", "passwd", "pw"})
"""Words that others are written together with."""
_JOINTS: Final = " _.:-"
"""What may stand where a word has a blank."""
_SHORT: Final = 4
"""Words of so few ASCII letters are parts of too many others."""


def _spelled(words: list[str]) -> str:
    """Spell *words* as a pattern that reads each beginning once; the longest word wins."""
    by_first: dict[str, list[str]] = {}
    for word in words:
        by_first.setdefault(word[:1], []).append(word[1:])
    ends = by_first.pop("", None) is not None
    branches = [
        (f"[{_JOINTS}]?" if first == " " else re.escape(first)) + _spelled(rest)
        for first, rest in by_first.items()
    ]
    if not branches:
        return ""
    if len(branches) == 1 and not ends:
        return branches[0]
    return f"(?:{'|'.join(branches)}){'?' if ends else ''}"


_BEFORE_PASS: Final = (
    "ssh key store db user root admin sudo ftp smtp mail sql mysql pg my web wifi vpn ldap proxy "
    "redis mongo app svc login new old bind zip cert pfx jks truststore keystore wp api server "
    "service"
).split()
"""What `pass` is written together with."""
_PASS: Final = rf"(?<![a-z])(?:{'|'.join(_BEFORE_PASS)})pass(?![a-z])"
_ALL: Final = _spelled(list(GRADES))
_ALL_ASCII: Final = _spelled([word for word in GRADES if word.isascii()])
_NAMES: Final = {
    (False, False): re.compile(_ALL),
    (False, True): re.compile(f"{_PASS}|{_ALL}"),
    (True, False): re.compile(_ALL_ASCII),
    (True, True): re.compile(f"{_PASS}|{_ALL_ASCII}"),
}
"""What is looked for, by whether a text is ASCII and whether it has a `pass`: without one, `re` can
go by the first letters, in half the time."""
_JOINT: Final = re.compile(f"[{_JOINTS}]")
_BY_LETTERS: Final = {_JOINT.sub("", word): grade for word, grade in GRADES.items()}
_SUFFIX: Final = re.compile(r"(?:[_.-]?[0-9]{1,3}|(?:[_-][a-z0-9]{1,12}){1,3})(?![a-z0-9_])")
_OTHER_THING: Final = re.compile(
    r"(?:type|name|id|ids|url|uri|file|path|field|len|length|count|limit|size|expir\w*|ttl|timeout"
    r"|at|policy|hint|label|header|input|manager|class|form|reset|change|validator\w*|store|version"
    r"|alg|algorithm|format|prefix|usage|rotation|required|index|map|set|list)$"
)
"""Properties of a secret that are no secrets themselves."""


@dataclass(frozen=True, slots=True)
class Name:
    """A word in a text after which a secret may stand."""

    start: int
    end: int
    grade: Grade
    is_common: bool
    """Whether the word is so common that only an assignment counts."""


def find_names(text: str, lower: str) -> Iterator[Name]:
    """Yield the words that announce secrets; *lower* is *text* in lower case, place by place."""
    words = _NAMES[lower.isascii(), "pass" in lower]
    found = words.search(lower)
    while found is not None:
        name = _read_name(text, lower, found)
        if name is not None:
            yield name
        # A short word inside another may hide a longer one: "rootPassword" has "otp" in it.
        is_inside = name is None and len(found[0]) <= _SHORT
        found = words.search(lower, found.start() + 1 if is_inside else found.end())


def _read_name(text: str, lower: str, found: re.Match[str]) -> Name | None:
    """Return what a word announces; None if it is part of another, or says something else."""
    start, end = found.span()
    word = found[0]
    grade = _BY_LETTERS.get(_JOINT.sub("", word), Grade.PASSWORD)
    is_part = word.isascii() and (len(word) <= _SHORT or grade is Grade.WEAK)
    if is_part and not _begins(text, lower, start):
        if word not in _GLUED or lower[end : end + 1] not in {"=", ":", '"', "'"}:
            return None
        grade = Grade.SECRET  # SQLPWD=
    if lower.startswith("s", end) and not _goes_on(lower, end + 1, "s"):
        end += 1  # several of them
    if _goes_on(lower, end, word):
        suffix = _SUFFIX.match(lower, end)
        if suffix is None or _OTHER_THING.search(suffix[0]):
            return None
        end = suffix.end()
        grade = min(grade, Grade.SECRET)
    is_common = word in _COMMON and _stands_alone(lower, start)
    if is_common and text[start:end].isupper():
        return None  # the verdict of a test
    return Name(start, end, grade, is_common)


def _begins(text: str, lower: str, start: int) -> bool:
    before = lower[start - 1 : start]
    if not before or not before.isalnum() or not before.isascii():
        return True
    return text[start] != lower[start] and text[start - 1] == before  # a hump


def _stands_alone(lower: str, start: int) -> bool:
    """Return whether nothing that belongs to the word stands before it, as in `db_pass`."""
    return lower[start - 1 : start] in {"", " ", "\n", "\t", "(", ",", ":"}


def _goes_on(lower: str, end: int, word: str) -> bool:
    if not word[-1].isascii():
        return False  # scripts without blanks, and the many cases of some languages
    after = lower[end : end + 1]
    return (after != "" and (after in "_" or (after.isalnum() and after.isascii()))) or (
        after in {"-", "."} and lower[end + 1 : end + 2].isalnum()
    )
