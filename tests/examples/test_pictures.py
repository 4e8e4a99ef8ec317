"""Pictures show wide characters as wide as a terminal does."""

import re
from xml.etree import ElementTree

from rich.text import Text

from examples.pictures import save_picture, with_wide_characters


def lengths(svg):
    """Give the length of each text by its first character."""
    return {match[2][0]: float(match[1]) for match in re.finditer(r'textLength="([\d.]+)"[^>]*>([^<]+)<', svg)}


def test_wide_characters_get_two_columns(tmp_path):
    """Four Chinese characters are as long as eight Latin ones; an escaped character is one."""
    path = tmp_path / "picture.svg"
    save_picture(path, "title", Text("中文中文"), Text("abcdefgh"), Text("<bcdefgh"))
    found = lengths(path.read_text())
    assert found["中"] == found["a"] == found["&"]
    assert ElementTree.fromstring(path.read_text()).tag.endswith("svg")


def test_other_text_is_left_alone():
    """What has no length is not touched."""
    svg = '<svg><text x="0">中文</text><title>中</title></svg>'
    assert with_wide_characters(svg) == svg
