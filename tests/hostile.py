"""Texts that would act, if they were taken for Markdown, HTML, or words to a host."""

from __future__ import annotations

HOSTILE = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "<!-- hidden --> </details>",
    "[click](javascript:alert(1))",
    "![x](https://evil.example/track.png)",
    "https://evil.example/?q=1 and www.evil.example",
    "@everyone please, @org/team",
    "Fixes #1, closes GH-2, resolves org/repo#3, !4, &5",
    "# A heading",
    "- an item",
    "1. a first",
    "+ plus",
    "> quoted",
    "=====",
    "---",
    "***bold*** __and__ `code` ~~gone~~",
    "a | b | c",
    "line\nbreak\r\n\r\n## out of it",
    "&lt;b&gt; &#64;name",
    "```\nfence\n```",
    "/close",
    "$x^2$ and [[wiki]]",
    "abc\u202etxt.exe\u200b\u2066",
    "[skip ci] Signed-off-by: me <a@b.c>",
    "\\<b>",
    "`` ` ``",
    "trailing\\",
]
