"""Versions of the documents in git: commits by themselves, and what a file was (seed 003 section 26.6.1, seed 004 5.2).

By the program `git`: what a person can look at with it is what is here, and no library of it comes along.
"""
