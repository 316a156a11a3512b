"""Entry of a DataLoader worker process: ``python -m nbtorch.utils.data._worker_main``.

The user's main module is never imported here: what the worker needs is sent to it by value.
"""

from nbtorch.utils.data._worker import main

if __name__ == "__main__":
    main()
