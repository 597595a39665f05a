# Written by tools/make_exports.py from the lists __all__ of this package's modules; `make map` writes it again.

from unibody.rules.time_rule import RULES as RULES
from unibody.rules.time_rule import TimeRule as TimeRule
from unibody.rules.time_rule import rule_name as rule_name
from unibody.rules.time_rule import rules_for as rules_for
from unibody.rules.time_rule import smooth as smooth

__all__ = [
    "RULES",
    "TimeRule",
    "rule_name",
    "rules_for",
    "smooth",
]
