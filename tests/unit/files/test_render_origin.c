/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/render_origin.h"

#include <unistd.h>

#include "exporter/files/manifest_source.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

TEST(the_line_of_a_template_is_found)
{
    static const char text[] = "{{- if .Values.web }}\n"             /* 1 */
                               "apiVersion: apps/v1\n"               /* 2 */
                               "kind: Deployment\n"                  /* 3 */
                               "metadata: {}\n"                      /* 4 */
                               "---\n"                               /* 5 */
                               "# kind: Service\n"                   /* 6 */
                               "kind: \"Deployment\"\r\n"            /* 7 */
                               "metadata:\n"                         /* 8 */
                               "  name: 'two'\n"                     /* 9 */
                               "spec: {template: {kind: Service}}\n" /* 10 */
                               "---\n"                               /* 11 */
                               "kind: {{ .Values.kind }}\n"          /* 12 */
                               "  kind: Job\n";                      /* 13 */

    assert_int_equal(template_find_line(text, "Deployment", "web"), 3);
    assert_int_equal(template_find_line(text, "Deployment", "two"), 7);
    assert_int_equal(template_find_line(text, "Deploy", "two"), 1);
    assert_int_equal(template_find_line(text, "Service", "x"), 1);
    assert_int_equal(template_find_line(text, "Job", "x"), 1);
    assert_int_equal(template_find_line("", "Job", "x"), 1);
}
