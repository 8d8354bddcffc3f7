"""The traversal engine that algorithms share: configurations, plans and drivers."""
