"""Which texts are worth keeping word for word, according to a model."""

from refold.llm.classifiers.base import Classifier, Verdict, as_classifier
from refold.llm.classifiers.llm import EscalatingClassifier, create_classifier

__all__ = [
    "Classifier",
    "EscalatingClassifier",
    "Verdict",
    "as_classifier",
    "create_classifier",
]
