"""Speed against joules and watts: tuning, set-points, load balancers on a meter."""
