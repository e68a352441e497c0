/* SPDX-License-Identifier: MIT */
/*
 * K1_vector_add: one work-item for each number. The page is README.md in this folder.
 *
 *      make test EX=K1
 */
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    // TODO: which element is this work-item's? c of it is a + b, if there is such an element.
    // stub: (void)a, (void)b, (void)c, (void)n;
    const int i = get_global_id(0);

    if (i < n) c[i] = a[i] + b[i];
    // END TODO
}
