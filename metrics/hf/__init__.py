"""The metrics as modules of `evaluate`: `load(NAME)`, or `evaluate.load(THIS_FOLDER, NAME)`."""

from xling_metrics.hf.modules import MODULES, MetricModule, load

__all__ = ["MODULES", "MetricModule", "load"]
