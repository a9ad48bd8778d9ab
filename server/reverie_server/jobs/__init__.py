"""Background jobs: the queue, the worker, the runner of one job, the schedule."""
