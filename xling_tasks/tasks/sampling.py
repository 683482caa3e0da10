"""The temperatures at which tasks ask: one, greedy unless told otherwise, or a sweep of several."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from xling_tasks.errors import SettingError
from xling_tasks.failed_response import is_failed
from xling_tasks.settings import temperatures
from xling_tasks.tasks.base import XlingTask
from xling_tasks.tasks.requests import Request


class GreedyTask(XlingTask):
    """Tasks that ask once per view, at temperature 0 unless `--gen_kwargs` names another."""

    @property
    def temperature(self) -> float:
        """0 (greedy) unless `--gen_kwargs temperature=` says otherwise."""
        forced = forced_temperature(self) or 0.0
        if forced and self.settings.protocol is not None:
            raise SettingError(
                f"{self.config.task}: --gen_kwargs temperature={forced} contradicts --metadata "
                "protocol=published, in which this task answers greedily; leave one of the two out"
            )
        return forced

    @property
    def asked_temperatures(self) -> tuple[float, ...]:
        """The one temperature; none for log-likelihoods."""
        return (self.temperature,) if self.OUTPUT_TYPE == "generate_until" else ()

    def requests_for(self, doc: dict[str, Any], context: Any, chat: bool) -> list[Request]:
        """One reply."""
        return [("generate_until", (context, generation_arguments(self, self.temperature)), 1)]

    def answered(self) -> dict[tuple[str, str], dict[str, Any]]:
        """The distinct answers (question's id, reply) that did not fail, with their documents."""
        return {
            (instance.doc["question_id"], reply): instance.doc
            for instance, reply in self.each_reply()
            if not is_failed(reply)
        }


class SweepTask(XlingTask):
    """Tasks that ask at several temperatures in one run."""

    @property
    def temperatures(self) -> tuple[float, ...]:
        """The temperatures of this run: the setting, or the one of `--gen_kwargs`.

        That stands for the whole sweep; no temperature is reported that was not used.
        """
        forced = forced_temperature(self)
        if forced is None:
            return self.settings.temperatures
        if "temperatures" in self.settings.given and self.settings.temperatures != (forced,):
            raise SettingError(
                f"{self.config.task}: --gen_kwargs temperature={forced} would replace the sweep "
                f"temperatures={list(self.settings.temperatures)}; give one of the two"
            )
        return (forced,)

    @property
    def asked_temperatures(self) -> tuple[float, ...]:
        """All of them."""
        return self.temperatures

    def check_run(self) -> None:
        """Refuse contradicting generation arguments at once."""
        for temperature in self.temperatures:
            generation_arguments(self, temperature)


def forced_temperature(task: XlingTask) -> float | None:
    """The temperature of `--gen_kwargs`, which the harness writes over the task's arguments."""
    forced = (task.config.generation_kwargs or {}).get("temperature")
    return None if forced is None else temperatures("--gen_kwargs temperature", forced)[0]


def generation_arguments(task: XlingTask, temperature: float) -> dict[str, Any]:
    """The task's generation arguments at a temperature, sampling if and only if it is above 0."""
    arguments = deepcopy(task.generation_arguments)
    sample = temperature > 0
    if "do_sample" in arguments and bool(arguments["do_sample"]) != sample:
        raise SettingError(
            f"{task.config.task}: --gen_kwargs do_sample={arguments['do_sample']} contradicts "
            f"temperature {temperature}; leave do_sample out, it follows from the temperature"
        )
    return {**arguments, "temperature": temperature, "do_sample": sample}
