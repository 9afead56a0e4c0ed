"""How random a run of characters looks."""

from __future__ import annotations

from refold.scan.runs import churn


def test_chance_changes_its_kind_of_character_more_often_than_names_do() -> None:
    assert churn("aZ3kQ9xW2mN7pL5tR8vB4cY6") > 0.4
    assert churn("numberOfOpenConnections") < 0.3
    assert churn("") == 0
