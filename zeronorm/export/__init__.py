"""Models in other languages: C for microcontrollers, ONNX, SQL, JavaScript."""

from zeronorm.export.c import to_c
from zeronorm.export.javascript import to_javascript

__all__ = ["to_c", "to_javascript"]
