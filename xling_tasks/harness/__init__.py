"""What is read out of the harness by other than its API, and what of it is changed.

What is changed, and why: `evaluation`. What is read, and why:

- Whether texts can be scored (`has_loglikelihood`): byte code of `loglikelihood`. Chat backends
  raise NotImplementedError only when asked, after hours of generation.
- Whether answers come from a service, take a seed, come batch by batch, want messages
  (`is_hosted`, `takes_seed`, `is_engine`, `speaks_chat`): names of classes; nothing else tells.
- The temperature that is sent (`sent_temperature`): `_create_payload`, names of classes. Some
  backends put their own in its place.
- Whether an API backend posts by the harness's own code (`is_own`): methods compared with
  `TemplateAPI`'s. Ours sends requests one by one, with its retries and time-outs.
- What makes a model's responses what they are (`identify_model`): its plain attributes. The
  function that runs tasks gets the model and not its arguments.
- The model beneath `--use_cache` (`unwrapped`): `CachingLM.__dict__`.
- The metadata of a task manager that builds its index (`xling_tasks.discovery`): the local of its
  constructor. The languages of a user's file are known by it alone.
"""
