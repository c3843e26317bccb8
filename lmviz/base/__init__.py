"""What everything stands on: errors, configurations, files, and where things lie on this machine."""
