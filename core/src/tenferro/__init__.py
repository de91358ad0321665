"""tenferro: write NumPy, differentiate it to any order, run it on the backend you installed."""
