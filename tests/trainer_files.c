/* SPDX-License-Identifier: MIT */
// worlds: none
/*
 * trainer_files: safetensors: what is written is read again; what is damaged is refused, wherever the damage is; a file
 * is replaced whole or not at all. Needs no device.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "p2p/shared/crc.h"
#include "tests/util/folder.h"
#include "tests/util/suite.h"
#include "trainer/run.h"
#include "trainer/safetensors.h"
#include "trainer/trainer.h"

static const char *path;

static void make_folder(void)
{
    make_test_folder();
    path = in_folder("file.safetensors");
}

/* ---- Bytes on disk ---- */

static size_t read_bytes(char *bytes, size_t room)
{
    FILE *file = fopen(path, "re");
    cr_assert(file != NULL);
    size_t got = fread(bytes, 1, room, file);
    fclose(file);
    return got;
}

static void write_bytes(const char *bytes, size_t count)
{
    FILE *file = fopen(path, "we");
    cr_assert(file != NULL && fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
}

static const float numbers[6] = {1, -2, 3.5f, 0, 1e-30f, 6};
static const int64_t counter = 41;

static void write_small(void)
{
    static const size_t shape[2] = {2, 3}, none[1] = {0};
    train_piece pieces[] = {{"a.weight", "F32", 2, shape, numbers, sizeof numbers},
                            {"a.count", "I64", 0, none, &counter, sizeof counter}};
    train_note notes[] = {{"step", "12"}, {"said", "a \"quoted\" \\ word"}};
    train_error error;
    cr_assert(train__file_write(path, pieces, 2, notes, 2, &error) == P2P_OK, "%s", error.text);
}

Test(crc, is_castagnolis)
{
    char zeros[32] = {0};
    cr_assert(p2p__crc32c(0, "123456789", 9) == 0xe3069283u);
    cr_assert(p2p__crc32c(0, zeros, 32) == 0x8a9136aau);
    cr_assert(p2p__crc32c(p2p__crc32c(0, "1234", 4), "56789", 5) == 0xe3069283u);
}

/* ---- There and back ---- */

Test(file, is_read_as_it_was_written, .init = make_folder, .fini = remove_test_folder)
{
    train_file file;
    train_error error;
    write_small();
    cr_assert(train__file_read(path, &file, &error) == P2P_OK, "%s", error.text);
    const train_array *weight = train__file_find(&file, "a.weight"), *count = train__file_find(&file, "a.count");
    cr_assert(weight && count && file.array_count == 2);
    cr_assert(weight->dimensions == 2 && weight->shape[0] == 2 && weight->shape[1] == 3);
    cr_assert(memcmp(train__file_data(&file, weight), numbers, sizeof numbers) == 0);
    cr_assert(count->dimensions == 0 && memcmp(train__file_data(&file, count), &counter, 8) == 0);
    cr_assert_str_eq(train__file_note(&file, "step"), "12");
    cr_assert_str_eq(train__file_note(&file, "said"), "a \"quoted\" \\ word");
    cr_assert((8 + file.header) % 8 == 0, "the data is not aligned");
    train__file_free(&file);
}

static p2p_err read_error(train_error *error)
{
    train_file file;
    p2p_err err = train__file_read(path, &file, error);
    if (!err) train__file_free(&file);
    return err;
}

Test(file, cut_off_anywhere_is_refused, .init = make_folder, .fini = remove_test_folder)
{
    char bytes[4096];
    train_error error;
    write_small();
    size_t length = read_bytes(bytes, sizeof bytes);
    for (size_t kept = 0; kept < length; kept++) {
        write_bytes(bytes, kept);
        cr_assert(read_error(&error) == P2P_ERR_PROTO, "%zu of %zu bytes were read as a file", kept, length);
        ASSERT_CONTAINS(error.text, "at byte ");
        ASSERT_CONTAINS(error.text, path);
    }
    bytes[length] = 0;
    write_bytes(bytes, length + 1);
    cr_assert(read_error(&error) == P2P_ERR_PROTO, "a byte behind the end was not noticed");
}

Test(file, with_any_bit_flipped_is_refused, .init = make_folder, .fini = remove_test_folder)
{
    char bytes[4096];
    train_error error;
    write_small();
    size_t length = read_bytes(bytes, sizeof bytes);
    for (size_t bit = 0; bit < 8 * length; bit++) {
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        write_bytes(bytes, length);
        p2p_err err = read_error(&error);
        cr_assert(err == P2P_ERR_PROTO, "bit %zu of byte %zu (\"%c\") was not noticed", bit % 8, bit / 8,
                  bytes[bit / 8]);
        ASSERT_CONTAINS(error.text, "at byte ");
        bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    write_bytes(bytes, length);
    cr_assert(read_error(&error) == P2P_OK, "%s", error.text);
}

Test(file, damage_is_named_with_its_place, .init = make_folder, .fini = remove_test_folder)
{
    char bytes[4096], place[40];
    train_error error;
    write_small();
    size_t length = read_bytes(bytes, sizeof bytes);
    bytes[length - 8 - 10] ^= 1; /* in a.weight */
    write_bytes(bytes, length);
    cr_assert(read_error(&error) == P2P_ERR_PROTO);
    ASSERT_CONTAINS(error.text, "a.weight");
    snprintf(place, sizeof place, "at byte %zu:", length - 8 - sizeof numbers);
    ASSERT_CONTAINS(error.text, place);
    ASSERT_CONTAINS(error.text, "nothing was loaded");
}

Test(file, of_a_newer_version_is_refused, .init = make_folder, .fini = remove_test_folder)
{
    static const char crc_key[] = "\"" TRAIN_NOTE_HEADER_CRC "\":\"", version[] = "\"" TRAIN_NOTE_VERSION "\":\"1\"";
    char bytes[4096], digits[9];
    train_error error;
    write_small();
    size_t length = read_bytes(bytes, sizeof bytes), header;
    memcpy(&header, bytes, 8);
    char *at = memmem(bytes, length, version, sizeof version - 1),
         *crc = memmem(bytes, length, crc_key, sizeof crc_key - 1);
    cr_assert(at && crc);
    at[sizeof version - 3] = '2';
    crc += sizeof crc_key - 1;
    memset(crc, '0', 8);
    snprintf(digits, sizeof digits, "%08x", (unsigned)p2p__crc32c(0, bytes + 8, header));
    memcpy(crc, digits, 8);
    write_bytes(bytes, length);
    cr_assert(read_error(&error) == P2P_ERR_PROTO);
    ASSERT_CONTAINS(error.text, "version 2");
    ASSERT_CONTAINS(error.text, "newer");
}

/* ---- What others may write ---- */

/* A file with this header, its quotes written as ', and these data. */
static p2p_err read_text(const char *header, const char *data, size_t data_bytes, train_error *error)
{
    char bytes[4096];
    uint64_t length = strlen(header);
    memcpy(bytes, &length, 8);
    for (size_t i = 0; i < length; i++) bytes[8 + i] = (char)(header[i] == '\'' ? '"' : header[i]);
    memcpy(bytes + 8 + length, data, data_bytes);
    write_bytes(bytes, 8 + length + data_bytes);
    return read_error(error);
}

/* The CRC of a header goes where its digits are, computed with zeros there. */
static void put_header_crc(char *header, char *digits)
{
    char text[9];
    memset(digits, '0', 8);
    snprintf(text, sizeof text, "%08x", (unsigned)p2p__crc32c(0, header, strlen(header)));
    memcpy(digits, text, 8);
}

/* Where the checksum's digits are is known from reading them, not from looking for the key's usual spelling. */
Test(file, finds_its_checksum_however_the_key_is_spelled, .init = make_folder, .fini = remove_test_folder)
{
    train_error error;
    char header[] = "{\"__metadata__\":{\"crc32c.heade\\u0072\":\"00000000\",\"pairwise.version\":\"1\"}}";
    put_header_crc(header, strstr(header, "00000000"));
    cr_assert(read_text(header, "", 0, &error) == P2P_OK, "%s", error.text);
    cr_assert(read_text("{'__metadata__':{'crc32c.heade\\u0072':'00000000','pairwise.version':'1','crc32c.header':''}}",
                        "", 0, &error) == P2P_ERR_PROTO);
    ASSERT_CONTAINS(error.text, "the same key");
    cr_assert(read_text("{'__metadata__':{'crc32c.header':'\\u0030\\u0030000000','pairwise.version':'1'}}", "", 0,
                        &error) == P2P_ERR_PROTO);
    ASSERT_CONTAINS(error.text, "damaged");
}

/* Processor time, so that a busy machine does not count. */
Test(file, of_many_arrays_is_read_in_proportionate_time, .init = make_folder, .fini = remove_test_folder)
{
    enum { COUNT = 60000 };
    static char names[COUNT][16];
    static train_piece pieces[COUNT];
    static const size_t shape[1] = {1};
    train_error error;
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "array.%zu", i);
        pieces[i] = (train_piece){names[i], "U8", 1, shape, &"0123456789"[i % 10], 1};
    }
    cr_assert(train__file_write(path, pieces, COUNT, NULL, 0, &error) == P2P_OK, "%s", error.text);
    clock_t begin = clock();
    cr_assert(read_error(&error) == P2P_OK, "%s", error.text);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    cr_assert(seconds < 3, "%d arrays took %.1f s", COUNT, seconds);
}

