"""What `evaluate.load` of this folder reads: one class, whose `config_name` is the metric."""

import xling_metrics.hf.modules

XlingMetric = xling_metrics.hf.modules.MetricModule
