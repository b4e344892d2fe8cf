"""Work on a whole library: verification, backup, new vectors, copies."""
