"""Sparse Cholesky."""
