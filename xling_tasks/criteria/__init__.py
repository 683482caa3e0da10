"""What a task, a metric and a result are about."""

from xling_tasks.criteria.places import (
    FORMAT,
    Panel,
    Place,
    about,
    panel_of,
    place_of,
    primary_of,
)
from xling_tasks.criteria.table import (
    AVERAGE,
    CRITERIA,
    ENGLISH,
    JURY_METRICS,
    LABELS,
    MOST_JUDGES,
    NO_RESPONSE,
    OPTIONS,
    Criterion,
    Endpoint,
    Form,
    MetricName,
    MetricRecord,
    form_of,
    of_judge,
)
