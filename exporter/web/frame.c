/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/frame.h"

#include "exporter/version.h"
#include "exporter/web/html.h"

static const struct {
    const char *address;
    const char *name;
} places[] = {
#define FRAME_ROW(id, address, name) {address, name},
    FRAME_PLACES(FRAME_ROW)};

void frame_open(struct strbuf *out, enum frame_place place, const char *title)
{
    strbuf_adds(out, "<!DOCTYPE html>\n"
                     "<html lang=\"en\">\n"
                     "<head>\n"
                     "<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<title>");
    html_text(out, title);
    strbuf_adds(out, "</title>\n"
                     "<link rel=\"stylesheet\" href=\"style.css\">\n"
                     "</head>\n"
                     "<body>\n"
                     "<a class=\"skip\" href=\"#main\">To the content</a>\n"
                     "<header>\n"
                     "<p class=\"name\">" EXPORTER_NAME "</p>\n"
                     "<nav aria-label=\"Pages\">\n");
    for (unsigned i = 0; i < ARRAY_LEN(places); i++)
        strbuf_addf(out, "<a href=\"%s\"%s>%s</a>\n", places[i].address,
                    i == place ? " aria-current=\"page\"" : "", places[i].name);
    strbuf_adds(out, "</nav>\n</header>\n<main id=\"main\">\n<h1>");
    html_text(out, title);
    strbuf_adds(out, "</h1>\n");
}

void frame_close(struct strbuf *out, int64_t now_ms)
{
    strbuf_adds(out, "</main>\n<footer>\n<p>" EXPORTER_NAME " " EXPORTER_VERSION);
    if (now_ms > 0) {
        strbuf_adds(out, ", as of ");
        html_time(out, now_ms, 0);
    }
    strbuf_adds(out, "</p>\n</footer>\n</body>\n</html>\n");
}

void json_frame_error(struct strbuf *out, const char *text)
{
    frame_open(out, JSON_FRAME_ELSEWHERE, "That did not work");
    strbuf_adds(out, "<p class=\"bad\">");
    html_text(out, text);
    strbuf_adds(out, "</p>\n<p>Go on with the <a href=\"./\">overview</a>, or look for it among "
                     "the <a href=\"templates\">templates</a>.</p>\n");
    frame_close(out, 0);
}
