"""HTML from text that nobody vouches for."""

from hypothesis import given
from hypothesis import strategies as st

from lossyfl.report.markup import Markup, join, tag


@given(text=st.text())
def test_text_and_attributes_cannot_make_elements(text: str) -> None:
    html = tag("p", text, title=text).html
    assert html.count("<") == html.count(">") == 2
    assert html.count('"') == 2


def test_markup_is_taken_as_it_is_and_only_once() -> None:
    inner = tag("b", "a & b")
    assert tag("p", inner, "<i>").html == "<p><b>a &amp; b</b>&lt;i&gt;</p>"
    assert join([inner, "<"], between=" ") == Markup("<b>a &amp; b</b> &lt;")


def test_attributes_that_are_not_given_are_left_out() -> None:
    html = tag("td", class_="x", aria_label="L", colspan=None).html
    assert html == '<td class="x" aria-label="L"></td>'
