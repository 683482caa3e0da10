"""What a task, a metric and a result are about."""

from xling_tasks.criteria.forms import (
    AVERAGE,
    ENGLISH,
    Criterion,
    Endpoint,
    MetricName,
    Submitted,
)
from xling_tasks.criteria.labels import (
    BADNESS,
    JURY_METRICS,
    LABELS,
    MOST_JUDGES,
    NO_RESPONSE,
    OPTIONS,
    of_judge,
)
from xling_tasks.criteria.metric import DisplayText, Metric
from xling_tasks.criteria.sample_view import SampleResult, SampleView
from xling_tasks.criteria.table import CRITERIA, Form, declared, form_of
from xling_tasks.criteria.task_keys import (
    FORMAT,
    MetricKey,
    TaskKey,
    about,
    metric_key_of,
    primary_of,
    task_key_of,
)
