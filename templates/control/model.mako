## model: one factor p of y = p x, fitted by gradient descent at a rate that follows its own success.
##
## model_update  learns from one observation; one that leaves the range of numbers is not learned from
## In scope      control_start: the numbers a controller begins with
## Called by     one work-item
## Exactness     the operations of clgraph/engine/control.py in their order, none contracted, so that
##               the host finds the same numbers to the last bit
## Layout        five doubles: p; averages of the gradient, its square and the curvature; over how
##               many observations they are taken
##
## Reference     T. Schaul, S. Zhang, Y. LeCun, "No more pesky learning rates", ICML 2013

<%def name="declarations()">
static inline void model_begin(volatile __global double *model, const double value) {
    model[0] = value;
    model[1] = 0.0;
    model[2] = ${control_start["epsilon"]};
    model[3] = 1.0;
    model[4] = ${control_start["memory"]};
}

static void model_update(volatile __global double *model, const double x, const double y) {
    const double before = model[0], averaged = model[4];
    const double error = y - before * x;
    const double gradient = -2.0 * error * x;
    if (gradient == 0.0) return;
    const double rate = 1.0 / averaged;
    const double keep = 1.0 - rate;
    const double mean = keep * model[1] + rate * gradient;
    const double variance = fmax(keep * model[2] + rate * (gradient * gradient), ${control_start["variance_floor"]});
    const double curvature = keep * model[3] + rate * (2.0 * x * x);
    const double square = mean * mean, divisor = curvature * variance;
    const double step = square / divisor;
    const double memory = fmax((1.0 - square / variance) * averaged + 1.0, 1.0);
    const double value = before - step * gradient;
    if (divisor > 0.0 && isfinite(value) && isfinite(mean) && isfinite(variance) && isfinite(curvature) && isfinite(memory)) {
        model[0] = value;
        model[1] = mean;
        model[2] = variance;
        model[3] = curvature;
        model[4] = memory;
    }
}
</%def>
