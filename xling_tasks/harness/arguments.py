"""What each argument of a model says: which replies it gives, where it is, or only how it is asked.

One table for every backend of the harness and for our own. Caches, journals, `compare` and boards
ask it: with another concurrency or time-out a model is the same and its replies are not paid again.
An argument that nobody knows counts as part of the model, and that is said once.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from xling_tasks.log import warn_once
from xling_tasks.secrets import is_secret

IDENTITY = "identity"
"""It can change a reply."""

ADDRESS = "address"
"""Where the model is asked: part of its identity, since another server may be another model."""

TRANSPORT = "transport"
"""It changes how fast, by which way or with whose key replies come; or rounding errors at most."""

_TABLE = {
    TRANSPORT: """
        batch_size max_batch_size micro_batch_size
        num_concurrent timeout max_retries deadline batch

        verify_certificate ca_cert_path header headers extra_headers default_headers api_version
        watsonx_credentials organization
        num_retries request_timeout

        device devices device_map parallelize max_memory_per_gpu max_cpu_memory max_memory
        offload_folder offload_state_dict offload_buffers low_cpu_mem_usage logits_cache
        execution_provider provider_options num_nodes cache_dir download_dir local_files_only
        force_download resume_download proxies write_out

        tp_plan tp_degree tp_size dp_size pp_size ep_size nnodes node_rank dist_init_addr
        tensor_parallel_size pipeline_parallel_size data_parallel_size
        tensor_model_parallel_size pipeline_model_parallel_size expert_model_parallel_size
        enable_expert_parallel data_parallel_backend distributed_executor_backend

        gpu_memory_utilization swap_space cpu_offload_gb max_num_seqs max_num_batched_tokens
        block_size enforce_eager enable_prefix_caching enable_chunked_prefill
        max_seq_len_to_capture disable_custom_all_reduce disable_log_stats disable_log_requests
        use_tqdm max_parallel_loading_workers compilation_config worker_cls async_scheduling

        mem_fraction_static chunked_prefill_size max_running_requests max_total_tokens
        max_prefill_tokens schedule_policy schedule_conservativeness disable_cuda_graph
        cuda_graph_max_bs disable_radix_cache log_level port host
    """,
    ADDRESS: "base_url api_base azure_endpoint server_url endpoint_url",
    IDENTITY: """
        model pretrained model_id path load engine run revision subfolder deployment_id ckpt_step
        use_dist_ckpt gguf_file peft delta lora_local_path max_lora_rank steer_path is_hf
        extra_args num_layers hidden_size num_attention_heads ffn_hidden_size num_query_groups
        code_revision hf_overrides load_format backend trust_remote_code

        dtype torch_dtype precision mixed_precision_dtype softmax_dtype kv_cache_dtype
        quantization quantization_config quantization_param_path load_in_8bit load_in_4bit
        bnb_4bit_quant_type bnb_4bit_compute_dtype bnb_4bit_use_double_quant autogptq gptqmodel
        attn_implementation attention_backend rope_scaling rope_theta

        tokenizer tokenizer_backend tokenizer_mode tokenizer_path tokenizer_revision
        tokenizer_type tokenizer_model vocab_file merge_file tokenized_requests
        use_fast_tokenizer add_bos_token prefix_token_id custom_prefix_token_id eos_string

        max_length max_model_len max_gen_toks max_input_len max_output_len max_beam_width
        max_tokens_to_sample seq_length context_length truncate truncation truncation_side

        seed temperature top_p top_k min_p generate_params think_end_token enable_thinking
        chat_template_args chat_template reasoning_parser reasoning_effort
        speculative_config

        max_images max_audios image_token_id image_string interleave convert_img_format
        min_pixels max_pixels image_width image_height image_max_side
    """,
}
_KIND = {name: kind for kind, names in _TABLE.items() for name in names.split()}

# Parameters of an address that carry a key or a version, not a deployment's name.
_PARAMETER_OF_TRANSPORT = {"code", "key", "token", "sig", "api-version", "api_version"}
# As they stand in a signature: `hf(batch_size=8,pretrained=x)`.
_IN_SIGNATURE = re.compile(
    rf"(?<=[(,])(?:{'|'.join(sorted(n for n, k in _KIND.items() if k == TRANSPORT))})"
    r"=[^,()|;]*(?:,|(?=\)))"
)


def kind_of(argument: str) -> str | None:
    """`IDENTITY`, `ADDRESS` or `TRANSPORT`; None for an argument that the table does not know."""
    known = _KIND.get(argument)
    return TRANSPORT if known is None and is_secret(argument) else known


def identity_of(args: Mapping[str, Any], *, asked_by: str = "") -> dict[str, Any]:
    """The arguments that can change a reply; of an address, what tells one server from another.

    Arguments that are not known are warned about, in the name of `asked_by`, if there is one.
    """
    told: dict[str, Any] = {}
    for name, value in args.items():
        kind = kind_of(name)
        if kind == TRANSPORT:
            continue
        told[name] = _address(value) if kind == ADDRESS and isinstance(value, str) else value
        if kind is None and asked_by:
            warn_once(
                f"{asked_by}: whether the argument {name} can change a reply is not known here: "
                "it counts as part of the model, so with another value all is asked anew"
            )
    return told


def which_model(args: Mapping[str, Any]) -> dict[str, Any]:
    """As `identity_of`, without the address: the same model served elsewhere."""
    return {k: v for k, v in identity_of(args).items() if kind_of(k) != ADDRESS}


def identity_in_signature(signature: str) -> str:
    """A signature without arguments of transport, which those of version 0.2 hold."""
    return _IN_SIGNATURE.sub("", signature).replace(",)", ")")


def files_of(args: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    """Name, size and time of the files of models in local folders: retraining changes them."""
    for value in args.values():
        folder = Path(value) if isinstance(value, str) and len(value) < 1000 else None
        if folder is not None and folder.is_dir():
            for path in sorted(folder.iterdir()):
                about = path.stat()
                yield path.name, about.st_size, about.st_mtime_ns


def _address(url: str) -> str:
    """An address without user, keys and versions; of other parameters, what tells values apart."""
    parts = urlsplit(url)
    kept = [
        (name, _mark(value))
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if name.lower() not in _PARAMETER_OF_TRANSPORT and not is_secret(name)
    ]
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, urlencode(kept), ""))


@functools.lru_cache(maxsize=256)
def _mark(value: str) -> str:
    """A digest that is slow to make: any parameter may hold a key, and none is found by trying."""
    made = hashlib.scrypt(value.encode(), salt=b"xling-tasks address", n=2**14, r=8, p=1, dklen=16)
    return made.hex()
