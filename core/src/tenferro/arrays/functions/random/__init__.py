"""Random numbers from keys. Read ``keys.py`` first; users see ``tenferro.random``."""
