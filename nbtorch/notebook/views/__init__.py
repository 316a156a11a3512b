"""Pure functions from what observers gathered to messages, text and SVG. No Jupyter here."""
