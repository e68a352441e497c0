/* SPDX-License-Identifier: MIT */
// worlds: none
/*
 * trainer_data: which rank trains with which image, in which step, and with which pixels: sampler, reader, built-in
 * set, augmentation. Needs no device.
 */
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/util/folder.h"
#include "tests/util/suite.h"
#include "trainer/trainer.h"
#include "trainer/twister.h"

/* ---- Sampler ---- */

static void count_shares(size_t count, int size, int seen[])
{
    size_t mine[1000], least = SIZE_MAX, most = 0;
    memset(seen, 0, count * sizeof *seen);
    for (int rank = 0; rank < size; rank++) {
        size_t taken = train_shard(count, rank, size, mine);
        if (taken < least) least = taken;
        if (taken > most) most = taken;
        for (size_t i = 0; i < taken; i++) {
            cr_assert(mine[i] < count, "position %zu of %zu", mine[i], count);
            cr_assert(mine[i] == (size_t)rank + i * (size_t)size, "rank %d of %d has position %zu", rank, size,
                      mine[i]);
            seen[mine[i]]++;
        }
    }
    cr_assert(most - least <= 1, "%zu images, %d ranks: shares of %zu and of %zu", count, size, least, most);
}

Test(sampler, deals_every_image_once)
{
    int seen[1000];
    for (int size = 1; size <= 17; size++)
        for (size_t count = 0; count < 60; count++) {
            count_shares(count, size, seen);
            for (size_t i = 0; i < count; i++)
                cr_assert(seen[i] == 1, "%zu images, %d ranks: image %zu %d times", count, size, i, seen[i]);
        }
}

static void check_permutation(const size_t order[], size_t count)
{
    bool seen[1000] = {false};
    for (size_t i = 0; i < count; i++) {
        cr_assert(order[i] < count && !seen[order[i]], "image %zu twice, or out of range", order[i]);
        seen[order[i]] = true;
    }
}

Test(sampler, shuffles_by_seed_and_epoch)
{
    enum { COUNT = 1000 };
    size_t one[COUNT], again[COUNT], other[COUNT];
    size_t same_epoch = 0, same_seed = 0;
    train_epoch_order(COUNT, 5, 1, true, one);
    train_epoch_order(COUNT, 5, 1, true, again);
    check_permutation(one, COUNT);
    cr_assert(memcmp(one, again, sizeof one) == 0, "the same epoch gave another order");
    train_epoch_order(COUNT, 5, 2, true, other);
    check_permutation(other, COUNT);
    for (size_t i = 0; i < COUNT; i++) same_epoch += one[i] == other[i];
    train_epoch_order(COUNT, 6, 1, true, other);
    for (size_t i = 0; i < COUNT; i++) same_seed += one[i] == other[i];
    cr_assert(same_epoch < 20 && same_seed < 20, "%zu and %zu images in the same place", same_epoch, same_seed);
}

/* Every image comes to every place about as often: 24 permutations of 4, chi-squared with 23 degrees of freedom. */
Test(sampler, prefers_no_order)
{
    enum { EPOCHS = 24000 };
    int found[256] = {0};
    double chi = 0;
    size_t order[4];
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        train_epoch_order(4, 1, epoch, true, order);
        found[order[0] * 64 + order[1] * 16 + order[2] * 4 + order[3]]++;
    }
    for (int i = 0; i < 256; i++) chi += found[i] ? pow(found[i] - 1000.0, 2) / 1000.0 : 0;
    cr_assert(chi < 60, "chi-squared %.1f", chi);
}

/* list(DistributedSampler(range(12), num_replicas=1, rank=0, seed=5)) after set_epoch(0) and set_epoch(1). */
Test(sampler, shuffles_as_pytorch_does)
{
    static const size_t expected[2][12] = {{11, 0, 9, 6, 10, 3, 4, 5, 8, 7, 1, 2},
                                           {2, 9, 5, 0, 6, 3, 11, 8, 7, 1, 4, 10}};
    size_t order[12];
    for (uint64_t epoch = 1; epoch <= 2; epoch++) {
        train_epoch_order(12, 5, epoch, true, order);
        for (size_t i = 0; i < 12; i++)
            cr_assert(order[i] == expected[epoch - 1][i], "epoch %d, place %zu: image %zu", (int)epoch, i, order[i]);
    }
}

/* The C++ standard gives the 10,000th number of std::mt19937 for its check. */
Test(sampler, draws_from_the_mersenne_twister)
{
    train_twister twister;
    uint32_t last = 0;
    train__twister(&twister, 5489);
    for (int i = 0; i < 10000; i++) last = train__twister_bits(&twister);
    cr_assert(last == 4123659995u, "%u", last);
}

