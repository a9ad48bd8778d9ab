"""What people take back in the same breath: "on the 14th - no, sorry, the 15th"."""
