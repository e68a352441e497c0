/* SPDX-License-Identifier: MIT */
/*
 * --plot: pictures of a run from its metrics.jsonl, by gnuplot: loss and learning rate, accuracy, and where the time of
 * each step went, each as SVG and PNG. The script stays beside them, with the numbers in it:
 *
 *      cd DIR && gnuplot plot.gp
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trainer/durable.h"
#include "trainer/run.h"

#define SCRIPT "plot.gp"

static const char drawing[] =
    "set grid\n"
    "set key outside bottom center horizontal\n"
    "stats $steps using 3 name \"rate\" nooutput\n"
    "stats $steps using ($4+$5+$6+$7) name \"time\" nooutput\n"
    "most = time_max > 3 * time_up_quartile && time_up_quartile > 0 ? 3 * time_up_quartile : 1.05 * time_max\n"
    "do for [format in \"svg png\"] {\n"
    "    if (format eq \"svg\") { set terminal svg size 900,500 background rgb \"white\" font \"sans,13\" }\n"
    "    if (format eq \"png\") { set terminal pngcairo size 900,500 font \"sans,11\" }\n"
    "    set xlabel \"step\"\n"
    "    set xrange [0 : last + 1]\n"
    "    set yrange [0 : *]\n"
    "    set output \"loss.\".format\n"
    "    set ylabel \"loss, in training\"\n"
    "    set y2label \"learning rate\"\n"
    "    set y2range [0 : (rate_max > 0 ? 1.1 * rate_max : 1)]\n"
    "    set ytics nomirror\n"
    "    set y2tics\n"
    "    plot $steps using 1:2 with linespoints pt 7 ps 0.3 lc rgb \"#0072b2\" title \"loss\", \\\n"
    "         $steps using 1:3 axes x1y2 with lines dt 2 lc rgb \"#d55e00\" title \"learning rate\"\n"
    "    unset y2tics\n"
    "    unset y2label\n"
    "    set ytics mirror\n"
    "    set output \"time.\".format\n"
    "    set ylabel \"time of a step, rank 0 (ms)\"\n"
    "    set boxwidth 1\n"
    "    set style fill solid\n"
    "    set yrange [0 : (most > 0 ? most : 1)]\n" /* a step that took far longer goes beyond the picture */
    "    plot $steps using 1:($4+$5+$6+$7) with boxes lc rgb \"#cc79a7\" title \"optimiser\", \\\n"
    "         $steps using 1:($4+$5+$6) with boxes lc rgb \"#d55e00\" title \"sync, waited for\", \\\n"
    "         $steps using 1:($4+$5) with boxes lc rgb \"#56b4e9\" title \"backward\", \\\n"
    "         $steps using 1:4 with boxes lc rgb \"#0072b2\" title \"forward\"\n"
    "    set output \"accuracy.\".format\n"
    "    set xlabel \"epoch\"\n"
    "    set ylabel \"accuracy, of the test images (%)\"\n"
    "    set xrange [-0.5 : *]\n"
    "    set yrange [0 : 100]\n"
    "    plot $epochs using 1:(100*$2) with linespoints pt 7 lc rgb \"#009e73\" notitle\n"
    "    set output\n"
    "}\n";

/* ---- Can it be drawn? ---- */

static bool is_installed(const char *program)
{
    char path[PATH_MAX];
    for (const char *at = getenv("PATH"); at && *at; at += *at == ':') {
        size_t length = strcspn(at, ":");
        int used = snprintf(path, sizeof path, "%.*s/%s", (int)length, at, program);
        if (used < (int)sizeof path && access(path, X_OK) == 0) return true;
        at += length;
    }
    return false;
}

