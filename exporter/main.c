/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <unistd.h>

#include "exporter/cli/command.h"
#include "exporter/system/process.h"
#include "exporter/system/secret.h"

static const struct command *const commands[] = {COMMANDS(COMMAND_POINTER) NULL};

/*
 * Who starts us may have closed them, and what we open next would get their numbers: a file would
 * be read as standard input, a connection get our log.
 */
static void fill_standard_descriptors(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    /* execve(2) lets a caller pass no arguments at all, not even the program's name. */
    int skipped = argc > 0 ? 1 : 0;

    fill_standard_descriptors();
    memory_begin();
    secrecy_begin();
    return (int)commands_main(commands, argv[0], argc - skipped,
                              (const char *const *)argv + skipped, STDOUT_FILENO, STDERR_FILENO);
}
