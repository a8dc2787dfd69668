"""The papers behind kernelpca, one folder each: their experiments, and the competitors they compare with."""
