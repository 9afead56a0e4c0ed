"""refold inside frameworks and SDKs: one module each.

Each folds what is sent to the model and leaves the framework's own history alone. All take the
options in `refold.integrations.choices`. A framework is only imported by its own module.
"""

from __future__ import annotations

import logging

logging.getLogger("refold").addHandler(logging.NullHandler())
