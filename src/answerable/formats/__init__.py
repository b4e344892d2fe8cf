"""What the package knows about each format: how its files are recognised, read, split, cited and shown."""
