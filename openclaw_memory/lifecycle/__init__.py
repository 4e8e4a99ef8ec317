"""What memory does by itself as days pass: jobs that a heartbeat runs when they are due."""
