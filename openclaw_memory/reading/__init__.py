"""What an event asks: search, history, what the layers say, put together."""
