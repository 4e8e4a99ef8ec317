"""What two lives must have in common in the end: every file, but for what tells of the disk and of chance."""
