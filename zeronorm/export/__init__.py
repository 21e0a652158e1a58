"""Models in other languages: C for microcontrollers, ONNX, SQL, JavaScript."""

from zeronorm.export.javascript import to_javascript

__all__ = ["to_javascript"]
