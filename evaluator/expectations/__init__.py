"""What a spec expects of a turn, as incremental monitors: function_calls, forbid, response."""
