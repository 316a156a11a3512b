"""What happened, told once: the bus, its records, and the messages that reach the front end."""
