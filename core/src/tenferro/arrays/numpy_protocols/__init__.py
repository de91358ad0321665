"""NumPy's protocols: functions and ufuncs of NumPy that are called on an Array."""
