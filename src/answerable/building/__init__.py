"""Which adapter stands behind each seam: settings → adapter. `answerable.build` gives out what is made here."""
