"""Front matter that a person wrote in braces, `{title: x, tags: [a, b]}`: edited in place, the rest as it is."""

from __future__ import annotations

from collections.abc import Mapping

import yaml

from openclaw_memory.markdown import yaml_fields


def set_flow_fields(content: str, changes: Mapping[str, object]) -> str | None:
    """Set fields of a mapping in braces.

    Where a key is there twice, the last is changed: it is the one that YAML reads.

    Parameters: `content`, the lines between the two `---`, which YAML accepts; `changes`, by key.

    Returns the lines with the fields set; None when they are no mapping in braces.

    Raises: `UnwritableValueError`.
    """
    root = yaml_fields.compose(content)
    if not isinstance(root, yaml.MappingNode) or not root.flow_style:
        return None
    present = {key.value: (key, value) for key, value in root.value if isinstance(key, yaml.ScalarNode)}
    edits: list[tuple[int, int, str]] = []
    added = []
    for name, change in changes.items():
        written = yaml_fields.write_flow(name, change)
        if name in present:
            key, value = present[name]
            begin, end = value.start_mark.index, value.end_mark.index
            bare = begin == end
            colon = ":" if bare and ":" not in content[key.end_mark.index : begin] else ""
            edits.append((begin, end, f"{colon} {written}" if bare else written))
        else:
            added.append(f"{name}: {written}")
    if added:
        # Behind the last value, so that a comment or a comma after it stays where it is.
        at = max((value.end_mark.index for _, value in root.value), default=root.start_mark.index + 1)
        # Put in first, so that it comes after a value that was empty and stands at the same place.
        edits.insert(0, (at, at, (", " if root.value else "") + ", ".join(added)))
    for begin, end, text in sorted(edits, key=lambda edit: edit[:2], reverse=True):
        content = content[:begin] + text + content[end:]
    return content
