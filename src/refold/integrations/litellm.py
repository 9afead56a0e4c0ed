"""LiteLLM: `litellm.callbacks = [RefoldLogger()]`, or `callbacks: module.instance` in a proxy.

Folds chat completions, Anthropic messages and responses on their way to a deployment, in the proxy
and in the asynchronous functions of the SDK. LiteLLM has no callback before a synchronous
`completion`: fold there with `RefoldLogger.fold`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from refold.integrations.choices import missing
from refold.integrations.conversations import SdkIntegration

try:
    from litellm.integrations.custom_logger import CustomLogger
    from litellm.types.utils import CallTypes
except ImportError as error:
    raise missing("litellm", "litellm") from error

_FORMATS: Final[Mapping[str, tuple[str, str]]] = {
    "completion": ("messages", "openai-chat"),
    "acompletion": ("messages", "openai-chat"),
    "anthropic_messages": ("messages", "anthropic"),
    "responses": ("input", "openai-responses"),
    "aresponses": ("input", "openai-responses"),
}
"""By type of call: the key of its messages, and their format."""
_BESIDE: Final = ("system", "instructions", "tools")


class RefoldLogger(SdkIntegration, CustomLogger):
    """Folds what is sent to a deployment; one may serve a whole proxy."""

    async def async_pre_call_deployment_hook(
        self, kwargs: dict[str, Any], call_type: CallTypes | None
    ) -> dict[str, Any] | None:
        """Return the request with what the model needs of its messages."""
        asked = _find(kwargs, call_type)
        if asked is None:
            return None
        key, about = asked
        return {**kwargs, key: await self._afold(kwargs[key], **about)}

    def fold(self, messages: Sequence[Any], model: str) -> list[Any]:
        """Return what to send with the synchronous `completion`."""
        return self._fold(messages, model=model, format="openai-chat")


def _find(
    kwargs: Mapping[str, Any], call_type: CallTypes | None
) -> tuple[str, dict[str, Any]] | None:
    """Return the key of a request's messages, and the arguments of their fold."""
    key, format_ = _FORMATS.get(str(getattr(call_type, "value", "")), ("", ""))
    if not key or not isinstance(kwargs.get(key), list) or kwargs.get("previous_response_id"):
        return None
    beside = [kwargs[name] for name in _BESIDE if kwargs.get(name)]
    return key, {"model": kwargs.get("model"), "format": format_, "beside": beside}
