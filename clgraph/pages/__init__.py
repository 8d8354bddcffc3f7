"""Pages of figures that need nothing else: HTML by Mako, with pictures by matplotlib inside."""