Test(sampler, without_shuffling_keeps_the_files_order)
{
    size_t order[100];
    train_epoch_order(100, 3, 4, false, order);
    for (size_t i = 0; i < 100; i++) cr_assert(order[i] == i);
}

/* ---- What is seen of an image ---- */

static train_images one_image(uint8_t *record)
{
    record[0] = 3;
    for (int i = 0; i < TRAIN_PIXELS; i++) record[1 + i] = (uint8_t)(i * 7 + i / 32);
    return (train_images){1, record};
}

Test(preprocess, normalises_as_torchvision_does)
{
    static const float mean[] = {0.4914f, 0.4822f, 0.4465f}, deviation[] = {0.2470f, 0.2435f, 0.2616f};
    uint8_t record[TRAIN_RECORD];
    float out[TRAIN_PIXELS];
    train_images images = one_image(record);
    train_view view = {.augment = false};
    train_preprocess(&images, 0, &view, out);
    for (int i = 0; i < TRAIN_PIXELS; i++) {
        int c = i / 1024;
        float wanted = ((float)record[1 + i] / 255.0f - mean[c]) / deviation[c];
        cr_assert(out[i] == wanted, "pixel %d is %g, not %g", i, (double)out[i], (double)wanted);
    }
    cr_assert(train_label(&images, 0) == 3);
}

/* Which of the 162 cuts this is; -1 if it is none. Black is what a pixel of 0 becomes. */
static int which_cut(const float *plain, const float *seen, const float black[3])
{
    for (int cut = 0; cut < 162; cut++) {
        int dx = cut % 9 - 4, dy = cut / 9 % 9 - 4, wrong = 0;
        for (int i = 0; i < TRAIN_PIXELS && !wrong; i++) {
            int c = i / 1024, y = i / 32 % 32 + dy, x = (cut >= 81 ? 31 - i % 32 : i % 32) + dx;
            bool inside = x >= 0 && x < 32 && y >= 0 && y < 32;
            wrong = seen[i] != (inside ? plain[c * 1024 + y * 32 + x] : black[c]);
        }
        if (!wrong) return cut;
    }
    return -1;
}

Test(preprocess, cuts_and_mirrors)
{
    uint8_t record[TRAIN_RECORD], dark[TRAIN_RECORD] = {0};
    float plain[TRAIN_PIXELS], seen[TRAIN_PIXELS], nothing[TRAIN_PIXELS], black[3];
    int found[162] = {0}, kinds = 0, mirrored = 0;
    train_images images = one_image(record), night = {1, dark};
    train_view view = {.augment = false, .seed = 9};
    train_preprocess(&images, 0, &view, plain);
    train_preprocess(&night, 0, &view, nothing);
    for (int c = 0; c < 3; c++) black[c] = nothing[c * 1024];
    view.augment = true;
    for (view.epoch = 1; view.epoch <= 1000; view.epoch++) {
        train_preprocess(&images, 0, &view, seen);
        int cut = which_cut(plain, seen, black);
        cr_assert(cut >= 0, "epoch %d: no cut of the image", (int)view.epoch);
        kinds += found[cut]++ == 0;
        mirrored += cut >= 81;
    }
    cr_assert(kinds > 155, "only %d of 162 cuts in 1,000 epochs", kinds);
    cr_assert(mirrored > 430 && mirrored < 570, "%d of 1,000 mirrored", mirrored);
}

Test(preprocess, depends_on_seed_epoch_and_image_only)
{
    uint8_t *records = calloc(2, TRAIN_RECORD);
    float one[TRAIN_PIXELS], two[TRAIN_PIXELS];
    one_image(records);
    one_image(records + TRAIN_RECORD);
    train_images images = {2, records};
    train_view view = {true, 1, 1};
    int same = 0;
    for (view.epoch = 1; view.epoch <= 100; view.epoch++) {
        train_preprocess(&images, 0, &view, one);
        train_preprocess(&images, 0, &view, two);
        cr_assert(memcmp(one, two, sizeof one) == 0);
        train_preprocess(&images, 1, &view, two);
        same += memcmp(one, two, sizeof one) == 0;
    }
    cr_assert(same < 10, "two images were cut alike in %d of 100 epochs", same);
    free(records);
}

/* ---- CIFAR-10's files ---- */

