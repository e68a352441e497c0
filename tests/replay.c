/* SPDX-License-Identifier: MIT */
// worlds: last
/*
 * replay: a page holds what its trace says and sources below one folder, nothing else of the machine; a large trace
 * takes time proportional to its size.
 */
#include "replay/page.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/util/commands.h"

/* ---- A folder with sources, and things beside it ---- */

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(in_folder(name), "we");
    cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void make_files(void)
{
    make_test_folder();
    cr_assert(mkdir(in_folder("in"), 0700) == 0 && mkdir(in_folder("in/deep"), 0700) == 0 &&
              mkdir(in_folder("in-other"), 0700) == 0);
    write_file("in/plain.c", "SHOWN 1\n");
    write_file("in/deep/more.cl", "SHOWN 2\n");
    write_file("in/notes.txt", "SECRET 1\n");
    write_file("in-other/secret.c", "SECRET 2\n");
    write_file("secret.c", "SECRET 3\n");
    cr_assert(symlink("../secret.c", in_folder("in/link.c")) == 0 && symlink("notes.txt", in_folder("in/text.c")) == 0);
    cr_assert(symlink("plain.c", in_folder("in/same.c")) == 0);
    cr_assert(mkfifo(in_folder("in/pipe.c"), 0600) == 0 && mkdir(in_folder("in/folder.c"), 0700) == 0);
    write_file("in/huge.c", "SECRET 4\n");
    cr_assert(truncate(in_folder("in/huge.c"), 1L << 30) == 0);
}

/* The page of a trace with a call in line 1 of each of these files. Free it. */
static char *page_naming(const char *const *names, size_t count, const char *source_folder, size_t *refused)
{
    char *text, *page, why[300];
    size_t bytes, page_bytes;
    replay_trace trace;
    FILE *out = open_memstream(&text, &bytes);
    fputs("{\"traceEvents\":[", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out,
                "%s{\"ph\":\"X\",\"name\":\"p2p_send\",\"cat\":\"call\",\"ts\":%zu,\"dur\":1,\"tid\":0,\"args\":"
                "{\"rank\":0,\"file\":\"%s\",\"line\":1}}",
                i ? "," : "", i, names[i]);
    fputs("],\"pairwise\":{\"ranks\":1}}", out);
    cr_assert(fclose(out) == 0);
    cr_assert(replay_read_text(text, bytes, "it", &trace, why, sizeof why), "%s", why);
    free(text);
    out = open_memstream(&page, &page_bytes);
    *refused = replay_page(out, &trace, NULL, "", source_folder);
    cr_assert(fclose(out) == 0);
    replay_free(&trace);
    return page;
}

Test(page, shows_sources_below_its_folder, .init = make_files, .fini = remove_test_folder)
{
    char whole[300], in[300];
    snprintf(whole, sizeof whole, "%s/in/plain.c", test_folder);
    snprintf(in, sizeof in, "%s/in", test_folder);
    const char *const names[] = {whole, "deep/more.cl", "same.c", "deep/missing.c"};
    size_t refused;
    char *page = page_naming(names, 4, in, &refused);
    ASSERT_CONTAINS(page, "SHOWN 1");
    ASSERT_CONTAINS(page, "SHOWN 2");
    cr_assert(refused == 0, "%zu refused", refused);
    free(page);
}

Test(page, shows_nothing_else_of_the_machine, .init = make_files, .fini = remove_test_folder)
{
    char outside[300], beside[300], in[300];
    snprintf(outside, sizeof outside, "%s/secret.c", test_folder);
    snprintf(beside, sizeof beside, "%s/in-other/secret.c", test_folder);
    snprintf(in, sizeof in, "%s/in", test_folder);
    const char *const names[] = {outside,
                                 beside,
                                 "../secret.c",
                                 "deep/../../secret.c",
                                 "/etc/passwd",
                                 "notes.txt",
                                 "link.c",
                                 "text.c",
                                 "pipe.c",
                                 "folder.c",
                                 "/dev/zero",
                                 "huge.c",
                                 "deep/..",
                                 "../in/plain.c",
                                 "/proc/self/environ"};
    size_t refused, count = sizeof names / sizeof *names;
    char *page = page_naming(names, count, in, &refused);
    ASSERT_LACKS(page, "SECRET");
    ASSERT_LACKS(page, "SHOWN");
    ASSERT_LACKS(page, "root:");
    cr_assert(refused == count, "%zu of %zu refused", refused, count);
    free(page);
}

/* ---- Where the page goes ---- */

#define A_TRACE                                                                                                \
    "cd $D; replay() { ${L%/launch}/replay \"$@\"; }; echo '{\"traceEvents\":[],\"pairwise\":{\"ranks\":2}}' " \
    ">t.json\n"

/* Into a FIFO, and through links, which stay what they are; the page is whole. */
Test(page, goes_into_what_stands_there, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work(A_TRACE "mkfifo pipe; ln -s pipe to_pipe; cat <pipe >first & replay t.json -o pipe; wait\n"
                      "cat <pipe >second & replay t.json -o to_pipe; wait\n"
                      "[ -p pipe ] && [ -L to_pipe ] && grep -q '</html>' first && cmp first second");
    must_work(A_TRACE "mkdir in; echo old >in/page; ln -s in/page to_page; replay t.json -o to_page\n"
                      "[ -L to_page ] && grep -q '</html>' in/page && [ $(ls in | wc -l) = 1 ]");
    must_work(A_TRACE "ln -s new to_new; replay t.json -o to_new; [ -L to_new ] && grep -q '</html>' new");
}

