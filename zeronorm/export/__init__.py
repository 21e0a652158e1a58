"""Models in other languages: C for microcontrollers, ONNX, SQL, JavaScript."""

from zeronorm.export.c import to_c
from zeronorm.export.javascript import to_javascript
from zeronorm.export.sql import to_sql

__all__ = ["to_c", "to_javascript", "to_sql"]
