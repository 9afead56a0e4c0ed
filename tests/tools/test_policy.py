"""What may be done with a tool's result is decided by name, glob and failure."""

from __future__ import annotations

from typing import Any

import pytest

from refold import ConfigError
from refold.tools.policy import Policies, ToolPolicy
from refold.tools.shapes import TextRef


def result(tool: str, *, is_error: bool = False) -> TextRef:
    return TextRef(index=0, path=("content",), role="tool", text="x", tool=tool, is_error=is_error)


def test_a_model_may_do_it_unless_told_otherwise() -> None:
    assert Policies().policy_for(result("any")) == "model"
    assert Policies().policy_for(result("")) == "model"


def test_exact_names_come_before_globs_and_globs_in_order() -> None:
    policies = Policies(
        {"read_*": "lossless", "*": "extractive", "read_secret": "never_send", "read_f?le": "model"}
    )
    assert policies.policy_for(result("read_secret")) == "never_send"
    assert policies.policy_for(result("read_file")) == "lossless"
    assert policies.policy_for(result("Read_file")) == "extractive"


def test_errors_stay_verbatim_by_default() -> None:
    policies = Policies({"read": "lossless"})
    assert policies.policy_for(result("read", is_error=True)) == "verbatim"
    assert policies.policy_for(result("other", is_error=True)) == "verbatim"


@pytest.mark.parametrize(
    ("rule", "errors", "expected"),
    [
        ("verbatim", "model", "verbatim"),
        ("never_send", "model", "never_send"),
        ("lossless", "extractive", "lossless"),
        ("model", "extractive", "extractive"),
    ],
)
def test_the_more_careful_policy_holds_for_errors(
    rule: ToolPolicy, errors: ToolPolicy, expected: ToolPolicy
) -> None:
    assert Policies({"t": rule}, errors=errors).policy_for(result("t", is_error=True)) == expected


def test_what_must_not_be_sent_stays_as_it_is_when_it_fails() -> None:
    policies = Policies({"vault": "never_send"})
    assert policies.policy_for(result("vault", is_error=True)) == "verbatim"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"rules": {"read": "lossles"}}, r"rules\['read'\] must be one of .* did you mean 'lossl"),
        ({"rules": {"": "model"}}, "needs the name of a tool"),
        ({"rules": {3: "model"}}, "needs the name of a tool"),
        ({"rules": ["read"]}, "rules must map tool names to policies, got list"),
        ({"default": None}, "default must be one of"),
        ({"errors": "keep"}, "errors must be one of"),
    ],
)
def test_what_can_never_work_is_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        Policies(**arguments)


def test_the_callers_mapping_may_change_later() -> None:
    rules: dict[str, ToolPolicy] = {"read": "lossless"}
    policies = Policies(rules)
    rules["read"] = "model"
    assert policies.policy_for(result("read")) == "lossless"
