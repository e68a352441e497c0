/* SPDX-License-Identifier: MIT */
/*
 * Reports of steps, one step late: the device's times are known when it has finished the step, and the other ranks'
 * losses when they have arrived. To wait for them earlier would make the device wait for the host, and the host for the
 * other ranks.
 */
#include "p2p/p2p_layer.h"
#include "ring/ring.h"
#include "trainer/run.h"

/* The step has been queued to its end: note the time, take the marks, and begin to add up the sums of all ranks. */
p2p_err train__report_step(train_runner *r)
{
    train_pending *p = &r->pending;
    double now = p2p_time(r->comm);
    p->seconds = now - r->last_end;
    r->last_end = now;
    p->examples = r->examples;
    p->marks = train__take_marks(r->network);
    p->waiting = true;
    train__keep_time(r);
    return train__comm(r->comm, r->error, ring_iall_reduce(r->comm, p->sums, 3, DTYPE_F64, OP_SUM, &p->under_way));
}

/* Of several batches the device's times are those of the last. */
static train_step_report complete(const train_pending *p, const train_settings *s)
{
    double images = (double)p->images, batches = (double)train__batches_of(s);
    return (train_step_report){.step = p->step,
                               .epoch = p->epoch,
                               .examples = p->examples,
                               .loss = p->sums[0] / images,
                               .accuracy = p->sums[1] / images,
                               .forward = batches * train__between(&p->marks, TRAIN_BEGIN, TRAIN_FORWARD_DONE),
                               .backward = batches * train__between(&p->marks, TRAIN_FORWARD_DONE, TRAIN_BACKWARD_DONE),
                               .sync = p->sync,
                               .optimizer = train__between(&p->marks, TRAIN_UPDATE, TRAIN_UPDATE_DONE),
                               .load = p->load,
                               .seconds = p->seconds,
                               .images_per_s = images / p->seconds,
                               .lr = p->lr,
                               .norm = p->norm,
                               .copied = p->copied,
                               .held = p->held};
}

p2p_err train__report_settle(train_runner *r)
{
    train_pending *p = &r->pending;
    if (!p->waiting) return P2P_OK;
    p->waiting = false;
    p2p_err err = train__comm(r->comm, r->error, p2p_wait(&p->under_way, P2P_STATUS_IGNORE));
    train_step_report report = complete(p, r->settings);
    train__free_marks(&p->marks);
    if (err) return err;
    r->loss_sum += p->sums[0];
    r->stopping = r->stopping || p->sums[2] > 0;
    r->settled = p->step;
    if (r->metrics) train__metrics_step(r->metrics, &report);
    train__metrics_check(r, false);
    r->metrics_step = p->step;
    if (r->rank == 0) {
        train__progress_step(r, &report);
        p2p_layer_gauge(r->comm, "loss", report.loss);
        p2p_layer_gauge(r->comm, "images_per_second", report.images_per_s);
    }
    return r->settings->timeline ? train__timeline(r, &report) : P2P_OK;
}

/* After an error. The sums are still on their way into the runner: every rank has begun to send them. */
void train__report_drop(train_runner *r)
{
    train_pending *p = &r->pending;
    if (p->waiting) p2p_wait(&p->under_way, P2P_STATUS_IGNORE);
    p->waiting = false;
    train__free_marks(&p->marks);
}

void train__report_epoch(train_runner *r, const train_epoch_report *report)
{
    if (r->metrics_epochs > report->epoch) return; /* before the death of a rank */
    r->metrics_epochs = report->trained ? report->epoch + 1
                                        : report->epoch; /* the end of this epoch is still to come */
    if (r->metrics) train__metrics_epoch(r->metrics, report);
    train__metrics_check(r, false);
    if (r->rank == 0) train__progress_epoch(r, report);
}
