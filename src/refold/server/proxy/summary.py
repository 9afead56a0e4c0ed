"""The figures of a proxy in words: what they come to, and why a request was sent as it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from refold.report.pieces import say_count
from refold.server.proxy.request import Folded

_REASONS: Final = {
    "cold": "the provider's cache had expired",
    "paid": "reading the long form had cost three times a fold",
    "full": "the budget, the window or the next step of the price was reached",
}


def say_why(last: Folded) -> str:
    """Say in a sentence why a request was sent as it was."""
    if last.why_not:
        return f"new messages went out as they came: {last.why_not}"
    if last.is_refolded:
        return f"all of it was folded anew: {_REASONS.get(last.why, 'a fold was ready')}"
    if last.is_late:
        due = f" (a fold, since {_REASONS[last.why]})" if last.why else ""
        return f"its fold took too long{due}; the next request has it"
    if last.why:
        return f"a fold was due, since {_REASONS[last.why]}, but would have saved too little"
    if last.body is None and not last.tokens_after:
        return "it was passed on as it came"
    changed = "results were shortened" if last.tokens_after < last.tokens_before else "nothing new"
    return f"{changed}; what was sent before stays as it was, and no fold was due"


def summarize(stats: Mapping[str, Any]) -> list[str]:
    """Say in four lines what the figures of a proxy, as `Stats.to_dict` has them, come to."""
    if not stats.get("requests"):
        return ["no request came through the proxy"]
    before, after, money = stats["tokens_before"], stats["tokens_after"], stats["money"]
    is_estimated = stats["metered"] < stats["answered"]
    if money["before"]:
        notes = f", {stats['unpriced']:,} not priced" if stats["unpriced"] else ""
        notes += ", estimated" if is_estimated else ""
        bill = (
            f"${money['after']:.4f} instead of ${money['before']:.4f} for input "
            f"({_change(money['before'], money['after'])}, list prices of {money['as_of']}"
            f"{notes})"
        )
    else:
        source = "estimated" if is_estimated else "as the provider counts"
        change = _change(before, after)
        bill = f"{after:,} instead of {before:,} tokens of input ({change}, {source})"
    hour = stats["hour_saved"]
    would = f"; {_say_hour(hour)}" if hour else ""
    each = stats["untouched"] // max(1, stats["answered"])
    return [
        f"{say_count(stats['requests'], 'request')} · {say_count(stats['refolds'], 'fold')} · "
        f"{bill}",
        f"tokens: shorter results −{stats['shorter']:,} · folds −{stats['by_folds']:,} · written "
        f"anew after folds {stats['rewritten']:,} · to fetch originals +{stats['fetched']:,}",
        f"cold cache: {say_count(stats['cold'], 'request')}{would}",
        f"not touched: system prompt and tools, {each:,} tokens a request · late: "
        f"{say_count(stats['late'], 'request')} · {say_count(stats['errors'], 'error')}",
    ]


def _say_hour(saved: float) -> str:
    side = "less" if saved > 0 else "more"
    return f"caches of an hour (--ttl 1h) would have cost ${abs(saved):.4f} {side}"


def _change(before: float, after: float) -> str:
    """Say by how much *after* is less than *before*; it is more where folds did not pay."""
    return f"{after / before - 1:+.0%}".replace("-", "−") if before else "−0%"
