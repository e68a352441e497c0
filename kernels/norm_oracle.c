/* SPDX-License-Identifier: MIT */
/*
 * norm_oracle: batch norm as it is defined, channel by channel: a channel's elements are x[n][c][i] for all n and
 * i < h * w.
 */
#include <math.h>

#include "kernels/oracle.h"

static size_t place(kernel_shape shape, int n, int c, int i)
{
    return ((size_t)n * (size_t)shape.c + (size_t)c) * (size_t)shape.h * (size_t)shape.w + (size_t)i;
}

static void measure(const kernel_oracle_norm *norm, const double *x, int c)
{
    kernel_shape s = norm->shape;
    double count = (double)s.n * s.h * s.w, mean = 0, variance = 0;

    for (int n = 0; n < s.n; n++)
        for (int i = 0; i < s.h * s.w; i++) mean += x[place(s, n, c, i)] / count;
    for (int n = 0; n < s.n; n++)
        for (int i = 0; i < s.h * s.w; i++) {
            double distance = x[place(s, n, c, i)] - mean;
            variance += distance * distance / count;
        }
    norm->mean[c] = mean;
    norm->variance[c] = variance;
    if (count < 2) return; /* one value has no variance */
    norm->running_mean[c] += norm->momentum * (mean - norm->running_mean[c]);
    norm->running_var[c] += norm->momentum * (variance * count / (count - 1) - norm->running_var[c]);
}

void kernel_oracle_norm_forward(const kernel_oracle_norm *norm, const double *x, const double *residual, double *y)
{
    kernel_shape s = norm->shape;

    for (int c = 0; c < s.c; c++) {
        if (norm->frozen) {
            norm->mean[c] = norm->running_mean[c];
            norm->variance[c] = norm->running_var[c];
        } else
            measure(norm, x, c);
        for (int n = 0; n < s.n; n++)
            for (int i = 0; i < s.h * s.w; i++) {
                size_t at = place(s, n, c, i);
                y[at] = (x[at] - norm->mean[c]) / sqrt(norm->variance[c] + norm->eps) * norm->gamma[c] + norm->beta[c];
                if (residual) y[at] += residual[at];
                if (norm->relu && y[at] < 0) y[at] = 0;
            }
    }
}

/* x-hat = (x - mean) / std;  dz = dy where the ReLU let it through;  m = elements of the channel
 * dx = gamma / std * (dz - [sum dz + x-hat * sum(dz * x-hat)] / m), without the bracket if frozen. */
void kernel_oracle_norm_backward(const kernel_oracle_norm *norm, const double *dy, const double *x, const double *y,
                                 double *dx, double *dgamma, double *dbeta, double *dresidual)
{
    kernel_shape s = norm->shape;
    double m = norm->frozen ? INFINITY : (double)s.n * s.h * s.w;

    for (int c = 0; c < s.c; c++) {
        double inverse = 1 / sqrt(norm->variance[c] + norm->eps);
        dgamma[c] = dbeta[c] = 0;
        for (int pass = 0; pass < 2; pass++)
            for (int n = 0; n < s.n; n++)
                for (int i = 0; i < s.h * s.w; i++) {
                    size_t at = place(s, n, c, i);
                    double dz = norm->relu && y[at] <= 0 ? 0 : dy[at], hat = (x[at] - norm->mean[c]) * inverse;
                    if (pass == 0) {
                        dbeta[c] += dz;
                        dgamma[c] += dz * hat;
                    } else {
                        dx[at] = norm->gamma[c] * inverse * (dz - dbeta[c] / m - hat * dgamma[c] / m);
                        if (dresidual) dresidual[at] = dz;
                    }
                }
    }
}
