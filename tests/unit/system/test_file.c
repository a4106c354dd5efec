/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/file.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/suite.h"

struct fixture {
    char folder[64];
    char file[80];
    char fifo[80];
    char missing[80];
};

static int set_up(void **state)
{
    struct fixture *p = xcalloc(1, sizeof(*p));

    snprintf(p->folder, sizeof(p->folder), "%s/test_file.XXXXXX", P_tmpdir);
    if (!mkdtemp(p->folder))
        return -1;
    snprintf(p->file, sizeof(p->file), "%s/file", p->folder);
    snprintf(p->fifo, sizeof(p->fifo), "%s/fifo", p->folder);
    snprintf(p->missing, sizeof(p->missing), "%s/missing", p->folder);
    FILE *f = fopen(p->file, "w");

    fwrite("0123456789", 1, 10, f);
    fclose(f);
    *state = p;
    return mkfifo(p->fifo, 0600);
}

static int tear_down(void **state)
{
    struct fixture *p = *state;

    unlink(p->file);
    unlink(p->fifo);
    rmdir(p->folder);
    free(p);
    return 0;
}

/* Asserts that the file is refused with an error of these parts before and after its path. */
static void assert_refused(const char *path, size_t max, const char *before, const char *after)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(max);
    struct error err;
    char wanted[256];

    assert_false(file_read(path, &out, &err));
    snprintf(wanted, sizeof(wanted), "%s'%s'%s", before, path, after);
    assert_string_equal(err.text, wanted);
}

TEST(a_file_is_appended_whole)
{
    const struct fixture *p = *state;
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(12);
    struct error err;

    strbuf_adds(&out, "x:");
    assert_true(file_read(p->file, &out, &err));
    assert_string_equal(out.data, "x:0123456789");
}

TEST(a_file_above_the_limit_is_refused)
{
    const struct fixture *p = *state;

    assert_refused(p->file, 9, "", " is larger than 9 bytes");
}

TEST(the_null_device_is_an_empty_file)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(9);
    struct error err;

    assert_true(file_read("/dev/null", &out, &err));
    assert_int_equal(out.len, 0);
}

TEST(missing_files_and_directories_are_refused)
{
    const struct fixture *p = *state;

    assert_refused(p->missing, 9, "cannot open ", ": No such file or directory");
    assert_refused(p->folder, 9, "cannot read ", ": is a directory, not a file");
}

/* A blocking open() would wait for a writer. */
TEST(a_fifo_is_refused_at_once)
{
    const struct fixture *p = *state;

    assert_refused(p->fifo, 9, "cannot read ", ": is a FIFO, not a regular file");
}

/* Reads of such files may never end, may block, or may have side effects. */
TEST(devices_and_files_of_proc_and_sys_are_refused)
{
    static const char device[] = ": is a device, not a regular file";
    static const char made_up[] =
        ": a file of a virtual file system (/proc, /sys), not a regular file";

    assert_refused("/dev/zero", 1 << 20, "cannot read ", device);
    assert_refused("/dev/tty", 1 << 20, "cannot read ", device);
    assert_refused("/proc/self/stat", 1 << 20, "cannot read ", made_up);
    assert_refused("/sys/kernel/uevent_seqnum", 1 << 20, "cannot read ", made_up);
}

TEST(a_socket_is_refused)
{
    const struct fixture *p = *state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", p->missing);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_refused(p->missing, 9, "cannot read ", ": is a socket, not a regular file");
    close(fd);
    unlink(p->missing);
}

TEST(file_read_proc_accepts_files_of_proc)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(4096);
    struct error err;

    assert_true(file_read_proc("/proc/self/stat", &out, &err));
    assert_true(out.len > 0);
}

static void *write_pieces(void *context)
{
    const int *fd = context;

    for (int i = 0; i < 3; i++) {
        usleep(2000);
        if (write(*fd, "abc", 3) != 3)
            break;
    }
    close(*fd);
    return NULL;
}

TEST(a_pipe_is_read_until_its_writer_closes_it)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(100);
    struct error err;
    pthread_t writer;
    int ends[2];

    /* The pipe is non-blocking, as a shell may leave standard input. */
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    assert_int_equal(pthread_create(&writer, NULL, write_pieces, &ends[1]), 0);
    assert_true(file_read_fd(ends[0], "standard input", &out, &err));
    pthread_join(writer, NULL);
    assert_string_equal(out.data, "abcabcabc");
    assert_int_equal(fcntl(ends[0], F_GETFD), 0);
    close(ends[0]);
}

TEST(the_error_contains_the_given_name)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(100);
    struct error err;

    assert_false(file_read_fd(-1, "standard input", &out, &err));
    assert_string_equal(err.text, "cannot read 'standard input': Bad file descriptor");
}

TEST(file_close_ignores_negative_descriptors)
{
    int ends[2], closed = -1;

    assert_int_equal(pipe(ends), 0);
    file_close(&closed);
    file_close(&ends[0]);
    file_close(&ends[1]);
    assert_int_equal(fcntl(ends[0], F_GETFD), -1);
}

SUITE_WITH(set_up, tear_down);
