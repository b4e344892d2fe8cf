"""The text of a model's answer: its statements, and what each of them claims."""
