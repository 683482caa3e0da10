"""Which arguments of a model change its replies: all but those that say how it is asked."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from xling_tasks.secrets import is_secret

IDENTITY = "identity"  # it can change a reply
ADDRESS = "address"  # where the model is asked: another server may be another model
TRANSPORT = "transport"  # how fast, by which way or with whose key replies come

_TABLE = {
    TRANSPORT: """
        batch_size max_batch_size num_concurrent timeout max_retries batch
        verify_certificate ca_cert_path header headers api_version organization request_timeout
        device device_map parallelize max_memory_per_gpu max_cpu_memory offload_folder
        low_cpu_mem_usage logits_cache cache_dir download_dir local_files_only
        tp_size dp_size tensor_parallel_size pipeline_parallel_size data_parallel_size
        gpu_memory_utilization swap_space cpu_offload_gb max_num_seqs max_num_batched_tokens
        enforce_eager enable_prefix_caching enable_chunked_prefill mem_fraction_static
        chunked_prefill_size max_running_requests disable_cuda_graph log_level port host
    """,
    ADDRESS: "base_url api_base azure_endpoint server_url endpoint_url",
    # What would pass for a secret by its name.
    IDENTITY: "add_bos_token think_end_token bos_token eos_token pad_token",
}
_KIND = {name: kind for kind, names in _TABLE.items() for name in names.split()}

# Parameters of an address that carry a key or a version, not a deployment's name.
_PARAMETER_OF_TRANSPORT = {"code", "key", "token", "sig", "api-version", "api_version"}
# As they stand in a signature: `hf(batch_size=8,pretrained=x)`.
_IN_SIGNATURE = re.compile(
    rf"(?<=[(,])(?:{'|'.join(sorted(n for n, k in _KIND.items() if k == TRANSPORT))})"
    r"=[^,()|;]*(?:,|(?=\)))"
)

ADDED_BY_HARNESS = frozenset({"batch_size", "max_batch_size", "device", "trust_remote_code"})
"""Arguments that the harness adds to those of any model."""


def kind_of(argument: str) -> str:
    """Return `ADDRESS`, `TRANSPORT`, or `IDENTITY` for all others."""
    return _KIND.get(argument) or (TRANSPORT if is_secret(argument) else IDENTITY)


def identity_of(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments that can change a reply; an address without keys and versions."""
    return {
        name: _address(value) if kind_of(name) == ADDRESS and isinstance(value, str) else value
        for name, value in args.items()
        if kind_of(name) != TRANSPORT
    }


def which_model(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return `identity_of` without the address: the same model served elsewhere."""
    return {k: v for k, v in identity_of(args).items() if kind_of(k) != ADDRESS}


def identity_in_signature(signature: str) -> str:
    """Return a signature without arguments of transport."""
    return _IN_SIGNATURE.sub("", signature).replace(",)", ")")


def files_of(args: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    """Name, size and time of the files of models in local folders: retraining changes them."""
    for value in args.values():
        folder = Path(value) if isinstance(value, str) and len(value) < 1000 else None
        if folder is not None and folder.is_dir():
            for path in sorted(folder.iterdir()):
                status = path.stat()
                yield path.name, status.st_size, status.st_mtime_ns


def _address(url: str) -> str:
    """Return an address without user, keys and versions; other parameters as a digest."""
    parts = urlsplit(url)
    parameters = [
        (name, hashlib.sha256(value.encode()).hexdigest()[:16])
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if name.lower() not in _PARAMETER_OF_TRANSPORT and not is_secret(name)
    ]
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, urlencode(parameters), ""))
