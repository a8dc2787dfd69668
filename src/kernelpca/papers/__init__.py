"""The papers behind the library, one folder each: their experiments, and the competitors they compare with."""
