"""What happens at night: emergence, dreaming, the diary and the reports."""
