"""The default host, made when it is first asked for; ``import tenferro`` loads no more than this.

``discovery/host.py`` and all it needs (pluggy, the metadata of distributions) loads with the first
call.
"""

from __future__ import annotations

from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING

from tenferro._runtime import CollectorPaused, after_fork_in_child

if TYPE_CHECKING:
    from tenferro.backend.discovery.host import PluginHost
    from tenferro.tidu import Primitive

_lock = RLock()
_host: PluginHost | None = None


def _renew_lock() -> None:
    global _lock
    _lock = RLock()


after_fork_in_child(_renew_lock)


def host() -> PluginHost:
    """Return the plugin host of this process.

    The first call makes it and scans the installed plugins.

    >>> import tenferro as tn
    >>> [record.name for record in tn.host().records() if record.name == "std"]
    ['std']
    """
    return _make() if _host is None else _host


def _make() -> PluginHost:
    global _host
    with _lock:
        if _host is None:
            with CollectorPaused():
                made: PluginHost = import_module("tenferro.backend.discovery.host").PluginHost()
            _host = made
        return _host


def set_host(new: PluginHost | None) -> PluginHost | None:
    """Replace the default host, for tests; gives the one before. ``None``: made anew when asked."""
    global _host
    with _lock:
        before, _host = _host, new
        if before is not None:
            before.chosen = {}  # programs that were bound to it ask again
        return before


def prefer(primitive: str | type[Primitive], backend: str, dist: str) -> None:
    """Choose the distribution whose lowering of a primitive runs on a backend.

    By default, the lowering by the owner of the primitive runs, else that of the backend. A
    lowering by any other distribution runs only after this call. ``tenferro plugins`` lists all
    of them.

    Parameters
    ----------
    primitive : str or type
        A primitive's key, such as ``"std::tan"``, or its class.
    backend : str
        Name of the backend.
    dist : str
        Name of the distribution.

    Raises
    ------
    PreferenceError
        If the primitive is not registered, or the distribution has no lowering of it for this
        backend.
    UnknownBackendError
        If no installed plugin has the backend's name.
    """
    host().prefer(primitive, backend, dist)
