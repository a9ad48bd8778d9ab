"""The benchmark of several nodes beside one."""
