"""Secrets that are known by their own shape: prefixes, key blocks, headers, addresses.

A new one is a line in `KINDS`. `hints` are lower-case texts of which one has to occur before the
pattern is tried at all, so that a text without secrets costs next to nothing. A pattern's group
`secret` is what goes; without one the whole match does. No pattern may need more than
`LONGEST_START` characters to recognise the start of a secret: excerpts rely on it.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass

LONGEST_START = 4_200
"""How many characters after its beginning are enough to recognise any secret.
Unit: characters."""


def _always(_: str) -> bool:
    return True


def _is_basic_login(text: str) -> bool:
    """Whether a text is the base64 of `name:password`."""
    padded = text.rstrip("=")
    try:
        return b":" in base64.b64decode(padded + "=" * (-len(padded) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


@dataclass(frozen=True)
class SecretKind:
    """One shape of secrets; `confirm` looks once more at what the pattern took for one."""

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    confirm: Callable[[str], bool] = _always


def _token(name: str, hints: str, body: str) -> SecretKind:
    """A token that begins with a fixed text and is not the middle of a longer word."""
    return SecretKind(name, tuple(hints.split()), re.compile(rf"(?<![A-Za-z0-9])(?:{body})"))


_WITH_DIGIT = r"(?=[A-Za-z0-9_.\-]{0,400}\d)"

KINDS: tuple[SecretKind, ...] = (
    SecretKind(
        "private-key",
        ("private key",),
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)"
        ),
    ),
    SecretKind(
        "private-key",
        ("putty-user-key-file",),
        re.compile(r"PuTTY-User-Key-File-\d[\s\S]*?(?:Private-MAC: ?\w+|\Z)"),
    ),
    _token("private-key", "age-secret-key-", r"AGE-SECRET-KEY-1[0-9A-Z]{20,}"),
    _token(
        "github-token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"(?:gh[pousr]|github_pat)_[A-Za-z0-9_]{6,}",
    ),
    _token(
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct-",
        r"gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_.\-]{8,}",
    ),
    _token("npm-token", "npm_", r"npm_[A-Za-z0-9]{16,}"),
    _token("pypi-token", "pypi-age", r"pypi-AgE[A-Za-z0-9_\-]{12,}"),
    _token("huggingface-token", "hf_ api_org_", rf"(?:hf|api_org)_{_WITH_DIGIT}[A-Za-z0-9]{{16,}}"),
    _token("huggingface-token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    _token("model-key", "sk-", rf"sk-{_WITH_DIGIT}[A-Za-z0-9_\-]{{16,}}"),
    _token("model-key", "sk-", r"sk-(?:ant|proj|svcacct|admin|or-v1)-[A-Za-z0-9_\-]{12,}"),
    _token(
        "model-key",
        "gsk_ pplx- r8_ xai- nvapi- fw_",
        rf"(?:gsk_|pplx-|r8_|xai-|nvapi-|fw_){_WITH_DIGIT}[A-Za-z0-9_\-]{{16,}}",
    ),
    _token(
        "stripe-key",
        "sk_live_ sk_test_ rk_live_ rk_test_ pk_live_ whsec_",
        r"(?:(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{8,}|whsec_[A-Za-z0-9+/=]{16,})",
    ),
    _token(
        "slack-token",
        "xoxa- xoxb- xoxe xoxo- xoxp- xoxr- xoxs- xoxc- xoxd- xapp-",
        r"(?:xox[abcdeoprs][.\-][A-Za-z0-9.%\-]{8,}|xapp-[A-Za-z0-9\-]{8,})",
    ),
    SecretKind(
        "webhook-url",
        ("hooks.slack.com/", "/api/webhooks/", ".webhook.office.com/"),
        re.compile(
            r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/|/api/webhooks/\d+/"
            r"|\.webhook\.office\.com/webhookb2/)(?P<secret>[^\s\"'<>)]{8,})"
        ),
    ),
    _token(
        "google-key",
        "aiza ya29. gocspx- 1//0",
        r"(?:AIza[0-9A-Za-z_\-]{20,}|ya29\.[0-9A-Za-z_\-]{16,}|GOCSPX-[0-9A-Za-z_\-]{16,}"
        r"|1//0[0-9A-Za-z_\-]{24,})",
    ),
    _token("aws-key", "akia asia abia acca", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _token("jwt", "eyj", r"eyJ[A-Za-z0-9_\-]{10,}(?:\.[A-Za-z0-9_\-]+){1,4}\.?"),
    _token("sendgrid-key", "sg.", r"SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}"),
    _token("twilio-key", "sk", r"SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    _token("mailgun-key", "key-", r"key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    _token("mailchimp-key", "-us", r"[0-9a-f]{32}-us\d{1,2}(?![A-Za-z0-9])"),
    _token("telegram-token", ":aa", r"\d{8,10}:AA[A-Za-z0-9_\-]{32,}"),
    _token("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{16,}"),
    _token("databricks-token", "dapi", r"dapi[0-9a-f]{32}(?:-\d+)?(?![A-Za-z0-9])"),
    _token("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_\-]{20,}"),
    _token("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-=]{20,}"),
    _token("atlassian-token", "atatt3 atctt3", r"AT[AC]TT3[A-Za-z0-9_\-=.]{20,}"),
    _token("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{32,}"),
    _token("doppler-token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.\-]{16,}"),
    _token("tailscale-key", "tskey-", r"tskey-[a-z]{2,}-[A-Za-z0-9\-]{8,}"),
    _token(
        "service-token",
        "glsa_ glc_ dckr_pat_ dckr_oat_ sbp_ sb_secret_ lin_api_ figd_ ntn_ sntrys_ sntryu_ "
        "rubygems_ pscale_ ccipat_ nfp_ doo_v1_ dop_v1_ dor_v1_ pul- pmak- nrak- hrku- akcp phx_",
        r"(?:glsa|glc|dckr_[po]at|sbp|sb_secret|lin_api|figd|ntn|sntry[su]|rubygems"
        r"|pscale_(?:tkn|pw|oauth)|CCIPAT|nfp|do[opr]_v1|phx)_[A-Za-z0-9_\-=+/]{16,}"
        r"|(?:pul|PMAK|NRAK|HRKU)-[A-Za-z0-9_\-]{16,}|AKCp[A-Za-z0-9]{40,}",
    ),
    SecretKind(
        "password-hash",
        ("$apr1$", "$2a$", "$2b$", "$2y$", "$5$", "$6$", "$y$", "$argon2"),
        re.compile(r"\$(?:apr1|2[aby]|5|6|y|argon2(?:id?|d))\$[^\s:\"'<>]{12,}"),
    ),
    SecretKind(
        "url-password",
        ("://",),
        re.compile(
            r"(?i)(?<![a-z0-9])[a-z][a-z0-9+.\-]{1,30}://"
            r"(?P<secret>[^\s/?#@:\"'<>`\\]{0,200}:(?!\d{1,5}[/?#])[^\s\"'<>`\\/]{1,4000})@"
            r"(?=[^\s@/:]|\[)"
        ),
    ),
    SecretKind(
        "url-password",
        ("://",),
        re.compile(
            r"(?i)(?<![a-z0-9])[a-z][a-z0-9+.\-]{1,30}://"
            r"(?P<secret>[^\s/?#@:\"'<>`\\]{0,200}:(?!\d{1,5}[/?#])[^\s@\"'<>`\\]{1,4000})@"
        ),
    ),
    SecretKind(
        "url-token",
        ("://",),
        re.compile(
            r"(?i)(?<![a-z0-9])[a-z][a-z0-9+.\-]{1,30}://"
            r"(?P<secret>(?=[^\s/@]{0,200}\d)[^\s/?#@:\"'<>`\\]{16,200}):?@"
        ),
    ),
    SecretKind(
        "authorization",
        ("authorization",),
        re.compile(
            r"(?i)authorization\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?"
            r"(?:bearer|basic|token|apikey|digest|negotiate|key|aws4-hmac-sha256)\s+"
            r"(?P<secret>(?![$<{%\[(*])[^\s\"'\\,;]{6,}(?:,\s*(?:credential|signedheaders|signature)=[^\s\"'\\,]+)*)"
        ),
    ),
    SecretKind(
        "authorization",
        ("authorization",),
        re.compile(
            r"(?i)authorization\\?[\"']?\s{0,4}[:=]\s{0,4}\\?[\"']?"
            rf"(?P<secret>(?![$<{{%\[(*]){_WITH_DIGIT}[^\s\"'\\,;]{{6,}})"
        ),
    ),
    SecretKind(
        "bearer-token",
        ("bearer",),
        re.compile(rf"(?i)\bbearer\s{{1,4}}(?P<secret>{_WITH_DIGIT}[A-Za-z0-9._~+/=\-]{{8,}})"),
    ),
    SecretKind(
        "basic-login",
        ("basic ",),
        re.compile(r"(?i)\bbasic\s{1,4}(?P<secret>[A-Za-z0-9+/]{6,}={0,2})"),
        _is_basic_login,
    ),
    SecretKind(
        "cookie",
        ("cookie",),
        re.compile(
            r"(?i)\b(?:set-)?cookie\\?[\"']?\s{0,4}:\s{0,4}\\?[\"']?"
            r"(?P<secret>[\w.%~\-]+=[^\s;\"'\\]+(?:;[ \t]*[\w.%~\-]+=[^\s;\"'\\]+)*)"
        ),
    ),
    SecretKind(
        "login",
        ("curl", "wget", "http", "xh "),
        re.compile(
            r"\b(?:curl|wget|https?|xh)\b[^\n]{0,400}?\s(?:-u|--user|--proxy-user|-a|--auth)[ =]{0,2}"
            r"[\"']?(?P<secret>[^\s:\"'/]+:(?![$<{%])[^\s\"']+)"
        ),
    ),
    SecretKind(
        "login",
        ("sshpass", "mysql", "mariadb", "redis-cli"),
        re.compile(
            r"\b(?:sshpass\s+-p|(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n]{0,200}?\s-p"
            r"|redis-cli\b[^\n]{0,200}?\s-a\s)\s{0,2}[\"']?(?P<secret>(?![$<{%\-])[^\s\"']{3,})"
        ),
    ),
    SecretKind(
        "login", ("password",), re.compile(r"(?i)\blogin\s+\S+\s+password\s+(?P<secret>\S+)")
    ),
    SecretKind(
        "login",
        ("requirepass", "masterauth"),
        re.compile(r"\b(?:requirepass|masterauth)[ \t]+(?P<secret>(?![$<{%])\S{3,})"),
    ),
    SecretKind(
        "url-parameter",
        ("?", "&"),
        re.compile(
            r"(?i)[?&](?:access_token|refresh_token|id_token|auth_token|token|api_?key|key|sig|signature"
            r"|client_secret|secret|password|auth|x-amz-(?:signature|security-token|credential))="
            r"(?P<secret>(?=[^\s&#\"'<>]{0,200}\d)[^\s&#\"'<>]{8,})"
        ),
    ),
)
