"""The bundled digits: what they are, how they are split, and what is said when the file is not right."""
import hashlib
from pathlib import Path

import pytest

import nbtorch as torch
from nbtorch.vision.datasets import Digits, digits


def test_the_file_is_the_one_that_is_promised():
    assert hashlib.sha256(digits.FILE.read_bytes()).hexdigest() == digits.SHA256
    assert "UCI" in Path(digits.FILE.with_name("digits.LICENSE.txt")).read_text(encoding="utf-8")


def test_1797_images_of_ten_classes():
    every = Digits(train=None)
    assert len(every) == 1797 and every.images.shape == (1797, 1, 8, 8) and every.images.dtype == torch.float32
    assert every.images.min() == 0 and every.images.max() == 1
    # counts per class as the UCI page of the test set tells them
    assert torch.bincount(every.labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    image, label = every[0]
    assert image.shape == (1, 8, 8) and type(label) is int and label == 0


def test_a_fifth_of_every_class_is_held_out():
    train, test, every = Digits(train=True, seed=3), Digits(train=False, seed=3), Digits(train=None)
    whole = torch.bincount(every.labels)
    assert torch.equal(torch.bincount(test.labels), whole // 5)
    assert torch.equal(torch.bincount(test.labels) + torch.bincount(train.labels), whole)


def test_the_seed_chooses_the_fifth_and_nothing_else():
    a, b, again = Digits(train=False, seed=0), Digits(train=False, seed=1), Digits(train=False, seed=0)
    assert torch.equal(a.images, again.images) and not torch.equal(a.images, b.images)
    torch.manual_seed(5)
    before = torch.get_rng_state()
    Digits(train=True, seed=0)
    assert torch.equal(before, torch.get_rng_state())


def test_transforms():
    data = Digits(train=False, transform=lambda image: image * 2, target_transform=str)
    image, label = data[7]
    assert torch.equal(image, data.images[7] * 2) and label == str(int(data.labels[7]))


def test_a_missing_file_says_what_to_do(tmp_path):
    with pytest.raises(FileNotFoundError, match="is missing.*pip install --force-reinstall"):
        Digits(file=tmp_path / "digits.npz")


def test_a_damaged_file_says_what_to_do(tmp_path):
    damaged = tmp_path / "digits.npz"
    damaged.write_bytes(digits.FILE.read_bytes()[:-100])
    with pytest.raises(RuntimeError, match="is damaged.*pip install --force-reinstall"):
        Digits(file=damaged)
