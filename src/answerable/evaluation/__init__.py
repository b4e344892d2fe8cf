"""Question sets → figures: how well the engine finds, answers and refuses, and gates fitted on them."""
