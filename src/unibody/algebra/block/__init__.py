"""Matrices of small blocks: 6×6 ones in registers (`sym6`, `sym6_triples`, `full6`), sparse ones of 12×12 (`cholesky`, and `reduced_pcg`
where joints connect bodies; `direct` factors them and chooses between factors and iterations), sparse ones of bodies and
points, 12 and 3 wide (`mixed`, from lists of `node_blocks`), and LU factors of sparse ones of any sizes (`lu`)."""