/* `records` records and `over` bytes more; record i has label (first + i) mod 10 and pixels of its number. */
static void write_batch(const char *name, int first, int records, int over)
{
    uint8_t record[TRAIN_RECORD];
    FILE *file = fopen(in_folder(name), "we");
    for (int i = 0; i < records; i++) {
        memset(record, first + i, sizeof record);
        record[0] = (uint8_t)((first + i) % 10);
        fwrite(record, 1, sizeof record, file);
    }
    for (int i = 0; i < over; i++) fputc(1, file);
    cr_assert(fclose(file) == 0);
}

static const char *reading_fails(const char *part)
{
    static train_error error;
    train_data data;
    p2p_err err = train_data_cifar(test_folder, 0, 0, &data, &error);
    cr_assert(err == P2P_ERR_ARG, "reading was fine");
    ASSERT_CONTAINS(error.text, part);
    ASSERT_CONTAINS(error.text, test_folder);
    return error.text;
}

Test(cifar, reads_all_batches_in_the_order_of_their_numbers, .init = make_test_folder, .fini = remove_test_folder)
{
    train_data data;
    train_error error;
    write_batch("data_batch_10.bin", 20, 3, 0);
    write_batch("data_batch_2.bin", 10, 5, 0);
    write_batch("data_batch_1.bin", 0, 7, 0);
    write_batch("test_batch.bin", 30, 4, 0);
    cr_assert(train_data_cifar(test_folder, 0, 0, &data, &error) == P2P_OK, "%s", error.text);
    cr_assert(data.train.count == 15 && data.test.count == 4);
    cr_assert(data.train.records[TRAIN_RECORD * 7 + 1] == 10, "data_batch_2 does not follow data_batch_1");
    cr_assert(data.train.records[TRAIN_RECORD * 12 + 1] == 20, "data_batch_10 is not the last");
    cr_assert(train_label(&data.test, 3) == 3);
    train_data_free(&data);
    cr_assert(train_data_cifar(test_folder, 9, 2, &data, &error) == P2P_OK);
    cr_assert(data.train.count == 9 && data.test.count == 2);
    train_data_free(&data);
}

Test(cifar, names_what_is_missing, .init = make_test_folder, .fini = remove_test_folder)
{
    reading_fails("has no data_batch_*.bin");
    FILE *pickle = fopen(in_folder("data_batch_1"), "we");
    cr_assert(pickle && fclose(pickle) == 0);
    reading_fails("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz");
    write_batch("data_batch_1.bin", 0, 2, 0);
    reading_fails("test_batch.bin: No such file");
    write_batch("test_batch.bin", 0, 0, 0);
    reading_fails("test_batch.bin is empty");
    remove_test_folder();
    reading_fails("No such file or directory");
    cr_assert(mkdir(test_folder, 0700) == 0);
}

Test(cifar, names_what_is_wrong_and_where, .init = make_test_folder, .fini = remove_test_folder)
{
    write_batch("test_batch.bin", 0, 2, 0);
    write_batch("data_batch_1.bin", 0, 2, 17);
    const char *said = reading_fails("data_batch_1.bin");
    ASSERT_CONTAINS(said, "6163 bytes");
    ASSERT_CONTAINS(said, "record 2 (at byte 6146) breaks off after 17");

    write_batch("data_batch_1.bin", 0, 3, 0);
    const char *path = in_folder("data_batch_1.bin");
    FILE *file = fopen(path, "r+e");
    fseek(file, 2L * TRAIN_RECORD, SEEK_SET);
    fputc(200, file);
    fclose(file);
    said = reading_fails("data_batch_1.bin");
    ASSERT_CONTAINS(said, "record 2 (at byte 6146) has label 200");

    cr_assert(unlink(path) == 0 && mkdir(path, 0700) == 0);
    reading_fails("is not a file");
    cr_assert(rmdir(path) == 0 && mkfifo(path, 0600) == 0);
    reading_fails("is not a file");
}

/* What is there under the name of a file of images, and is none. */
Test(cifar, names_what_a_file_is_instead, .init = make_test_folder, .fini = remove_test_folder)
{
    static const struct {
        const char *bytes;
        size_t length;
        const char *says;
    } files[] = {{"", 0, "is empty"},
                 {"\x1f\x8b\x08 and so on", 12, "is compressed (gzip)"},
                 {"PK\3\4 and so on", 12, "is a zip archive"},
                 {"\x80\x04\x95", 3, "Python version"},
                 {"<!DOCTYPE html>", 15, "is a web page"},
                 {"version https://git-lfs.github.com/spec/v1", 42, "git lfs pull"}};
    write_batch("test_batch.bin", 0, 2, 0);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        FILE *file = fopen(in_folder("data_batch_1.bin"), "we");
        cr_assert(file && fwrite(files[i].bytes, 1, files[i].length, file) == files[i].length && fclose(file) == 0);
        reading_fails(files[i].says);
    }
}

