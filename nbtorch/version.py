"""torch.version. The number itself stands in extension/package.json; a test compares."""
__version__ = "0.1.0"
cuda = hip = git_version = None
debug = False
