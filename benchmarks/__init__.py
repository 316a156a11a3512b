"""Speed and memory against real torch: see README.md here."""
