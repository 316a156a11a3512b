"""torch.backends.mps: there is no Metal device here."""


def is_available():
    """False."""
    return False


def is_built():
    """False."""
    return False
