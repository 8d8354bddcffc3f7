"""What a device is made of: its traits, and what its units keep resident."""
