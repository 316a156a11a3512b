"""How bytes travel between ranks. Arrays enter and leave here; nothing is computed but the reduction itself."""
