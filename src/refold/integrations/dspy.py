"""DSPy: `RefoldReAct("question -> answer", tools=[…])` in the place of `dspy.ReAct`.

DSPy writes a whole trajectory into one message for every call of the model. It is folded before it
is written; the prediction has it as it was. The model also gets the tool that fetches originals.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, Final, Unpack

from refold.integrations import mirror
from refold.integrations.choices import Choices, missing
from refold.integrations.conversations import Integration, describe_retrieve

try:
    import dspy
except ImportError as error:
    raise missing("dspy 3.0 or newer", "dspy") from error

_task: Final[ContextVar[str]] = ContextVar("refold_dspy_task", default="")
"""The inputs of the run in this task or thread: DSPy does not name them beside a trajectory."""
_STEP: Final = ("thought", "tool_name", "tool_args", "observation")


class RefoldReAct(dspy.ReAct):
    """A `dspy.ReAct` whose trajectories are folded; takes the options of every integration."""

    def __init__(
        self, signature: Any, tools: list[Any], max_iters: int = 20, **choices: Unpack[Choices]
    ) -> None:
        self.refold = Integration(**choices)
        """Has what was sent last, as `last`."""
        described = describe_retrieve()
        retrieve = dspy.Tool(
            self.refold.look_up, name=described["name"], desc=described["description"]
        )
        super().__init__(signature, [*tools, retrieve], max_iters)

    def forward(self, **inputs: Any) -> Any:
        """Answer the *inputs*."""
        _task.set(_spell(inputs))
        return super().forward(**inputs)

    async def aforward(self, **inputs: Any) -> Any:
        """Do the same without blocking the event loop."""
        _task.set(_spell(inputs))
        return await super().aforward(**inputs)

    def _format_trajectory(self, trajectory: dict[str, Any]) -> Any:
        wires: list[dict[str, Any]] = [{"role": "user", "content": _task.get()}]
        for name in trajectory:
            if name.startswith("observation_"):
                wires += _step(trajectory, name.removeprefix("observation_"))
        model = getattr(dspy.settings.lm, "model", None)
        sent = self.refold._fold(wires, model=model, format=mirror.FORMAT)
        fields: dict[str, Any] = {}
        for number, wire in enumerate(sent):
            if wire is not wires[0]:
                fields.update(_fields(wire, number))
        return super()._format_trajectory(fields)


def _spell(inputs: dict[str, Any]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in inputs.items() if name != "max_iters")


def _step(trajectory: dict[str, Any], number: str) -> list[dict[str, Any]]:
    """Return a step of a trajectory as a call and its result."""
    thought, name, arguments, observed = (trajectory.get(f"{field}_{number}") for field in _STEP)
    words = [mirror.text(str(thought))] if thought else []
    arguments = arguments if isinstance(arguments, dict) else {"input": arguments}
    call = mirror.call(number, str(name), arguments)
    result = mirror.result(number, str(observed))
    return [
        {"role": "assistant", "content": [*words, call]},
        {"role": "user", "content": [result]},
    ]


def _fields(wire: dict[str, Any], place: int) -> dict[str, Any]:
    """Return a message as fields of a trajectory."""
    content = wire["content"]
    blocks = [mirror.text(content)] if isinstance(content, str) else content
    number = next((block["id"] for block in blocks if block["type"] == "tool_use"), None)
    fields: dict[str, Any] = {}
    for block in blocks:
        match block["type"]:
            case "text":
                name = f"earlier_{place}" if number is None else f"thought_{number}"
                fields[name] = block["text"]
            case "tool_use":
                fields[f"tool_name_{number}"] = block["name"]
                fields[f"tool_args_{number}"] = block["input"]
            case "tool_result":
                fields[f"observation_{block['tool_use_id']}"] = block["content"]
    return fields
