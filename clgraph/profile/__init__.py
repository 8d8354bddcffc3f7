"""What a device can do and what it charges for it."""
