"""The language model, its prompts and answers; and what is done without one."""
