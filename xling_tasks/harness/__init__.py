"""All that is read out of the harness by other than its API, and nothing of it elsewhere.

What, how, why, and what the harness would have to do to make it needless:

- The model, its arguments, the seeds, `--log_samples`, the output folder of the run and whether it
  is the command `lm_eval run` (`bind`, once for all tasks; `current`): locals of
  `lm_eval.evaluator.simple_evaluate` in the call stack. Where they are missing, the run is refused
  with the harness's version. Why: a task gets the model
  arguments merged into its metadata, but neither the model nor which keys they were; the judge
  `self`, temperatures that are sent, journals and the last line need them. Needless once the
  harness hands tasks a run context.
- Standard errors of our aggregations (`use_own_standard_errors`):
  `evaluator_utils.stderr_for_metric` wrapped. Why: the harness knows those of its own
  aggregations only. Needless once the harness asks an aggregation for its own.
- Whether entry points are read (`reads_entry_points`, `reads_task_entry_points`): source of
  `api.registry` and of what finds tasks. Why: no release says so. Needless once a release does.
- Whether texts can be scored (`has_loglikelihood`): byte code of `loglikelihood`. Why: chat
  backends raise NotImplementedError only when asked, after hours of generation. Needless once the
  harness states abilities of backends.
- Whether answers come from a service, take a seed, come batch by batch, want messages
  (`is_hosted`, `takes_seed`, `is_engine`, `speaks_chat`): names of classes. Why: nothing else
  tells. Needless: as above.
- The temperature that is sent (`sent_temperature`): `_create_payload`, names of classes. Why:
  some backends put their own in its place. Needless once the harness refuses what it does not
  send.
- Whether an API backend posts by the harness's own code (`is_own`): methods compared with
  `TemplateAPI`'s. Why: ours calls it one by one, with its retries and time-outs. Needless once
  the harness has retries per request.
- The model beneath `--use_cache`, and single replies taken out of it (`unwrapped`,
  `forget_cached`): `CachingLM.__dict__`, `hash_args`. Why: its key leaves out the model, and a
  failed call would stay. Needless once the harness tells failures from answers.
- Every answer as soon as it is there (`Watch`): methods on the one object, its cache hook. Why:
  answers are written at the very end only. Needless once the harness has a hook for answers that
  tasks may use.
"""
