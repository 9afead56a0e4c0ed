"""refold in the places where messages are: one module for each framework or SDK.

Each folds what is sent to the model and leaves the framework's own history alone. All take the
choices in `refold.integrations.choices`. Nothing of a framework is imported before its module is.
"""

from __future__ import annotations

import logging

logging.getLogger("refold").addHandler(logging.NullHandler())
