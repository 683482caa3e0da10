"""Topics of questions: the list, and files of question -> topic."""

from __future__ import annotations

from pathlib import Path

from xling_tasks.data.tables import text_lines
from xling_tasks.errors import DataError
from xling_tasks.output import jsonl, write_new
from xling_tasks.safe_json import json_objects

TOPICS = (
    "Anatomy and physiology", "Biochemistry", "Cardiology and respiratory medicine",
    "Dermatology", "Ear, nose, throat and eyes", "Endocrinology and metabolism",
    "Ethics and law", "Gastroenterology", "Genetics", "Gynaecology and obstetrics",
    "Haematology and oncology", "Immunology and rheumatology", "Infectious diseases",
    "Nephrology and urology", "Neurology", "Paediatrics", "Pathology", "Pharmacology",
    "Psychiatry and psychology", "Public health and statistics", "Surgery and emergency medicine",
)  # fmt: skip
"""21 medical topics, as many as arXiv:2402.13963 has; the list is ours."""

UNCLASSIFIED = "unclassified"
"""The topic of a question that was asked about in vain."""


def read_list(path: Path) -> tuple[str, ...]:
    """Read a list of topics: a text file with two or more, one per line, each once."""
    topics = tuple(" ".join(line.split()) for line in text_lines(path))
    if len(topics) < 2 or len({topic.casefold() for topic in topics}) < len(topics):
        raise DataError(f"{path}: two topics or more are needed, one per line, each once")
    return topics


Topics = dict[tuple[str, str], str]
"""Dataset (empty: any) and question -> topic; two datasets may number their questions alike."""


def write_topics(path: Path, topic_of: Topics) -> None:
    """Write the topic of each question, a JSON object a line."""
    rows = ({"dataset": dataset, "question_id": question, "topic": topic}
            for (dataset, question), topic in topic_of.items())  # fmt: skip
    write_new(path, jsonl(rows))


def read_topics(path: Path) -> Topics:
    """Read topics as `xling topics` writes them, or by hand."""
    topic_of: Topics = {}
    for number, row in json_objects(path):
        question, topic = row.get("question_id"), row.get("topic")
        if question is None or not isinstance(topic, str) or not topic.strip():
            raise DataError(f"{path}, line {number}: question_id and a text as topic are expected")
        if topic_of.setdefault((str(row.get("dataset", "")), str(question)), topic) != topic:
            raise DataError(f"{path}, line {number}: question {question!r} has two topics")
    if not topic_of:
        raise DataError(f"{path}: has no questions")
    return topic_of
