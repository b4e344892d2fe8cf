"""OPML outlines and bookmarks of browsers."""
