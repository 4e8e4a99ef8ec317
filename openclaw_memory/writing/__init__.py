"""What an event changes: the documents that it rests on, and the plan of each kind of item."""
