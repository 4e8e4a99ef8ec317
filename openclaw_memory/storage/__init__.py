"""How bytes reach the disk: file operations, journal, buffer, locks, the store of documents."""
