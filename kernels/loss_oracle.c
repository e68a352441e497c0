/* SPDX-License-Identifier: MIT */
/*
 * loss_oracle: the linear layer and softmax cross-entropy as they are defined.
 */
#include <math.h>
#include <string.h>

#include "kernels/oracle.h"

void kernel_oracle_linear_forward(int n, int c, int k, const double *x, const double *weight, const double *bias,
                                  double *y)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++) {
            y[i * k + j] = bias[j];
            for (int l = 0; l < c; l++) y[i * k + j] += x[i * c + l] * weight[j * c + l];
        }
}

void kernel_oracle_linear_backward(int n, int c, int k, const double *x, const double *weight, const double *dy,
                                   double *dx, double *dweight, double *dbias)
{
    memset(dx, 0, (size_t)(n * c) * sizeof *dx);
    memset(dweight, 0, (size_t)(k * c) * sizeof *dweight);
    memset(dbias, 0, (size_t)k * sizeof *dbias);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++) {
            dbias[j] += dy[i * k + j];
            for (int l = 0; l < c; l++) {
                dx[i * c + l] += dy[i * k + j] * weight[j * c + l];
                dweight[j * c + l] += dy[i * k + j] * x[i * c + l];
            }
        }
}

static int largest(int k, const double *logits)
{
    int best = 0;

    for (int j = 1; j < k; j++)
        if (logits[j] > logits[best]) best = j;
    return best;
}

double kernel_oracle_cross_entropy(int n, int k, const double *logits, const int *labels, double scale, double *dlogits,
                                   int *correct)
{
    double loss = 0;

    *correct = 0;
    for (int i = 0; i < n; i++, logits += k) {
        int best = largest(k, logits);
        double sum = 1; /* exp(0), of the largest */
        for (int j = 0; j < k; j++)
            if (j != best) sum += exp(logits[j] - logits[best]);
        loss += log(sum) - (logits[labels[i]] - logits[best]);
        *correct += best == labels[i];
        for (int j = 0; j < k && dlogits; j++)
            dlogits[i * k + j] = scale * (exp(logits[j] - logits[best]) / sum - (j == labels[i]));
    }
    return loss;
}
