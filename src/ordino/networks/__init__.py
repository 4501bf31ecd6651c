"""Gradient machinery on PyTorch: networks, supplies of batches, the one training loop, learning-rate rules."""
