"""The functions of ``np.linalg`` and of ``scipy.linalg``, one file per topic."""
