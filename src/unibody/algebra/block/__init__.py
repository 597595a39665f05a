"""Matrices of small blocks: 6×6 ones in registers (`sym6`, `sym6_triples`, `full6`), sparse ones of 12×12 (`cholesky`, and `reduced_pcg`
where joints connect bodies; `direct` factors them and chooses between factors and iterations), and LU factors of sparse ones
of any sizes (`lu`)."""
