"""How much of what a question rests on is found: three public datasets, each step switched off in turn, and peers."""
