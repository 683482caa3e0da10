"""What a task, a metric and a result are about."""

from xling_tasks.criteria.criterion import AVERAGE, ENGLISH, Criterion, Endpoint, MetricName
from xling_tasks.criteria.labels import (
    LABELS,
    MOST_JUDGES,
    NO_RESPONSE,
    OPTIONS,
    of_judge,
)
from xling_tasks.criteria.metric import DisplayText, Metric
from xling_tasks.criteria.sample import SampleResult, SampleView
from xling_tasks.criteria.table import (
    CRITERIA,
    MetricKey,
    TaskKey,
    about,
    metric_key_of,
    task_key_of,
)
