"""How hard to shorten."""

from __future__ import annotations

from typing import Literal

Depth = Literal["gentle", "moderate", "aggressive"]
