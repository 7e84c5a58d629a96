"""Speed and memory, each against a reference in the same run. `python -m benchmarks` prints the table."""
