"""What `evaluate.load` of this folder reads: one class for all metrics, told by `config_name`."""

import xling_metrics.hf.modules

XlingMetric = xling_metrics.hf.modules.MetricModule
