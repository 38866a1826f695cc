from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skillgit.editing.document import Document, region_text
from skillgit.editing.layout import Region
from skillgit.editing.rewrite import rewrite_document
from skillgit.errors import DocumentError

HEAD = "---\nname: a\ndescription: x\n---\n"
GUIDANCE = "<!-- SLOW_UPDATE_START -->\n- Hold on to this.\n<!-- SLOW_UPDATE_END -->"
NOTES = "<!-- APPENDIX_START -->\n- Remember that.\n<!-- APPENDIX_END -->"
WHOLE = f"{HEAD}# A\n\n- old rule\n\n{NOTES}\n\n{GUIDANCE}\n"


def rewritten(document: str, text: str) -> str:
    return rewrite_document(document.encode(), text).decode()


def test_the_prose_is_new_and_the_rest_is_as_it_was() -> None:
    assert rewritten(WHOLE, "# B\n\n- new rule\n") == WHOLE.replace(
        "# A\n\n- old rule", "# B\n\n- new rule"
    )


def test_frontmatter_in_the_answer_is_ignored() -> None:
    text = "---\nname: stolen\n---\n# B\n"
    assert rewritten(WHOLE, text).startswith(HEAD + "# B\n")
    assert rewritten("# A\n", text) == "# B\n"


def test_what_the_answer_puts_between_the_markers_is_ignored() -> None:
    text = "# B\n\n<!-- SLOW_UPDATE_START -->\n- Nonsense.\n<!-- SLOW_UPDATE_END -->\n"
    out = rewritten(WHOLE, text)
    assert GUIDANCE in out
    assert NOTES in out
    assert "Nonsense" not in out


def test_a_region_goes_where_the_answer_puts_its_markers() -> None:
    out = rewritten(WHOLE, f"# B\n\n{GUIDANCE}\n\n- after it\n")
    assert out == f"{HEAD}# B\n\n{GUIDANCE}\n\n- after it\n\n{NOTES}\n"


def test_a_region_that_the_document_does_not_have_is_not_made() -> None:
    assert rewritten("# A\n", f"# B\n\n{GUIDANCE}\n\nend") == "# B\n\nend\n"


def test_the_same_prose_is_the_same_bytes_however_the_blanks_stand() -> None:
    document = "\ufeff" + WHOLE.replace("\n\n<!-- A", "\n\n\n\n<!-- A").replace("\n", "\r\n")
    assert rewritten(document, "# A\n\n- old rule") == document


def test_line_ends_mark_and_final_newline_are_the_documents() -> None:
    document = ("\ufeff" + WHOLE.removesuffix("\n")).replace("\n", "\r\n")
    out = rewritten(document, "# B\n- x\n")
    assert out.startswith("\ufeff---\r\n")
    assert "# B\r\n- x\r\n\r\n<!--" in out
    assert out.endswith("END -->")
    assert "\n" not in out.replace("\r\n", "")


def test_mixed_line_ends_inside_a_region_stay() -> None:
    document = WHOLE.replace("- Hold on to this.\n", "- Hold on\r\n- to this.\n")
    assert "- Hold on\r\n- to this.\n<!-- SLOW" in rewritten(document, "# B\n")


@pytest.mark.parametrize("fence", ["```markdown\n{}\n```", "```\n{}\n```\n", "~~~md\n{}\n~~~"])
def test_an_answer_in_one_fence_is_taken_out_of_it(fence: str) -> None:
    assert rewritten("# A\n", fence.format("# B\n\n- x")) == "# B\n\n- x\n"


@pytest.mark.parametrize(
    "text",
    ["\n\ufeff# B", "\ufeff\n\ufeff# B", "---\nname: b\n---\n\ufeff# B", f"{GUIDANCE}\n\ufeff# B"],
)
def test_a_byte_order_mark_never_comes_with_an_answer(text: str) -> None:
    assert rewrite_document(b"# A\n", text) == b"# B\n"


def test_an_answer_of_two_fences_is_left_as_it_is() -> None:
    text = "```\na\n```\n\n```\nb\n```"
    assert rewritten("# A\n", text) == text + "\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n\n",
        HEAD,
        GUIDANCE,
        "# B\n<!-- SLOW_UPDATE_START -->\n",
        "# B\n<!-- APPENDIX_END -->\n",
        f"{GUIDANCE}\n\n{GUIDANCE}\n# B",
        "# B\n\n```\nnever closed",
        "# B\x00",
        "# B \ud800",
        "x" * 60_001,
    ],
)
def test_what_cannot_be_the_prose_is_refused(text: str) -> None:
    with pytest.raises(DocumentError):
        rewrite_document(WHOLE.encode(), text)


PIECES = st.sampled_from(
    ["# B", "- x", "```", "~~~", "---", "name: b", "", " ", "<!-- SLOW_UPDATE_START -->",
     "<!-- SLOW_UPDATE_END -->", "<!-- APPENDIX_START -->", "<!-- APPENDIX_END -->", "<!--", "-->",
     "\t- y", "\r", "...", "\ufeff", "    code", "<div>", "> ```", "1. ```"]
)  # fmt: skip
DOCUMENTS = st.sampled_from(
    [WHOLE, "# A\n", HEAD + "# A", WHOLE.replace("\n", "\r\n"), f"{GUIDANCE}\n\n# A\n", "",
     HEAD, HEAD.removesuffix("\n"), f"# A\n{NOTES}", "\ufeff" + WHOLE]
)  # fmt: skip


@example("# A\n", "\n\ufeff")
@given(DOCUMENTS, st.lists(PIECES, max_size=14).map("\n".join) | st.text(max_size=60))
def test_whatever_comes_the_protected_parts_are_the_same_bytes(document: str, text: str) -> None:
    before = Document.parse(document.encode())
    try:
        after = Document.parse(rewrite_document(document.encode(), text))
    except DocumentError:
        return
    assert after.frontmatter == before.frontmatter
    assert (
        after.text[: after.layout.frontmatter_end] == before.text[: before.layout.frontmatter_end]
    )
    assert after.bom == before.bom
    for region in Region:
        assert region_text(after, region) == region_text(before, region)