p2p_err train__check_plot(const train_settings *s, train_error *error)
{
    if (!s->out && !s->resume)
        return train__fail(error, P2P_ERR_ARG, "--plot draws the run that --out keeps\n  try: --out DIR as well");
    if (s->eval_only) return train__fail(error, P2P_ERR_ARG, "--plot and --eval-only: there are no steps to draw");
    if (!is_installed("gnuplot"))
        return train__fail(error, P2P_ERR_ARG,
                           "--plot needs gnuplot, and it is not in PATH\n"
                           "  try: apt-get install gnuplot-nox");
    return train__make_folder("--plot", s->plot, error);
}

/* ---- From metrics.jsonl to a script ---- */

/* The number behind "key": of a line; NaN is what gnuplot leaves out. */
static double value_of(const char *line, const char *key)
{
    char quoted[40];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(line, quoted);
    char *end = NULL;
    double value = at ? strtod(at + strlen(quoted), &end) : 0;
    return end && end != at + strlen(quoted) ? value : (double)NAN;
}

/* The numbers of the lines that have `needs`; returns how many lines there were, *last their last first number. */
static size_t write_numbers(FILE *metrics, const char *needs, const char *const keys[], FILE *script, double *last)
{
    char *line = NULL;
    size_t room = 0, lines = 0;
    rewind(metrics);
    while (getline(&line, &room, metrics) >= 0) {
        if (!strstr(line, needs)) continue;
        for (size_t k = 0; keys[k]; k++) fprintf(script, "%.9g ", value_of(line, keys[k]));
        fputc('\n', script);
        *last = value_of(line, keys[0]);
        lines++;
    }
    free(line);
    return lines;
}

/* How many steps there are in it. */
static size_t write_script(FILE *metrics, FILE *script)
{
    static const char *const of_step[] = {"step", "loss", "lr", "fwd_ms", "bwd_ms", "sync_ms", "opt_ms", NULL};
    static const char *const of_epoch[] = {"epoch", "accuracy", NULL};
    double last = 0, epoch;
    fputs("# Drawn by build/train --plot; gnuplot " SCRIPT " draws it again.\n$steps << END\n", script);
    size_t steps = write_numbers(metrics, "\"loss\":", of_step, script, &last);
    fputs("END\n$epochs << END\n", script);
    write_numbers(metrics, "\"accuracy\":", of_epoch, script, &epoch);
    fprintf(script, "END\nlast = %.9g\n%s", last, drawing);
    return steps;
}

static p2p_err make_script(const char *run, const char *folder, train_error *error)
{
    char from[PATH_MAX], to[PATH_MAX];
    if (snprintf(from, sizeof from, "%s/metrics.jsonl", run) >= (int)sizeof from ||
        snprintf(to, sizeof to, "%s/" SCRIPT, folder) >= (int)sizeof to)
        return train__fail(error, P2P_ERR_ARG, "%.100s...: the path is too long", folder);
    FILE *metrics = fopen(from, "re");
    if (!metrics) return train__fail(error, P2P_ERR_SYS, "%s: %s", from, strerror(errno));
    int fd = train__open_anew(to);
    FILE *script = fd < 0 ? NULL : fdopen(fd, "w+");
    p2p_err err = script ? P2P_OK : train__fail(error, P2P_ERR_SYS, "%s: %s", to, strerror(errno));
    if (script && !write_script(metrics, script)) err = train__fail(error, P2P_ERR_ARG, "%s has no steps", from);
    fclose(metrics);
    if (script && fclose(script) && !err) err = train__fail(error, P2P_ERR_SYS, "%s: %s", to, strerror(errno));
    return err;
}

/* ---- Draw ---- */

p2p_err train__plot(const char *run, const char *folder, train_error *error)
{
    p2p_err err = make_script(run, folder, error);
    int status = -1;
    if (err) return err;
    pid_t child = fork();
    if (child == 0) {
        if (chdir(folder) == 0) execlp("gnuplot", "gnuplot", SCRIPT, (char *)NULL);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (status == 0) return P2P_OK;
    return train__fail(error, P2P_ERR_SYS, "gnuplot %s/" SCRIPT " failed", folder);
}
