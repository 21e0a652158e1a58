"""Models in other languages: C for microcontrollers, ONNX, SQL, JavaScript."""

from zeronorm.export.c import to_c
from zeronorm.export.javascript import to_javascript
from zeronorm.export.onnx import to_onnx
from zeronorm.export.skl2onnx import register_with_skl2onnx
from zeronorm.export.sql import to_sql

__all__ = ["register_with_skl2onnx", "to_c", "to_javascript", "to_onnx", "to_sql"]
