"""What every adapter of a remote provider needs: retries, bounds, errors of ours in place of theirs."""