/* Whatever name it has: 2, called wrongly. A page that cannot be written leaves what was there. */
Test(page, does_not_take_the_place_of_its_trace, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work(A_TRACE "ln -s t.json link; cp t.json kept\n"
                      "for name in t.json ./t.json ../${D##*/}/t.json $D/t.json link; do\n"
                      "    replay t.json -o $name; [ $? = 2 ] || exit 1\n"
                      "done; cmp t.json kept");
    must_work(A_TRACE "echo old >picture.svg; replay t.json -o picture.svg; [ $? = 1 ] && grep -q old picture.svg &&\n"
                      "[ $(ls picture* | wc -l) = 1 ]");
}

/* ---- Time ---- */

/* Processor time, so that a busy machine does not count. */
Test(trace, with_many_names_is_read_in_proportionate_time)
{
    enum { COUNT = 150000 };
    char *text, why[300];
    size_t bytes;
    replay_trace trace;
    FILE *out = open_memstream(&text, &bytes);
    fputs("{\"traceEvents\":[", out);
    for (int i = 0; i < COUNT; i++)
        fprintf(out,
                "%s{\"ph\":\"X\",\"name\":\"name %d\",\"cat\":\"call\",\"ts\":%d,\"dur\":1,\"tid\":0,\"args\":"
                "{\"rank\":0}}",
                i ? "," : "", i, i);
    fputs("],\"pairwise\":{\"ranks\":1}}", out);
    cr_assert(fclose(out) == 0);
    clock_t begin = clock();
    cr_assert(replay_read_text(text, bytes, "it", &trace, why, sizeof why), "%s", why);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    cr_assert(seconds < 5, "%d names took %.1f s", COUNT, seconds);
    cr_assert(trace.text_count == COUNT && trace.slice_count == COUNT);
    cr_assert_str_eq(replay_text(&trace, trace.slices[COUNT - 1].name), "name 149999");
    replay_free(&trace);
    free(text);
}

/* ---- What the page could not show ---- */

static bool reads(const char *text)
{
    char why[300];
    replay_trace trace;
    bool fine = replay_read_text(text, strlen(text), "it", &trace, why, sizeof why);
    if (fine) replay_free(&trace);
    return fine;
}

/* One message and what computes before it: a bar, an arrow, a row for each rank. Without either there is no picture. */
Test(trace, becomes_a_picture)
{
    static const char with[] =
        "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"p2p_send\",\"cat\":\"call\",\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":3,"
        "\"args\":{\"rank\":0,\"depth\":0,\"comm\":0}}],\"pairwise\":{\"ranks\":2}}",
                      without[] = "{\"traceEvents\":[],\"pairwise\":{\"ranks\":2}}";
    char why[300], *svg = NULL;
    size_t bytes;
    replay_trace trace;
    cr_assert(replay_read_text(with, sizeof with - 1, "it", &trace, why, sizeof why), "%s", why);
    FILE *out = open_memstream(&svg, &bytes);
    cr_expect(replay_picture(out, &trace, "a < b"));
    fclose(out);
    cr_expect(strstr(svg, ">a &#60; b</text>") && strstr(svg, ">rank 1</text>") && strstr(svg, "class=\"calls\""), "%s",
              svg);
    cr_expect(strstr(svg, "</svg>"));
    free(svg);
    replay_free(&trace);
    cr_assert(replay_read_text(without, sizeof without - 1, "it", &trace, why, sizeof why), "%s", why);
    out = open_memstream(&svg, &bytes);
    cr_expect(!replay_picture(out, &trace, ""));
    fclose(out);
    free(svg);
    replay_free(&trace);
}

/* An event has what it says, and nothing of the one before. */
Test(trace, keeps_events_apart)
{
    static const char text[] =
        "{\"traceEvents\":[{\"ph\":\"i\",\"cat\":\"end\",\"ts\":1,\"name\":\"end\",\"args\":{\"text\":"
        "\"deadlock\"}},{\"ph\":\"i\",\"cat\":\"end\",\"ts\":1,\"name\":\"stuck\",\"args\":{\"rank\":0,"
        "\"call\":\"a(1)\",\"function\":\"a\",\"file\":\"a.c\",\"line\":1}},{\"ph\":\"i\",\"cat\":\"end\","
        "\"ts\":1,\"name\":\"finished\",\"args\":{\"rank\":1}}],\"pairwise\":{\"ranks\":2}}";
    char why[300];
    replay_trace trace;
    cr_assert(replay_read_text(text, sizeof text - 1, "it", &trace, why, sizeof why), "%s", why);
    cr_expect_str_eq(replay_text(&trace, trace.last[0].function), "a");
    cr_expect_str_eq(replay_text(&trace, trace.last[1].function), "");
    cr_expect_str_eq(replay_text(&trace, trace.last[1].call), "");
    cr_expect_str_eq(replay_text(&trace, trace.last[1].file), "");
    replay_free(&trace);
}

Test(trace, of_numbers_or_ranks_that_cannot_be_is_refused)
{
    cr_assert(!reads("{\"traceEvents\":[],\"pairwise\":{\"ranks\":2,\"dropped\":1e999}}"));
    cr_assert(!reads("{\"traceEvents\":[{\"ph\":\"i\",\"cat\":\"end\",\"ts\":1,\"name\":\"end\",\"args\":"
                     "{\"text\":\"deadlock\",\"cycle\":[0,7]}}],\"pairwise\":{\"ranks\":2}}"));
    cr_assert(!reads("{\"traceEvents\":[{\"ph\":\"i\",\"cat\":\"end\",\"ts\":1,\"name\":\"stuck\",\"args\":"
                     "{\"rank\":0,\"waits_for\":[1000]}}],\"pairwise\":{\"ranks\":2}}"));
}
