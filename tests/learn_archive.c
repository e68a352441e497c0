/* SPDX-License-Identifier: MIT */
// worlds: none
/* learn_archive: what is handed in as an archive, and what is tried with archives. They are made here, by libarchive. */
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "learn/grade/sandbox.h"
#include "learn/grade/submission.h"
#include "tests/util/folder.h"
#include "tests/util/suite.h"

/* cppcheck-suppress unknownMacro */
TestSuite(learn_archive, .init = make_test_folder, .fini = remove_test_folder);

static const char text[] = "int x;\n";

/* A new archive of that name, whose ending says what it is; with the password "p" if it is locked. */
static struct archive *begin(const char *name, bool locked)
{
    struct archive *a = archive_write_new();
    setlocale(LC_CTYPE, "C.UTF-8"); /* names are marked as UTF-8 then; learn itself runs in the C locale */
    if (strstr(name, ".zip"))
        archive_write_set_format_zip(a);
    else
        archive_write_set_format_pax(a);
    if (strstr(name, "gz")) archive_write_add_filter_gzip(a);
    if (locked) cr_assert_eq(archive_write_set_options(a, "zip:encryption=zipcrypt"), ARCHIVE_OK);
    if (locked) archive_write_set_passphrase(a, "p");
    cr_assert_eq(archive_write_open_filename(a, in_folder(name)), ARCHIVE_OK);
    return a;
}

/* A file, or whatever type says; with bytes of zeros behind the text. */
static void add(struct archive *a, const char *path, unsigned type, size_t zeros)
{
    static const char nothing[1 << 16];
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, path);
    archive_entry_set_filetype(entry, type);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, type == AE_IFREG ? (la_int64_t)(strlen(text) + zeros) : 0);
    if (type == AE_IFLNK) archive_entry_set_symlink(entry, "/etc/passwd");
    cr_assert_eq(archive_write_header(a, entry), ARCHIVE_OK);
    if (type == AE_IFREG) archive_write_data(a, text, strlen(text));
    for (size_t part; type == AE_IFREG && zeros; zeros -= part) {
        part = zeros < sizeof nothing ? zeros : sizeof nothing;
        archive_write_data(a, nothing, part);
    }
    archive_entry_free(entry);
}

static learn_submission end(struct archive *a, const char *name)
{
    learn_submission s;
    cr_assert_eq(archive_write_close(a), ARCHIVE_OK);
    archive_write_free(a);
    setlocale(LC_CTYPE, "C");
    learn_submission_read(&s, in_folder(name), false);
    return s;
}

/* So many files were taken, the first one whole, and this was said of the rest. */
static void holds(learn_submission s, size_t count, const char *trouble)
{
    cr_assert_eq(s.count, count, "%zu files, not %zu: %s", s.count, count, learn_string(&s.trouble));
    if (count) ASSERT_CONTAINS(s.files[0].text, text);
    if (*trouble)
        ASSERT_CONTAINS(learn_string(&s.trouble), trouble);
    else
        cr_assert_str_eq(learn_string(&s.trouble), "");
    cr_assert_str_eq(s.name, "ada");
    learn_submission_free(&s);
}

static const char *const names[] = {"ada.tar", "ada.tar.gz", "ada.tgz", "ada.zip"};

Test(learn_archive, tar_gzip_and_zip)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct archive *a = begin(names[i], false);
        add(a, "ada", AE_IFDIR, 0);
        add(a, "ada/08_broadcast/broadcast.c", AE_IFREG, 0);
        add(a, "ad\303\251/10_reduce/reduce.c", AE_IFREG, 0);
        add(a, "ada/notes.txt", AE_IFREG, 100000);
        add(a, "tree_broadcast.c", AE_IFREG, 0);
        holds(end(a, names[i]), 3, "");
    }
}

Test(learn_archive, names_lead_nowhere_and_links_are_left_out)
{
    for (size_t i = 0; i < 2; i++) {
        struct archive *a = begin(names[3 * i], false);
        add(a, "/../../../../tmp/../08_broadcast/broadcast.c", AE_IFREG, 0);
        add(a, "10_reduce/reduce.c", AE_IFLNK, 0);
        if (i == 0) add(a, "10_reduce/helper.c", AE_IFCHR, 0);
        if (i == 0) add(a, "10_reduce/other.c", AE_IFIFO, 0);
        holds(end(a, names[3 * i]), 1, "");
    }
}

Test(learn_archive, a_file_that_is_too_large)
{
    struct archive *a = begin("ada.zip", false);
    add(a, "08_broadcast/broadcast.c", AE_IFREG, LEARN_HANDED_BYTES - strlen(text));
    add(a, "10_reduce/reduce.c", AE_IFREG, LEARN_HANDED_BYTES - strlen(text) + 1);
    add(a, "08_broadcast/other.c", AE_IFREG, 0);
    holds(end(a, "ada.zip"), 2, "10_reduce/reduce.c is left out: it is too large");
}

Test(learn_archive, what_unpacks_to_more_than_any_disk_holds)
{
    for (size_t i = 1; i < sizeof names / sizeof *names; i++) {
        struct archive *a = begin(names[i], false);
        add(a, "08_broadcast/broadcast.c", AE_IFREG, 0);
        add(a, "bomb", AE_IFREG, (size_t)65 << 20);
        add(a, "10_reduce/reduce.c", AE_IFREG, 0);
        holds(end(a, names[i]), 1, "too large: only its beginning was read");
    }
}

