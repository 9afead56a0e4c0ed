"""What may be done with the results of which tool: rules by name, and one for failures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from fnmatch import fnmatchcase
from typing import Final, Literal, get_args

from refold.agent.text_refs import ToolResultRef
from refold.checks import check_choice
from refold.errors import ConfigError

ToolPolicy = Literal["verbatim", "lossless", "never_send", "extractive", "model"]
"""What may be done with a result, the most careful first.

verbatim    it stays as it is
lossless    it may be written shorter only if nothing is lost
never_send  it may be shortened on this machine, but no model is ever shown it
extractive  it may be shortened to some of its own words
model       a model may be asked to write it shorter
"""

_POLICIES: Final[tuple[ToolPolicy, ...]] = get_args(ToolPolicy)
_GLOB: Final = re.compile(r"[*?[]")


@dataclass(frozen=True, slots=True)
class Policies:
    """Policies by tool: exact names first, then globs in the order given, then the default."""

    rules: Mapping[str, ToolPolicy] = field(default_factory=dict[str, ToolPolicy])
    """Name or glob (`read_*`, case counts) → policy."""
    _: KW_ONLY
    default: ToolPolicy = "model"
    errors: ToolPolicy = "verbatim"
    """For failed results; where the tool's own policy is more careful, that one holds."""

    def __post_init__(self) -> None:
        if not isinstance(self.rules, Mapping):
            raise ConfigError(
                f"rules must map tool names to policies, got {type(self.rules).__name__}"
            )
        for name, policy in self.rules.items():
            if not isinstance(name, str) or not name:
                raise ConfigError(f"a rule needs the name of a tool or a glob, got {name!r}")
            check_choice(f"rules[{name!r}]", policy, _POLICIES)
        check_choice("default", self.default, _POLICIES)
        check_choice("errors", self.errors, _POLICIES)
        object.__setattr__(self, "rules", dict(self.rules))  # the caller's mapping may change

    def policy_for(self, result: ToolResultRef) -> ToolPolicy:
        """Return what may be done with *result*."""
        policy = self._of_tool(result.tool)
        return min(policy, self.errors, key=_POLICIES.index) if result.is_error else policy

    def may_send(self, result: ToolResultRef) -> bool:
        """Tell whether a model may see *result*, for whatever purpose.

        Ask this too where text is sent on in bulk: a failed result is verbatim *and* must not be
        sent if its tool says so.
        """
        policies = (self._of_tool(result.tool), *([self.errors] if result.is_error else []))
        return "never_send" not in policies

    def _of_tool(self, tool: str) -> ToolPolicy:
        exact = self.rules.get(tool)
        if exact is not None:
            return exact
        for name, policy in self.rules.items():
            if _GLOB.search(name) and fnmatchcase(tool, name):
                return policy
        return self.default
