"""torch.backends.cudnn: accepted and remembered; cuDNN is not used by nbtorch."""
enabled = True
benchmark = False
deterministic = False
allow_tf32 = True


def is_available():
    """False: CuPy has no cuDNN."""
    return False


def version():
    """None: there is no cuDNN."""
    return None
