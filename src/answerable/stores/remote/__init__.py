"""A library of another machine's `answerable serve`, read over HTTP."""
