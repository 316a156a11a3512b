"""torch.backends.mkldnn: the oneDNN provider."""
from ..backend import registry


def is_available():
    """Whether the oneDNN provider was found and is in use."""
    package, _ = registry.provider_state()["onednn"]
    return package is not None
