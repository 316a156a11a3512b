"""The small heart: dtypes, storages, tensors, the op record, the one door, the tape and its engine. See README.md."""
