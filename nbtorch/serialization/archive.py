"""The zip file around a checkpoint: records stored uncompressed, each starting at a multiple of 64 bytes."""
import os
import struct
import zipfile
import zlib

import numpy as np

ALIGNMENT = 64
MAX_PICKLE = 1 << 31                              # bytes of data.pkl
_LOCAL = struct.Struct("<4s5H3I2H")               # local file header of a zip entry
CORRUPT = ("PytorchStreamReader failed reading zip archive: {}. This is an internal miniz error. If you are "
           "seeing this error, there is a high likelihood that your checkpoint file is corrupted. This can "
           "happen if the checkpoint was not saved properly, was transferred incorrectly, or the file was modified after saving.")


class Writer:
    """Writes records into a zip archive on a binary file, which need not be seekable."""

    def __init__(self, file, name):
        self.zip, self.name, self.order = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED), name, 0

    def record(self, name, data):
        """One record: bytes or a flat uint8 array."""
        view = memoryview(data)
        info = zipfile.ZipInfo(f"{self.name}/{name}")
        info.create_system, info.external_attr = 0, 0
        head = _LOCAL.size + len(info.filename.encode()) + (20 if view.nbytes * 1.05 > zipfile.ZIP64_LIMIT else 0)
        gap = -(self.zip.fp.tell() + head + 4) % ALIGNMENT
        info.extra = b"FB" + struct.pack("<H", gap) + b"Z" * gap
        self.order = zlib.crc32(view, zlib.crc32(name.encode(), self.order))
        info.file_size = view.nbytes
        with self.zip.open(info, "w", force_zip64=view.nbytes * 1.05 > zipfile.ZIP64_LIMIT) as out:
            for start in range(0, view.nbytes, 1 << 24):
                out.write(view[start:start + (1 << 24)])

    def close(self, count):
        """Finish with the identity PyTorch's tools compare: a digest of the records."""
        self.record(".data/serialization_id", f"{count:020d}{self.order:020d}".encode())
        self.zip.close()


class Reader:
    """Reads records of a checkpoint. Raises RuntimeError, saying what is wrong, for files that are no sound archive."""

    def __init__(self, file, path=None):
        self.file, self.path = file, path
        try:
            self.zip = zipfile.ZipFile(file)
            self.entries = {i.filename: i for i in self.zip.infolist()}
        except (zipfile.BadZipFile, NotImplementedError, struct.error, ValueError, OSError, UnicodeDecodeError) as e:
            raise RuntimeError(CORRUPT.format("failed finding central directory")) from e
        self.size = file.seek(0, os.SEEK_END)
        root = next((n[:-len("data.pkl")] for n in self.entries if n.endswith("/data.pkl") and n.count("/") == 1), None)
        if root is None:
            raise RuntimeError("PytorchStreamReader failed locating file data.pkl: file not found")
        self.root = root
        self._check_sizes()

    def _check_sizes(self):
        """No entry may promise more than the file holds (stored) or than deflate of honest data gives (compressed)."""
        stored = sum(i.file_size for i in self.entries.values() if i.compress_type == zipfile.ZIP_STORED)
        packed = sum(i.file_size for i in self.entries.values() if i.compress_type != zipfile.ZIP_STORED)
        if stored > self.size or packed > 20 * self.size + (1 << 24):
            raise RuntimeError(CORRUPT.format(f"its records claim {stored + packed} bytes in a file of {self.size}"))
        if any(i.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or i.flag_bits & 1
               for i in self.entries.values()):
            raise RuntimeError(CORRUPT.format("unsupported compression or encryption"))

    def has(self, name):
        """Whether there is a record of this name."""
        return self.root + name in self.entries

    def _entry(self, name):
        entry = self.entries.get(self.root + name)
        if entry is None:
            raise RuntimeError(f"PytorchStreamReader failed locating file {name}: file not found")
        return entry

    def bytes(self, name, limit=MAX_PICKLE):
        """A small record as bytes."""
        entry = self._entry(name)
        if entry.file_size > limit:
            raise RuntimeError(CORRUPT.format(f"record {name} has {entry.file_size} bytes"))
        try:
            return self.zip.read(entry)
        except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, NotImplementedError, struct.error) as e:
            raise RuntimeError(CORRUPT.format(f"record {name}: {e}")) from e

    def _start(self, entry):
        """Where a stored entry's bytes begin."""
        self.file.seek(entry.header_offset)
        head = self.file.read(_LOCAL.size)
        if len(head) != _LOCAL.size or head[:4] != b"PK\x03\x04":
            raise RuntimeError(CORRUPT.format("bad local header"))
        fields = _LOCAL.unpack(head)
        start = entry.header_offset + _LOCAL.size + fields[-2] + fields[-1]
        if start + entry.file_size > self.size:
            raise RuntimeError(CORRUPT.format("a record reaches beyond the end of the file"))
        return start

    def into(self, name, out):
        """Fill a flat uint8 array from the start of a record, checking the checksum when it is the whole of it."""
        entry = self._entry(name)
        if entry.file_size < out.nbytes:
            raise RuntimeError(f"record {name} holds {entry.file_size} bytes where the checkpoint speaks of {out.nbytes}")
        if entry.compress_type != zipfile.ZIP_STORED:
            out[...] = np.frombuffer(self.bytes(name, self.size * 20 + (1 << 24)), np.uint8)[:out.nbytes]
            return
        self.file.seek(self._start(entry))
        view, done = memoryview(out), 0
        while done < out.nbytes:
            part = self.file.read(min(out.nbytes - done, 1 << 24))
            if not part:
                raise RuntimeError(CORRUPT.format(f"record {name} is cut off"))
            view[done:done + len(part)] = part
            done += len(part)
        if entry.file_size == out.nbytes and zlib.crc32(out) != entry.CRC:
            raise RuntimeError(CORRUPT.format(f"record {name}: bad CRC-32"))

    def record_size(self, name):
        """Bytes of a record."""
        return self._entry(name).file_size

    def mapped(self, name, nbytes):
        """A record's bytes mapped from the file, copied only where written to."""
        entry = self._entry(name)
        if entry.compress_type != zipfile.ZIP_STORED:
            raise RuntimeError("mmap can only be used with files saved with uncompressed records")
        if entry.file_size < nbytes:
            raise RuntimeError(f"record {name} holds {entry.file_size} bytes where the checkpoint speaks of {nbytes}")
        return np.memmap(self.path, np.uint8, "c", self._start(entry), (nbytes,))
