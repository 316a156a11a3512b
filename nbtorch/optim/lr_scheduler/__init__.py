"""Learning-rate schedulers. https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"""
from .base import EPOCH_DEPRECATION_WARNING, LRScheduler, _LRScheduler
from .combined import ChainedScheduler, ReduceLROnPlateau, SequentialLR
from .cyclic import CyclicLR, OneCycleLR
from .steps import (ConstantLR, CosineAnnealingLR, CosineAnnealingWarmRestarts, ExponentialLR, LambdaLR, LinearLR,
                    MultiplicativeLR, MultiStepLR, PolynomialLR, StepLR)

__all__ = ["LambdaLR", "MultiplicativeLR", "StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR",
           "SequentialLR", "CosineAnnealingLR", "ChainedScheduler", "ReduceLROnPlateau", "CyclicLR",
           "CosineAnnealingWarmRestarts", "OneCycleLR", "PolynomialLR", "LRScheduler"]
