"""The 1,797 real handwritten digits of the UCI optical-recognition test set; licence note in digits.LICENSE.txt."""
from pathlib import Path

from ... import ops
from ...core.generator import Generator
from ...utils.data import Dataset
from ..io import read_bundled

FILE = Path(__file__).with_name("digits.npz")
SHA256 = "b2dab7b501728c22e9119ad76740b2e17c77a231e42d1e592380d90886f1a05e"


class Digits(Dataset):
    """8×8 grey images of handwritten digits: (image, label), image float32 [1, 8, 8] in 0..1, label an int.

    train: the stratified four fifths (True), the other fifth (False), or everything (None). seed: which fifth.
    transform, target_transform: applied to each image and label. file: another copy of the data.
    Raises FileNotFoundError or RuntimeError when the data file is missing or damaged.
    Source: E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository, 1998,
    https://doi.org/10.24432/C50P49
    """

    classes = tuple(str(d) for d in range(10))

    def __init__(self, train=True, seed=0, transform=None, target_transform=None, file=FILE):
        data = read_bundled(file, SHA256)
        images, labels = data["images"].float().unsqueeze(1) / 16, data["labels"].long()
        if train is not None:
            chosen = stratified(labels, 5, seed)
            keep = ~chosen if train else chosen
            images, labels = images[keep], labels[keep]
        self.images, self.labels = images, labels
        self.transform, self.target_transform = transform, target_transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image, label = self.images[index], int(self.labels[index])
        if self.transform is not None:
            image = self.transform(image)
        if self.target_transform is not None:
            label = self.target_transform(label)
        return image, label

    def __repr__(self):
        return f"Dataset Digits\n    Number of datapoints: {len(self)}"


def stratified(labels, parts, seed):
    """A bool mask that is True on a random 1/parts of the examples of every class."""
    generator = Generator()
    generator.manual_seed(seed)
    chosen = ops.zeros(len(labels), dtype=labels.dtype).bool()
    for label in ops.unique(labels).tolist():
        where = (labels == label).nonzero().flatten()
        order = ops.randperm(len(where), generator=generator)
        chosen[where[order[:len(where) // parts]]] = True
    return chosen