/* What is kept of it, and what is said, is short, however many files there are. */
Test(learn_archive, many_files_are_not_read)
{
    char name[250];
    struct archive *a = begin("ada.tar.gz", false);
    for (int i = 0; i < 6000; i++) {
        snprintf(name, sizeof name, "%0200d/08_broadcast/f%d.c", i, i);
        add(a, name, AE_IFREG, 0);
    }
    learn_submission s = end(a, "ada.tar.gz");
    cr_assert_eq(s.count, 256);
    cr_assert_lt(s.trouble.used, 2000);
    ASSERT_CONTAINS(learn_string(&s.trouble), "More files are left out. ");
    ASSERT_CONTAINS(learn_string(&s.trouble), "too large: only its beginning was read");
    learn_submission_free(&s);
}

Test(learn_archive, large_files_are_not_all_kept)
{
    char name[64];
    struct archive *a = begin("ada.zip", false);
    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "08_broadcast/f%d.c", i);
        add(a, name, AE_IFREG, LEARN_HANDED_BYTES - strlen(text));
    }
    learn_submission s = end(a, "ada.zip");
    cr_assert_eq(s.count, 8);
    cr_assert_leq(s.bytes, LEARN_ALL_BYTES);
    learn_submission_free(&s);
}

/* ---- What a submission can write, nobody follows ---- */

Test(learn_archive, folders_are_removed_and_links_are_not_followed)
{
    char top[300];
    snprintf(top, sizeof top, "%s", in_folder("tree"));
    cr_assert_eq(mkdir(in_folder("kept"), 0755), 0);
    cr_assert(learn_write_file(in_folder("kept/file"), text, strlen(text)));
    cr_assert_eq(mkdir(top, 0755), 0);
    cr_assert_eq(symlink("../kept", in_folder("tree/link")), 0);
    int at = open(top, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < 300; i++) { /* deeper than a path may be long */
        static const char name[] = "a_folder_in_a_folder_in_a_folder";
        cr_assert_eq(mkdirat(at, name, 0755), 0);
        int inner = openat(at, name, O_RDONLY | O_DIRECTORY);
        close(at);
        at = inner;
    }
    close(at);
    learn_remove_tree(top);
    cr_assert_neq(access(top, F_OK), 0);
    cr_assert_eq(access(in_folder("kept/file"), F_OK), 0);
}

Test(learn_archive, a_planted_name_is_not_taken)
{
    learn_sandbox box = {.number = 0};
    struct stat s;
    cr_assert_eq(mkdir(in_folder("kept"), 0755), 0);
    cr_assert_eq(symlink("kept", in_folder("work")), 0);
    cr_assert_not(learn_make_for(&box, in_folder("work"), LEARN_SUBMISSION));
    cr_assert(lstat(in_folder("kept"), &s) == 0 && (s.st_mode & 0777) == 0755);
    cr_assert(learn_make_for(&box, in_folder("own"), LEARN_GRADER));
}

Test(learn_archive, only_plain_files_are_read)
{
    size_t bytes;
    cr_assert(learn_write_file(in_folder("file"), text, strlen(text)));
    OWNED char *read = learn_read_plain_file(in_folder("file"), sizeof text, &bytes);
    cr_assert(read && bytes == strlen(text));
    cr_assert_null(learn_read_plain_file(in_folder("file"), 3, NULL), "it is longer");
    cr_assert_eq(symlink("file", in_folder("link")), 0);
    cr_assert_null(learn_read_plain_file(in_folder("link"), sizeof text, NULL));
    cr_assert_eq(mkfifo(in_folder("fifo"), 0644), 0);
    cr_assert_null(learn_read_plain_file(in_folder("fifo"), sizeof text, NULL));
    cr_assert_eq(link(in_folder("file"), in_folder("other")), 0);
    cr_assert_null(learn_read_plain_file(in_folder("file"), sizeof text, NULL), "it has two names");
}

Test(learn_archive, one_that_is_locked)
{
    struct archive *a = begin("ada.zip", true);
    add(a, "08_broadcast/broadcast.c", AE_IFREG, 0);
    holds(end(a, "ada.zip"), 0, "locked by a password");
}

/* At any place: the files before it are there, and it is said. */
Test(learn_archive, one_that_is_cut_off)
{
    static const long at[] = {0, 1, 100, 600, 1800, 2600};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct archive *a = begin("ada.tar", false);
        add(a, "08_broadcast/broadcast.c", AE_IFREG, 0);
        add(a, "10_reduce/reduce.c", AE_IFREG, 5000);
        learn_submission s = end(a, "ada.tar");
        learn_submission_free(&s);
        cr_assert_eq(truncate(in_folder("ada.tar"), at[i]), 0);
        learn_submission_read(&s, in_folder("ada.tar"), false);
        holds(s, at[i] >= 1800, at[i] < 512 ? "empty or cannot be read" : "damaged or cut off");
    }
}

Test(learn_archive, one_with_a_header_that_was_changed)
{
    struct archive *a = begin("ada.tar", false);
    add(a, "08_broadcast/broadcast.c", AE_IFREG, 0);
    add(a, "10_reduce/reduce.c", AE_IFREG, 0);
    learn_submission s = end(a, "ada.tar");
    learn_submission_free(&s);
    FILE *file = fopen(in_folder("ada.tar"), "r+b");
    cr_assert(file);
    bool changed = fseek(file, 1024 + 3, SEEK_SET) == 0 && fputc('9', file) != EOF;
    cr_assert(fclose(file) == 0 && changed);
    learn_submission_read(&s, in_folder("ada.tar"), false);
    holds(s, 1, "damaged or cut off");
}