Test(file, from_elsewhere_is_read, .init = make_folder, .fini = remove_test_folder)
{
    train_error error;
    static const char *const fine[] = {
        "{'w':{'dtype':'F32','shape':[1],'data_offsets':[0,4]}}   ",
        "{ '__metadata__' : { } , 'w' : { 'shape' : [ 1 , 1 ] , 'data_offsets' : [ 0 , 4 ] , 'dtype' : 'F32' } }",
        "{'w':{'dtype':'F16','shape':[2],'data_offsets':[0,4]},'e':{'dtype':'F32','shape':[0],'data_offsets':[4,4]}}"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        cr_assert(read_text(fine[i], "abcd", 4, &error) == P2P_OK, "%s\n%s", fine[i], error.text);
}

/* A name may have any character, written as it is or as JSON's escapes of UTF-16. */
Test(file, has_names_of_any_character, .init = make_folder, .fini = remove_test_folder)
{
    static const char header[] = "{'__metadata__':{'\\u00e9':'\\u20ac\\ud83d\\ude00\\u0041','lone':'\\ud83dx'},"
                                 "'w':{'dtype':'F32','shape':[1],'data_offsets':[0,4]}}";
    char bytes[400];
    train_file file;
    train_error error;
    cr_assert(read_text(header, "abcd", 4, &error) == P2P_OK, "%s", error.text);
    cr_assert(train__file_read(path, &file, &error) == P2P_OK && read_bytes(bytes, sizeof bytes));
    cr_assert_str_eq(train__file_note(&file, "\xc3\xa9"), "\xe2\x82\xac\xf0\x9f\x98\x80"
                                                          "A");
    cr_assert_str_eq(train__file_note(&file, "lone"), "\xef\xbf\xbdx");
    train__file_free(&file);
}

/* The size that the system says, 4096, is not there to read: as of a file that becomes shorter meanwhile. */
Test(file, that_becomes_shorter_is_refused)
{
    static const char shorter[] = "/sys/devices/system/cpu/online"; /* "0-1" */
    train_file file;
    train_error error;
    struct stat there;
    if (stat(shorter, &there) != 0 || there.st_size < 8) return;
    cr_assert(train__file_read(shorter, &file, &error) == P2P_ERR_PROTO);
    ASSERT_CONTAINS(error.text, "the file ended here while it was read");
}

Test(file, that_makes_no_sense_is_refused, .init = make_folder, .fini = remove_test_folder)
{
    train_error error;
    static const char *const wrong[] = {
        "",
        "{",
        "[]",
        "{'w'}",
        "{'w':1}",
        "{'w':{}}",
        "{'w':{'dtype':'F32'}}",
        "{'w':{'dtype':'U8','dtype':'U8','shape':[4]}}",
        "{'w':{'dtype':'U8','shape':[2],'shape':[2],'data_offsets':[0,4]}}",
        "{'__metadata__':{'a':'1','a':'1'},'w':{'dtype':'F32','shape':[1],'data_offsets':[0,4]}}",
        "{'__metadata__':{'a':'1'},'__metadata__':{'a':'2'},'w':{'dtype':'F32','shape':[1],'data_offsets':[0,4]}}",
        "{'w\\u0000':{'dtype':'F32','shape':[1],'data_offsets':[0,4]}}",
        "{'w':{'dtype':'F32','shape':[[[[1]]]],'data_offsets':[0,4]}}",
        "{'w':{'dtype':'F32','shape':[1,1,1,1,1,1,1,1,1],'data_offsets':[0,4]}}",
        "{'w':{'dtype':'F32','shape':[1],'data_offsets':[18446744073709551612,18446744073709551616]}}",
        "{'w':{'dtype':'F32','shape':[1],'data_offsets':[18446744073709551611,18446744073709551615]}}",
        "{}x",
        "{'w':{'dtype':'F32','shape':[2],'data_offsets':[0,4]}}",                   /* shape too large */
        "{'w':{'dtype':'F99','shape':[1],'data_offsets':[0,4]}}",                   /* no such type */
        "{'w':{'dtype':'F32','shape':[1],'data_offsets':[4,0]}}",                   /* backwards */
        "{'w':{'dtype':'F32','shape':[1],'data_offsets':[-4,0]}}",                  /* no whole number */
        "{'w':{'dtype':'U8','shape':[1],'data_offsets':[3,4]}}",                    /* a hole before it */
        "{'w':{'dtype':'U8','shape':[3],'data_offsets':[0,3]}}",                    /* a hole behind it */
        "{'w':{'dtype':'U8','shape':[5],'data_offsets':[0,5]}}",                    /* beyond the end */
        "{'w':{'dtype':'F32','shape':[4611686018427387905],'data_offsets':[0,4]}}", /* wraps around */
        "{'w':{'dtype':'F32','shape':[99999999999999999999],'data_offsets':[0,4]}}",
        /* overlap */
        "{'w':{'dtype':'U8','shape':[4],'data_offsets':[0,4]},'v':{'dtype':'U8','shape':[2],'data_offsets':[2,4]}}",
        /* twice */
        "{'w':{'dtype':'U8','shape':[2],'data_offsets':[0,2]},'w':{'dtype':'U8','shape':[2],'data_offsets':[2,4]}}",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        cr_assert(read_text(wrong[i], "abcd", 4, &error) == P2P_ERR_PROTO, "accepted: %s", wrong[i]);
}

Test(file, cannot_steer_a_terminal_with_its_names, .init = make_folder, .fini = remove_test_folder)
{
    train_error error;
    cr_assert(read_text("{'w\\u001b[2J':{'dtype':'F32','shape':[2],'data_offsets':[0,4]}}", "abcd", 4, &error) ==
              P2P_ERR_PROTO);
    ASSERT_CONTAINS(error.text, "w?[2J");
}

Test(file, that_cannot_be_read_is_named, .init = make_folder, .fini = remove_test_folder)
{
    train_error error;
    cr_assert(read_error(&error) == P2P_ERR_SYS);
    ASSERT_CONTAINS(error.text, "No such file");
    cr_assert(mkdir(path, 0700) == 0);
    cr_assert(read_error(&error) == P2P_ERR_SYS);
    ASSERT_CONTAINS(error.text, "Is a directory");
    cr_assert(rmdir(path) == 0 && mkfifo(path, 0600) == 0);
    cr_assert(read_error(&error) == P2P_ERR_SYS, "the call waited for a pipe without a writer");
}

/* ---- Writing ---- */

static int files_here(void)
{
    char command[300];
    snprintf(command, sizeof command, "exit $(ls -A %s | wc -l)", test_folder);
    return WEXITSTATUS(system(command));
}

Test(durable, replaces_the_old_file_and_leaves_no_other, .init = make_folder, .fini = remove_test_folder)
{
    train_error error;
    write_bytes("old", 3);
    write_small();
    cr_assert(read_error(&error) == P2P_OK, "%s", error.text);
    cr_assert(files_here() == 1, "%d files are there", files_here());
}

Test(durable, keeps_the_old_file_when_the_disk_is_full, .init = make_folder, .fini = remove_test_folder)
{
    train_piece piece = {"x", "U8", 0, NULL, "y", 1};
    train_error error;
    struct stat device;
    cr_assert(train__file_write("/dev/full", &piece, 1, NULL, 0, &error) == P2P_ERR_SYS);
    ASSERT_CONTAINS(error.text, "/dev/full");
    ASSERT_CONTAINS(error.text, "No space left");
    cr_assert(stat("/dev/full", &device) == 0 && S_ISCHR(device.st_mode), "it was replaced by a file");
}

/* In a process of its own: from here on flock fails as on a file system that has no locks. */
static bool forbid_locks(void)
{
    struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_flock, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOLCK),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog program = {sizeof code / sizeof *code, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

Test(durable, needs_no_locks, .init = make_folder, .fini = remove_test_folder)
{
    int status, lock;
    pid_t child = fork();
    if (child == 0) {
        train_piece piece = {"x", "U8", 0, NULL, "y", 1};
        train_error error = {""};
        alarm(60);
        if (!forbid_locks()) _exit(0); /* not allowed here */
        if (flock(STDIN_FILENO, LOCK_SH) == 0 || errno != ENOLCK) _exit(0);
        p2p_err err = train__file_write(path, &piece, 1, NULL, 0, &error);
        if (!err) err = train__lock_folder(test_folder, &lock, &error);
        fprintf(stderr, "%s", error.text);
        _exit(err ? 1 : 0);
    }
    cr_assert(waitpid(child, &status, 0) == child && status == 0);
}

Test(durable, names_a_folder_that_is_not_there, .init = make_folder, .fini = remove_test_folder)
{
    train_piece piece = {"x", "U8", 0, NULL, "y", 1};
    train_error error;
    path = in_folder("nowhere/file");
    cr_assert(train__file_write(path, &piece, 1, NULL, 0, &error) == P2P_ERR_SYS);
    ASSERT_CONTAINS(error.text, "nowhere");
    ASSERT_CONTAINS(error.text, "No such file or directory");
}

/* ---- Weights ---- */

Test(weights, of_another_model_are_refused_by_name, .init = make_folder, .fini = remove_test_folder)
{
    train_model *small, *large;
    train_start start;
    train_error error;
    train_build(train_describe("resnet20"), &small, NULL);
    train_build(train_describe("resnet18"), &large, NULL);
    float *parameters = calloc(small->parameters, sizeof(float)),
          *statistics = calloc(small->statistics, sizeof(float));
    cr_assert(train_save_weights(path, small, parameters, statistics, 5, &error) == P2P_OK, "%s", error.text);
    cr_assert(train_start_from(path, large, &start, &error) == P2P_ERR_ARG);
    ASSERT_CONTAINS(error.text, "conv1.weight is F32 (16, 3, 3, 3), not F32 (64, 3, 3, 3)");
    cr_assert(train_start_from(path, small, &start, &error) == P2P_OK, "%s", error.text);
    cr_assert(start.batches == 5);
    train_start_free(&start);
    free(parameters);
    free(statistics);
    train_free(small);
    train_free(large);
}

/* ---- What others have made of a model: the cause is named ---- */

/* The tensors of ResNet-20 as a file from elsewhere has them: this in front of all names, of this type, so many classes. */
static void write_model(const char *front, const char *dtype, size_t classes, float value)
{
    static char names[200][80];
    static train_piece pieces[200];
    train_model *model;
    train_error error;
    cr_assert(train_build_for(train_describe("resnet20"), (int)classes, &model, NULL) == P2P_OK);
    cr_assert(model->tensor_count <= 200);
    size_t size = strcmp(dtype, "F32") == 0 ? 4 : 2;
    float *numbers_of_it = calloc(model->parameters, sizeof *numbers_of_it);
    numbers_of_it[1] = value;
    for (size_t i = 0; i < model->tensor_count; i++) {
        const train_tensor *t = &model->tensors[i];
        bool counts = t->kind == TRAIN_COUNTER;
        snprintf(names[i], sizeof names[i], "%s%s", front, t->name);
        pieces[i] = (train_piece){names[i], counts ? "I64" : dtype, t->dimensions,
                                  t->shape, numbers_of_it,          counts ? 8 : t->count * size};
    }
    cr_assert(train__file_write(path, pieces, model->tensor_count, NULL, 0, &error) == P2P_OK, "%s", error.text);
    free(numbers_of_it);
    train_free(model);
}

Test(weights, from_elsewhere_are_refused_by_their_cause, .init = make_folder, .fini = remove_test_folder)
{
    static const struct {
        const char *front, *dtype;
        size_t classes;
        float value;
        const char *says, *advice;
    } files[] = {
        {"module.", "F32", 10, 0, "its names begin with \"module.\"", "k.removeprefix(\"module.\")"},
        {"_orig_mod.", "F32", 10, 0, "its names begin with \"_orig_mod.\"", "removeprefix"},
        {"module._orig_mod.", "F32", 10, 0, "its names begin with \"module._orig_mod.\"", "removeprefix"},
        {"model.", "F32", 10, 0, "its names begin with \"model.\"", "removeprefix"},
        {"", "F16", 10, 0, "the numbers of conv1.weight are F16; F32 is needed", "v.float()"},
        {"", "BF16", 10, 0, "the numbers of conv1.weight are BF16; F32 is needed", "v.float()"},
        {"", "F32", 1000, 0, "has 1000 classes, the data have 10", "--data"},
        {"", "F32", 10, (float)NAN, "number 1 of conv1.weight is not a number (NaN)", "before the training"},
    };
    train_model *model;
    train_start start;
    train_error error;
    train_build(train_describe("resnet20"), &model, NULL);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        write_model(files[i].front, files[i].dtype, files[i].classes, files[i].value);
        cr_assert(train_start_from(path, model, &start, &error) == P2P_ERR_ARG, "%s", files[i].says);
        ASSERT_CONTAINS(error.text, files[i].says);
        ASSERT_CONTAINS(error.text, files[i].advice);
    }
    train_free(model);
}
