"""How memory answers the events of the bus, by subject."""
