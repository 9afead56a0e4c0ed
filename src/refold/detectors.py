"""The detectors of `classic`, under the name by which callers import them."""

from refold.classic.detectors import DETECTORS, Detector, DetectorTable, pattern_finder

__all__ = ["DETECTORS", "Detector", "DetectorTable", "pattern_finder"]
