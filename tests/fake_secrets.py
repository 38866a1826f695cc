"""Texts that look like secrets and are none.

They are put together here, so that no line of these files is itself taken for a secret by a
scanner.
"""

from __future__ import annotations

BODY = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
HEX = "0123456789abcdef" * 3
SECRET = "hunter2horse"

TOKENS = [
    *(f"{prefix}_{BODY}" for prefix in ("ghp", "gho", "ghu", "ghs", "ghr", "github_pat")),
    *(f"{prefix}-{BODY}" for prefix in ("glpat", "gldt", "glrt", "glptt")),
    "npm" + "_" + BODY,
    "hf" + "_" + BODY,
    "pypi-AgE" + "IcHlwaS5vcmc" + BODY,
    *("sk-" + kind + BODY for kind in ("", "ant-api03-", "proj-", "svcacct-", "or-v1-")),
    *(f"{kind}_{mode}_{BODY[:24]}" for kind in ("sk", "rk") for mode in ("live", "test")),
    "whsec_" + BODY,
    *(f"xox{kind}-123456789012-{BODY[:24]}" for kind in "abpors"),
    "xapp-1-" + BODY,
    "AIza" + BODY,
    "ya29." + BODY,
    "GOCSPX-" + BODY[:28],
    "AKIA" + "IOSFODNN7EXAMPLE",
    "ASIA" + "IOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + BODY,
    "SG." + BODY[:22] + "." + BODY,
    "SK" + HEX[:32],
    "key-" + HEX[:32],
    HEX[:32] + "-us12",
    "123456789:AA" + BODY[:33],
    "shpat_" + HEX[:32],
    "dapi" + HEX[:32],
    "hvs." + BODY,
    "dp.pt." + BODY,
    "gsk_" + BODY,
    "xai-" + BODY,
    "nvapi-" + BODY,
    "r8_" + BODY,
    "pplx-" + BODY,
    "dop_v1_" + HEX,
    "dckr_pat_" + BODY[:27],
    "glsa_" + BODY,
    "lin_api_" + BODY,
    "figd_" + BODY,
    "sbp_" + HEX[:40],
    "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "tskey-auth-" + BODY,
]
