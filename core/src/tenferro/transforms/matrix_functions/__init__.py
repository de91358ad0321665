"""Functions of matrices that are right at equal eigenvalues and singular values."""
