"""The metrics of corpora as modules of `evaluate`: `load(NAME)`, `evaluate.load(FOLDER, NAME)`."""

from xling_metrics.hf.hf import MODULES, MetricModule, load

__all__ = ["MODULES", "MetricModule", "load"]
