"""The subcommands of `xling`."""
