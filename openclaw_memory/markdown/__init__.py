"""The file formats: text in, values and text out.

Everything here is pure: no disk, no clock, no configuration, and nothing of the other rooms. Whatever edits a text
leaves every byte alone that it was not asked to change.
"""
