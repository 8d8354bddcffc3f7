// What a device builds before it is first chosen: a kernel that any can.

__kernel void self_test(__global uint *values) {
    values[get_global_id(0)] += 1;
}
