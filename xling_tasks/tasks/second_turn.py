"""A second turn with the model under test, where its first reply is unread (setting `ask_again`).

The first reply is what every score rests on. What the second one says stands beside it, in metrics
of its own: a model that is asked again may say something else than it meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from lm_eval.api.instance import Instance

from xling_tasks.harness.backends import clean_reply, replayed
from xling_tasks.harness.run import all_ranks, current
from xling_tasks.lm import journaled
from xling_tasks.readers.thinking import without_thinking
from xling_tasks.replies.folder import cache_folder, key_of
from xling_tasks.settings import Settings

ACC = "acc_asked_again"
ASKED = "asked_again_rate"
CONTRADICTED = "contradicted_rate"


class SecondTurn:
    """The second turns of a task: `replies` by what `ask` was told to know them by.

    They are counted `per_question`, by its id: their requests follow all others of a question.
    """

    def __init__(self) -> None:
        self.replies: dict[Any, str] = {}
        self.per_question: Counter[str] = Counter()
        self._template: Callable[..., Any] | None = None
        self._messages: dict[str, list[dict[str, str]]] = {}

    def keeping(self, template: Callable[..., Any]) -> Callable[..., Any]:
        """A chat template that keeps the messages behind every prompt it makes."""
        self._template = template

        def apply(messages: Any, **options: Any) -> Any:
            prompt = template(messages, **options)
            self._messages[key_of(prompt)] = list(messages)
            return prompt

        return apply

    def ask(
        self,
        task: str,
        instances: Sequence[Instance],
        unread: dict[Any, tuple[Instance, str]],
        request: str,
        settings: Settings,
    ) -> list[Instance]:
        """Ask about unread replies; the new requests, answered, to be logged beside the first.

        Every process of a run takes part, with a request of its own that counts for nothing where
        it has fewer to ask than another: a model over several processes may need them all. The
        instances are all requests of the task on this process.
        """
        lm, most = current().lm, max(all_ranks(len(unread)))
        if not most or lm is None:
            return []
        last: dict[int, int] = {}
        for item in instances:
            last[item.doc_id] = max(last.get(item.doc_id, -1), item.idx)
        made: dict[Any, Instance] = {}
        for key, (item, reply) in unread.items():
            last[item.doc_id] += 1
            context = self._context(item.args[0], reply, request)
            arguments = (context, dict(item.args[1]))
            about = (item.task_name, item.doc_id, 1)
            made[key] = Instance(item.request_type, item.doc, arguments, last[item.doc_id], about)
            self.per_question[str(item.doc["question_id"])] += 1
        own = list(made.values())
        name = f"{task}_asked_again"
        if replayed(lm) is None:
            journaled.watch(
                name, lm, own, cache_folder(settings.xling_cache), settings.xling_resume
            )
        filler = own[:1] or [instances[0]]
        said = lm.generate_until([*own, *filler * (most - len(own))])
        journaled.scored(name)
        for (key, item), reply in zip(made.items(), said, strict=False):
            text = clean_reply(reply)
            item.resps = [text]
            item.filtered_resps = dict.fromkeys(unread[key][0].filtered_resps, text)
            self.replies[key] = text
        return own

    def _context(self, context: Any, reply: str, request: str) -> Any:
        said = (without_thinking(reply) or "").strip() or "..."
        messages = self._messages.get(key_of(context))
        if self._template is None or messages is None:
            return f"{context}{said}\n\n{request}\n"
        turns = [("assistant", said), ("user", request)]
        further = [{"role": role, "content": text} for role, text in turns]
        return self._template([*messages, *further], add_generation_prompt=True)
