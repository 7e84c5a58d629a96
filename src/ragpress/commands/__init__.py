"""What the commands of `ragpress` do, a module a subject; `cli` says how they are called."""
