"""Networks that learn by gradient, in numpy and compiled code, and the ranker that trains a module of PyTorch."""
