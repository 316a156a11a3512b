"""Utilities."""

