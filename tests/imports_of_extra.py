"""Import the packages that an extra installs: python tests/imports_of_extra.py EXTRA. Part of tests/smoke.sh."""

import re
import sys
from importlib import import_module
from importlib.metadata import distribution, packages_distributions, requires

extra = sys.argv[1]
wanted = [line for line in requires("answerable") or [] if re.search(rf"extra == .{re.escape(extra)}.$", line)]
names = {re.split(r"[^\w.-]", line)[0] for line in wanted} - {"answerable"}
modules = packages_distributions()
for name in names:
    own = distribution(name).metadata["Name"]
    found = [module for module, owners in modules.items() if own in owners and not module.startswith("_")]
    for module in found:
        import_module(module)
    print(name, *found)
