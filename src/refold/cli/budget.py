"""`--budget`: a number of tokens, or a share of those that a file has."""

from __future__ import annotations

from dataclasses import dataclass, replace

import click

from refold.cli.document import Document
from refold.cli.folding import naming_lines
from refold.errors import BudgetError
from refold.formats import load
from refold.options import Options
from refold.report.turns import make_counter
from refold.result import Result


@dataclass(frozen=True, slots=True)
class Share:
    """So many percent of the tokens of a file."""

    percent: float


def read_budget(value: str) -> int | Share:
    """Read `8000` or `50%`."""
    amount, sign, rest = value.strip().partition("%")
    try:
        if not sign and (tokens := int(amount)) >= 0:
            return tokens
        if sign and not rest and 0 <= (percent := float(amount)) <= 100:
            return Share(percent)
    except ValueError:
        pass
    raise click.BadParameter(
        f"{value!r} is neither a number of tokens, such as 8000, "
        "nor a share of those that FILE has, such as 50%"
    )


budget_option = click.option(
    "--budget",
    "budget",
    type=read_budget,
    metavar="TOKENS",
    help="Fit into this many tokens, such as 8000, or into a share of the file's, such as 50%.",
)


def set_budget(options: Options, budget: int | Share | None, document: Document) -> Options:
    """Return *options* with the budget in tokens, if there is one."""
    if budget is None:
        return options
    if isinstance(budget, Share):
        budget = int(_count(document, options) * budget.percent / 100)
    return replace(options, token_budget=budget)


def _count(document: Document, options: Options) -> int:
    tokens = make_counter(options.model)
    with naming_lines(document):
        return sum(map(tokens.message, load(document.messages, format_name=options.format)))


def check_budget(result: Result) -> None:
    """Say what is in the way if a budget is not kept; called once the result is written."""
    if result.budget is not None and not result.budget.fits:
        raise BudgetError(result.budget.explain())
