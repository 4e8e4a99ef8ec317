"""Vectors by text: kept in one SQLite file, searched by their signs in memory. Imports numpy, so import it lazily."""