/* ---- The built-in set ---- */

Test(synthetic, is_the_same_everywhere_and_has_all_classes)
{
    train_data one, two;
    int classes[TRAIN_CLASSES] = {0};
    cr_assert(train_data_synthetic(300, 50, &one, NULL) == P2P_OK);
    cr_assert(train_data_synthetic(200, 50, &two, NULL) == P2P_OK);
    cr_assert(one.train.count == 300 && one.test.count == 50);
    cr_assert(memcmp(one.train.records, two.train.records, 200 * TRAIN_RECORD) == 0);
    cr_assert(memcmp(one.test.records, two.test.records, 50 * TRAIN_RECORD) == 0);
    cr_assert(memcmp(one.test.records, one.train.records, TRAIN_RECORD) != 0, "tests with what it trained with");
    for (size_t i = 0; i < 300; i++) classes[train_label(&one.train, i)]++;
    for (int c = 0; c < TRAIN_CLASSES; c++) cr_assert(classes[c] > 10, "class %d has %d images", c, classes[c]);
    train_data_free(&one);
    train_data_free(&two);
}

/* ---- CIFAR-100's ---- */

enum { RECORD_100 = 2 + TRAIN_PIXELS };

/* Record i has coarse label i mod 20, fine label (first + i) mod 100, and pixels of its number. */
static void write_hundred(const char *name, int first, int records)
{
    uint8_t record[RECORD_100];
    FILE *file = fopen(in_folder(name), "we");
    for (int i = 0; i < records; i++) {
        memset(record, first + i, sizeof record);
        record[0] = (uint8_t)(i % 20);
        record[1] = (uint8_t)((first + i) % 100);
        fwrite(record, 1, sizeof record, file);
    }
    cr_assert(fclose(file) == 0);
}

Test(cifar100, has_a_hundred_classes_and_the_fine_label, .init = make_test_folder, .fini = remove_test_folder)
{
    train_data data;
    train_error error;
    write_hundred("train.bin", 95, 30);
    reading_fails("test.bin: No such file");
    write_hundred("test.bin", 50, 7);
    cr_assert(train_data_cifar(test_folder, 0, 0, &data, &error) == P2P_OK, "%s", error.text);
    cr_assert(data.classes == 100 && data.train.count == 30 && data.test.count == 7);
    for (size_t i = 0; i < 30; i++) {
        const uint8_t *record = data.train.records + i * TRAIN_RECORD;
        cr_assert(train_label(&data.train, i) == (int)((95 + i) % 100), "label %d", train_label(&data.train, i));
        cr_assert(record[1] == 95 + i && record[TRAIN_PIXELS] == 95 + i, "pixels of another image");
    }
    train_data_free(&data);
    write_batch("data_batch_1.bin", 0, 3, 0);
    write_batch("test_batch.bin", 0, 3, 0);
    cr_assert(train_data_cifar(test_folder, 0, 0, &data, &error) == P2P_OK, "%s", error.text);
    cr_assert(data.classes == 10 && data.train.count == 3, "CIFAR-10's files come first");
    train_data_free(&data);
}

Test(cifar100, names_what_is_wrong_and_where, .init = make_test_folder, .fini = remove_test_folder)
{
    uint8_t bad[RECORD_100] = {3, 100};
    write_hundred("train.bin", 0, 2);
    write_hundred("test.bin", 0, 2);
    FILE *file = fopen(in_folder("train.bin"), "ae");
    cr_assert(file && fwrite(bad, 1, sizeof bad, file) == sizeof bad && fclose(file) == 0);
    reading_fails("train.bin: record 2 (at byte 6148) has label 100; labels are 0 to 99");
    cr_assert(truncate(in_folder("train.bin"), 2 * RECORD_100 + 5) == 0);
    reading_fails("record 2 (at byte 6148) breaks off after 5");
}

Test(cifar100, under_a_name_of_the_other_set_is_named, .init = make_test_folder, .fini = remove_test_folder)
{
    write_hundred("data_batch_1.bin", 0, 3);
    write_batch("test_batch.bin", 0, 2, 0);
    reading_fails("it is of CIFAR-100, under a name of CIFAR-10");
    cr_assert(unlink(in_folder("data_batch_1.bin")) == 0);
    write_batch("train.bin", 0, 2, 0);
    reading_fails("it is of CIFAR-10, under a name of CIFAR-100");
}
