"""Plugins: found, loaded, kept with their states, and handed out as backends and primitives.

Nothing here loads before the first call of ``tenferro.host()``. Read in this order: ``scan`` (which
plugins are installed; with ``installed`` and ``versions``), ``loading`` (one plugin), ``listed``
(plugins that no entry point names), ``store`` (all of them), ``host`` (what they are used for),
``refusals`` and ``hints`` (what to tell the user).
"""
