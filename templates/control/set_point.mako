## set_point: moves a threshold so that every step does about as much work as is wanted.
##
## control_begin  a new run of steps: work per entry and threshold to begin with, unit
## control_turn   learns from a step and chooses the next threshold and partition bound; returns
##                whether the current partition was left behind
## In scope      the words CONTROL_*, places of 64-bit numbers in `control_block`
## Called by     one work-item
## Exactness     as /control/model.mako; what each line means stands in clgraph/engine/control.py
##
## Reference     S. Karamati, J. Young, R. Vuduc, "An energy-efficient single-source ... algorithm",
##               IPDPS 2018; the corrections are those of the host's form

<%namespace name="model" file="/control/model.mako"/>

<%def name="declarations()">
#pragma OPENCL FP_CONTRACT OFF
% for name, word in control_words.items():
#define CONTROL_${name} ${word}
% endfor
#define CONTROL(name_) (((volatile __global double *)control_block)[CONTROL_##name_ / 2])
#define CONTROL_MODEL(name_) ((volatile __global double *)control_block + CONTROL_##name_ / 2)
${model.declarations()}
// Updates a model, or begins it anew where y / x is off by more than `factor`, if that is not 0.
static void control_learn(volatile __global double *model, const double x, const double y, const double factor) {
    const double before = model[0], seen = y / x;
    if (factor != 0.0 && seen > 0.0 && (seen > before * factor || seen * factor < before)) {
        if (seen < (double)INFINITY) model_begin(model, fmax(seen, before / ${control_start["fall"]}));
        return;
    }
    model_update(model, x, y);
    if (model[0] > 0.0) model[0] = fmax(fmin(model[0], before * ${control_start["jump"]}), before / ${control_start["fall"]});
}

static void control_begin(volatile __global uint *control_block, const double degree, const double delta,
                          const double unit) {
    CONTROL(UNIT) = unit;
    CONTROL(DELTA) = delta;
    CONTROL(BOUND) = delta;
    CONTROL(BELOW) = 0.0;
    CONTROL(CHANGE) = 0.0;
    CONTROL(NEAR) = 0.0;
    CONTROL(STEPS) = 0.0;
    model_begin(CONTROL_MODEL(DEGREE), degree);
    model_begin(CONTROL_MODEL(DENSITY), 1.0 / unit);
}

static int control_turn(volatile __global uint *control_block, const double set_point, const double frontier,
                        const double edges, const double near, const double far_here, const double beyond,
                        const double nearest, const double nearest_here, const double nearest_beyond,
                        const double largest) {
    const double unit = CONTROL(UNIT), delta_before = CONTROL(DELTA);
    const double change = CONTROL(CHANGE), near_before = CONTROL(NEAR);
    double bound = CONTROL(BOUND), below = CONTROL(BELOW), steps = CONTROL(STEPS);
    const double wanted = set_point / CONTROL(DEGREE);
    if (frontier > 0.0) {
        steps += 1.0;
        const int informs = edges >= ${control_start["informative"]} * set_point;
        control_learn(CONTROL_MODEL(DEGREE), frontier, edges, informs ? ${control_start["degree_factor"]} : 0.0);
        CONTROL(DEGREE) = fmax(CONTROL(DEGREE), ${control_start["degree_floor"]});
    }
    double far = far_here, nearest_far = nearest_here;
    const int advanced = far == 0.0 && bound < (double)INFINITY;
    if (advanced) {
        below = fmin(bound, delta_before);
        bound = (double)INFINITY;
        far = beyond;
        nearest_far = nearest_beyond;
    }
    if (change != 0.0) {
        const double before = CONTROL(DENSITY);
        const double brought = frontier - near_before;
        const int informs = fabs(brought) >= ${control_start["informative"]} * wanted;
        control_learn(CONTROL_MODEL(DENSITY), change, brought, informs ? ${control_start["density_factor"]} : 0.0);
        if (CONTROL(DENSITY) <= 0.0) CONTROL(DENSITY) = before;
    }
    const double want = set_point / CONTROL(DEGREE);
    if (steps <= ${control_start["startup"]}) {
        double density = 0.0;
        if (near >= want) density = near / fmax(delta_before, unit);
        else if (far > 0.0) density = far / fmax((bound < (double)INFINITY ? bound : largest) - delta_before, unit);
        if (density > 0.0 && isfinite(density)) CONTROL(DENSITY) = density;
    }
    const double density = CONTROL(DENSITY);
    double delta = delta_before + (want - near) / density;
    delta = fmax(fmin(delta, fmax(delta_before, largest)), 0.0);
    const double lower = fmax(below + set_point / density, delta_before + unit);
    if (lower < bound) bound = lower;
    if (near > 0.0) delta = fmax(delta, nearest);
    else if (far > 0.0) delta = fmax(delta, nearest_far);
    CONTROL(DELTA) = delta;
    CONTROL(BOUND) = bound;
    CONTROL(BELOW) = below;
    CONTROL(STEPS) = steps;
    CONTROL(NEAR) = near;
    CONTROL(CHANGE) = delta - delta_before;
    return advanced;
}
</%def>
