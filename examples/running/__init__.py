"""What `run.py` needs to run an example: an environment for it, and the processes around it."""
