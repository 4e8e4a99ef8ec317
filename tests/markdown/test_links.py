"""Links are followed within the workspace, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_memory.markdown.links import links_of, reach, target_of


def test_an_index() -> None:
    """Seed 003 section 26.4.2: each entry names a file beside it."""
    body = (
        '# Memory Index\n\n- [who](people/user.md) — short answers\n- [plans](./plans.md#may "t")\n'
        "- [again](plans.md)\n- [ref][r]\n- `[code](no.md)`\n```\n[fence](no.md)\n```\n\n[r]: <my notes.md>\n"
    )
    assert links_of("MEMORY.md", body) == ("people/user.md", "plans.md", "my notes.md")
    assert links_of("memory/MEMORY.md", "[a](b.md)") == ("memory/b.md",)


@pytest.mark.parametrize(
    "href",
    [
        "https://x.org/a.md",
        "//x.org/a.md",
        "/etc/a.md",
        "../a.md",
        "a/../../b.md",
        "a/../b.md",
        "%2e%2e/a.md",
        "..%2Fa.md",
        "C:/a.md",
        "C%3A/a.md",
        "file:///a.md",
        "javascript:a.md",
        "..\\a.md",
        "%5C%5Chost%5Ca.md",
        ".git/a.md",
        "a/.state/b.md",
        "a.txt",
        "a",
        "",
        "#top",
        "a%00.md",
        "a%0A.md",
        "%ff.md",
        "a.md/",
        "mailto:a.md",
        " /a.md",
        "a/ b.md",
        "~/../a.md",
    ],
)
def test_what_leads_elsewhere_is_not_followed(href: str) -> None:
    """Up, out, absolute, hidden, another program's, or no Markdown."""
    if href == "a.md/":
        assert target_of("MEMORY.md", href) == "a.md"
    else:
        assert target_of("MEMORY.md", href) is None


@given(st.text(max_size=40), st.sampled_from(["MEMORY.md", "memory/MEMORY.md"]))
def test_a_target_lies_below_the_folder_of_the_index(href: str, path: str) -> None:
    """Whatever is written there."""
    target = target_of(path, href + ".md")
    if target is not None:
        folder = path.rpartition("/")[0]
        assert target.startswith(f"{folder}/" if folder else "")
        assert not target.startswith("/")
        assert not {"..", ".", ""} & set(target.split("/"))
        assert "\\" not in target
        assert "\0" not in target


def test_links_are_followed_nearest_first_and_circles_end() -> None:
    bodies = {
        "MEMORY.md": "[a](a.md) [b](b.md) [self](MEMORY.md)",
        "a.md": "[b](b.md) [c](c.md) [home](MEMORY.md)",
        "b.md": "[a](a.md)",
        "c.md": "[d](d.md)",
    }
    found = reach("MEMORY.md", bodies, depth=2)
    assert found.files == ("a.md", "b.md", "c.md")
    assert found.missing == ()
    assert reach("MEMORY.md", bodies, depth=3).missing == ("d.md",)
    assert reach("MEMORY.md", bodies, depth=1).files == ("a.md", "b.md")
    assert reach("MEMORY.md", bodies, depth=9, most=2).files == ("a.md", "b.md")
    assert reach("MEMORY.md", {"MEMORY.md": bodies["MEMORY.md"]}).missing == ("a.md", "b.md")
    assert reach("MEMORY.md", {**bodies, "d.md": ""}, depth=9).missing == ()


@given(st.text(max_size=100))
def test_any_body_is_read(body: str) -> None:
    links_of("MEMORY.md", body + "](x)")
