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
from xling_tasks.criteria.places import FORMAT, Panel, Place, about, panel_of, place_of, primary_of
from xling_tasks.criteria.shown import Found, Shown
from xling_tasks.criteria.table import CRITERIA, Form, declared, form_of
