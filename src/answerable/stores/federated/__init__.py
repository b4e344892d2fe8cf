"""Several libraries asked as one."""
