/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <unistd.h>

#include "exporter/cli/command.h"
#include "exporter/system/process.h"
#include "exporter/system/secret.h"

static const struct command *const commands[] = {COMMANDS(COMMAND_POINTER) NULL};

/*
 * Opens /dev/null for each of the descriptors 0 to 2 that the parent process has closed. Otherwise
 * the next file or socket gets the number, and a connection receives the log.
 */
static void open_standard_descriptors(void)
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
    /* execve(2) accepts an empty argument list, without the program's name. */
    int skipped = argc > 0 ? 1 : 0;

    open_standard_descriptors();
    memory_set_json_hooks();
    secret_protect_process();
    return (int)commands_main(commands, argv[0], argc - skipped,
                              (const char *const *)argv + skipped, STDOUT_FILENO, STDERR_FILENO);
}
