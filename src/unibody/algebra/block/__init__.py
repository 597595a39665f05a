"""Matrices of small blocks: symmetric 6×6 ones in registers (`sym6`, `sym6_triples`), sparse ones of 12×12 (`cholesky`, `joined`)."""
