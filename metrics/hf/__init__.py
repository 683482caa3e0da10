"""The metrics of texts as modules of `evaluate`: `load(NAME)`, or `evaluate.load(FOLDER, NAME)`."""

from xling_metrics.hf.hf import MODULES, MetricModule, load

__all__ = ["MODULES", "MetricModule", "load"]
