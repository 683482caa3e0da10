"""What is read out of the harness by other than its API, and what of it is changed.

Changed: `evaluate` and the saving of results (`run`), `TaskIndex.build` (`xling_tasks.discovery`).
Read (`backends`): names of backend classes, their plain attributes, the byte code of
`loglikelihood` and `_create_payload`. Nothing else tells before a run whether a backend scores
texts, takes seeds or messages, and at which temperature it decodes.
"""
