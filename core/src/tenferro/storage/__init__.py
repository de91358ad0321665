"""Storage of graphs: JSON, NumPy's npy, digests of content.

Files are rarely read or written, so a module loads when one of its names is first used. Read in
this order: ``npy``, ``values``, ``serialize``, ``flat``, ``writing``, ``reading``, ``digest``.
"""

from typing import TYPE_CHECKING

from tenferro._runtime import later

if TYPE_CHECKING:
    from tenferro.storage.digest import fingerprint
    from tenferro.storage.flat import SCHEMA, operation_name
    from tenferro.storage.npy import StoredArray, read_npy, write_npy
    from tenferro.storage.serialize import from_json, to_json
    from tenferro.storage.values import Codec
else:  # json and hashlib would double the import time of tenferro
    # generated: lazy names
    __getattr__, __dir__ = later(
        __name__,
        {
            "digest": "fingerprint",
            "flat": "SCHEMA operation_name",
            "npy": "StoredArray read_npy write_npy",
            "serialize": "from_json to_json",
            "values": "Codec",
        },
    )
    # end generated

# fmt: off
# generated: public names
__all__ = [
    "SCHEMA", "Codec", "StoredArray", "fingerprint", "from_json", "operation_name", "read_npy",
    "to_json", "write_npy",
]
# end generated
# fmt: on
