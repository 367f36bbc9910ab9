"""What `bench/versus.py` is made of: a plan, a runner, a report."""
