/* SPDX-License-Identifier: ISC */
/*
 * PyPI's page of a project, read as JSON (PEP 691, with upload times: PEP 700)
 * and written as JSON or HTML (PEP 503). Each file is judged by its own time,
 * even if it was added to an old version later. A file is listed only if its
 * URL names it, so that a later request for that URL is for the file that was
 * judged.
 */
#include "registry/filter.h"

#include "common/http/date.h"
#include "common/json/text.h"

#define PYPI_MAX_URL 2048U
#define PYPI_MAX_TEXT 1024U
#define PYPI_HASHES 7U

static const char *const pypi_hashes[PYPI_HASHES] = {
    "sha256", "sha512", "sha384", "sha224", "blake2b", "sha1", "md5"};

/* The members of a file that are kept; texts are decoded. */
struct pypi_file {
	struct span name, url, size, time;
	struct span hash[PYPI_HASHES]; /* hex */
	char python[PYPI_MAX_TEXT];    /* requires-python */
	bool yanked, meta;
	char why[PYPI_MAX_TEXT]; /* reason for yanking */
	struct span meta_hash;   /* hex; p NULL: only "true" */
	struct registry_path path;
};

static bool
pypi_hex(struct span s)
{
	if (s.len < 32 || s.len > 128)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (!text_is_digit(s.p[i]) &&
		    !((s.p[i] | 0x20) >= 'a' && (s.p[i] | 0x20) <= 'f'))
			return false;
	}
	return true;
}

/* Read the members of an object of hashes. */
static int
pypi_read_hashes(struct registry_filter *f, struct span hash[PYPI_HASHES])
{
	struct body_token t;
	struct span key, hex;

	while (registry_next(f, &t) != BODY_CLOSE) {
		key = t.key;
		hex = registry_plain(&t);
		if (registry_value(f, &t).p == NULL)
			return -1;
		for (unsigned i = 0; i < PYPI_HASHES; i++) {
			if (hex.p != NULL && pypi_hex(hex) &&
			    registry_is(key, pypi_hashes[i]))
				hash[i] = hex;
		}
	}
	return 0;
}

/* Read true, false or an object of hashes. */
static int
pypi_read_meta(
    struct registry_filter *f, struct body_token *t, struct pypi_file *p)
{
	struct span hash[PYPI_HASHES] = {{NULL, 0}};

	if (t->type != BODY_OBJECT) {
		p->meta |= t->type == BODY_ATOM && span_is(t->value, "true");
		return registry_value(f, t).p != NULL ? 0 : -1;
	}
	p->meta = true;
	if (pypi_read_hashes(f, hash) == -1)
		return -1;
	p->meta_hash = hash[0];
	return 0;
}

static int
pypi_read_member(
    struct registry_filter *f, struct body_token *t, struct pypi_file *p)
{
	struct span key = t->key;

	if (registry_is(key, "filename"))
		p->name = registry_plain(t);
	else if (registry_is(key, "url"))
		p->url = registry_plain(t);
	else if (registry_is(key, "upload-time"))
		p->time = registry_plain(t);
	else if (registry_is(key, "size") && t->type == BODY_ATOM)
		p->size = t->value;
	else if (registry_is(key, "requires-python"))
		(void)registry_text(t, p->python, sizeof(p->python));
	else if (registry_is(key, "yanked")) {
		p->yanked = t->type == BODY_STRING ||
			    (t->type == BODY_ATOM && span_is(t->value, "true"));
		(void)registry_text(t, p->why, sizeof(p->why));
	} else if (registry_is(key, "hashes") && t->type == BODY_OBJECT) {
		return pypi_read_hashes(f, p->hash);
	} else if (registry_is(key, "core-metadata") ||
		   registry_is(key, "dist-info-metadata")) {
		return pypi_read_meta(f, t, p);
	}
	return registry_value(f, t).p != NULL ? 0 : -1;
}

/*
 * Returns true if nothing in the URL could end an HTML attribute or start a
 * query or fragment.
 */
static bool
pypi_url_ok(struct span s)
{
	if (s.len == 0 || s.len > PYPI_MAX_URL)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.p[i] <= 0x20 || s.p[i] > 0x7e ||
		    strchr("\"'<>\\^`{|}?#&", s.p[i]) != NULL)
			return false;
	}
	return true;
}

/* Returns true if the URL names a file of this project with the stated name. */
static bool
pypi_file_ok(struct registry_filter *f, struct pypi_file *p)
{
	struct span at, file = p->name;
	size_t n;
	char *last;

	if (file.p == NULL || !pypi_url_ok(p->url))
		return false;
	at = p->url;
	while (at.len != 0 && !span_starts(at, SPAN("/packages/")))
		at = span_of(at.p + 1, at.len - 1);
	if (registry_path_parse(REGISTRY_PYPI, at, &p->path) == -1 ||
	    p->path.what != REGISTRY_ARTEFACT ||
	    strcmp(p->path.package, f->package) != 0)
		return false;
	/*
	 * Compare with the last segment, decoded, but not of the ".metadata"
	 * file.
	 */
	last = strrchr(p->path.id, '/');
	n = strlen(last + 1);
	return n == file.len && memcmp(last + 1, file.p, n) == 0 &&
	       !span_eq(span_of(at.p + at.len - 9, 9), SPAN(".metadata"));
}

static void
pypi_escape(struct buf *out, const char *s, bool html)
{
	for (; *s != '\0'; s++) {
		if ((uint8_t)*s < 0x20 || *s == 0x7f)
			buf_addc(out, ' ');
		else if (html && *s == '&')
			buf_adds(out, "&amp;");
		else if (html && *s == '<')
			buf_adds(out, "&lt;");
		else if (html && *s == '>')
			buf_adds(out, "&gt;");
		else if (html && *s == '"')
			buf_adds(out, "&quot;");
		else if (!html && (*s == '"' || *s == '\\')) {
			buf_addc(out, '\\');
			buf_addc(out, (uint8_t)*s);
		} else {
			buf_addc(out, (uint8_t)*s);
		}
	}
}

static void
pypi_json_file(struct buf *out, const struct pypi_file *p)
{
	const char *comma = "";

	buf_adds(out, "{\"filename\":\"");
	buf_addspan(out, p->name);
	buf_adds(out, "\",\"url\":\"");
	buf_addspan(out, p->url);
	buf_adds(out, "\",\"hashes\":{");
	for (unsigned i = 0; i < PYPI_HASHES; i++) {
		if (p->hash[i].p == NULL)
			continue;
		buf_printf(out, "%s\"%s\":\"%.*s\"", comma, pypi_hashes[i],
		    (int)p->hash[i].len, (const char *)p->hash[i].p);
		comma = ",";
	}
	buf_adds(out, "}");
	if (p->python[0] != '\0') {
		buf_adds(out, ",\"requires-python\":\"");
		pypi_escape(out, p->python, false);
		buf_adds(out, "\"");
	}
	if (p->size.p != NULL) {
		buf_adds(out, ",\"size\":");
		buf_addspan(out, p->size);
	}
	if (p->time.p != NULL) {
		buf_adds(out, ",\"upload-time\":\"");
		buf_addspan(out, p->time);
		buf_adds(out, "\"");
	}
	if (p->meta && p->meta_hash.p != NULL)
		buf_printf(out, ",\"core-metadata\":{\"sha256\":\"%.*s\"}",
		    (int)p->meta_hash.len, (const char *)p->meta_hash.p);
	else if (p->meta)
		buf_adds(out, ",\"core-metadata\":true");
	buf_adds(out, ",\"yanked\":");
	if (p->yanked && p->why[0] != '\0') {
		buf_addc(out, '"');
		pypi_escape(out, p->why, false);
		buf_addc(out, '"');
	} else {
		buf_adds(out, p->yanked ? "true" : "false");
	}
	buf_addc(out, '}');
}

static void
pypi_html_file(struct buf *out, const struct pypi_file *p)
{
	buf_adds(out, "<a href=\"");
	buf_addspan(out, p->url);
	for (unsigned i = 0; i < PYPI_HASHES; i++) {
		if (p->hash[i].p == NULL)
			continue;
		buf_printf(out, "#%s=%.*s", pypi_hashes[i], (int)p->hash[i].len,
		    (const char *)p->hash[i].p);
		break;
	}
	buf_addc(out, '"');
	if (p->python[0] != '\0') {
		buf_adds(out, " data-requires-python=\"");
		pypi_escape(out, p->python, true);
		buf_addc(out, '"');
	}
	if (p->meta && p->meta_hash.p != NULL)
		buf_printf(out, " data-core-metadata=\"sha256=%.*s\"",
		    (int)p->meta_hash.len, (const char *)p->meta_hash.p);
	else if (p->meta)
		buf_adds(out, " data-core-metadata=\"true\"");
	if (p->yanked) {
		buf_adds(out, " data-yanked=\"");
		pypi_escape(out, p->why, true);
		buf_addc(out, '"');
	}
	buf_addc(out, '>');
	buf_addspan(out, p->name);
	buf_adds(out, "</a><br>\n");
}

static int
pypi_file(struct registry_filter *f)
{
	static struct pypi_file p;
	struct body_token t;
	struct span id, version;
	int64_t when = REGISTRY_NEVER;

	memset(&p, 0, sizeof(p));
	while (registry_next(f, &t) != BODY_CLOSE) {
		if (pypi_read_member(f, &t, &p) == -1)
			return -1;
	}
	/* Leave out files that are malformed or belong to another project. */
	if (!pypi_file_ok(f, &p))
		return 0;
	if (p.time.p != NULL)
		(void)date_rfc3339(p.time, &when);
	id = span_str(p.path.id);
	(void)registry_pypi_file(
	    p.name, p.path.package, sizeof(p.path.package), &version);
	if (!registry_admit(f, id, version, when))
		return f->why == NULL ? 0 : -1;
	if (registry_row(f, version, span_of(NULL, 0)) == -1)
		return -1;
	if (f->form != REGISTRY_FORM_PYPI_JSON) {
		pypi_html_file(&f->out, &p);
		return 0;
	}
	if (f->kept > 1)
		buf_addc(&f->out, ',');
	pypi_json_file(&f->out, &p);
	return 0;
}

static int
pypi_files(struct registry_filter *f)
{
	enum body_token_type type;
	struct body_token t;

	while ((type = registry_next(f, &t)) != BODY_CLOSE) {
		if (type == BODY_OBJECT) {
			if (pypi_file(f) == -1)
				return -1;
		} else if (registry_value(f, &t).p == NULL) {
			return -1;
		}
	}
	return 0;
}

static int
pypi_root(struct registry_filter *f)
{
	enum body_token_type type;
	struct body_token t;
	struct span key, name = span_of(NULL, 0);
	char is[REGISTRY_MAX_NAME + 1];
	bool files = false;

	registry_scan(f, f->text);
	if (registry_next(f, &t) != BODY_OBJECT)
		return registry_bad(f, "it is no JSON object");
	while ((type = registry_next(f, &t)) != BODY_CLOSE) {
		key = t.key;
		if (registry_is(key, "name"))
			name = registry_plain(&t);
		if (type == BODY_ARRAY && registry_is(key, "files")) {
			files = true;
			if (pypi_files(f) == -1)
				return -1;
		} else if (registry_value(f, &t).p == NULL) {
			return -1;
		}
	}
	if (registry_next(f, &t) != BODY_DONE)
		return -1;
	if (name.p == NULL || registry_pypi_name(name, is, sizeof(is)) == -1 ||
	    strcmp(is, f->package) != 0)
		return registry_bad(f, "it is another package's");
	return files ? 0 : registry_bad(f, "it lists no files");
}

int
registry_pypi(struct registry_filter *f)
{
	struct buf *out = &f->out;

	if (f->form != REGISTRY_FORM_PYPI_JSON) {
		buf_printf(out,
		    "<!DOCTYPE html>\n<html><head>"
		    "<meta name=\"pypi:repository-version\" content=\"1.1\">"
		    "<title>Links for %s</title></head>\n<body>\n",
		    f->package);
		if (pypi_root(f) == -1)
			return -1;
		buf_adds(out, "</body></html>\n");
		return 0;
	}
	buf_printf(out,
	    "{\"meta\":{\"api-version\":\"1.1\"},\"name\":\"%s\",\"files\":[",
	    f->package);
	if (pypi_root(f) == -1)
		return -1;
	registry_sort(f);
	buf_adds(out, "],\"versions\":[");
	for (unsigned i = 0; i < f->nrows; i++)
		buf_printf(out, "%s\"%.*s\"", i == 0 ? "" : ",",
		    (int)f->rows[i].version.len,
		    (const char *)f->rows[i].version.p);
	buf_adds(out, "]}\n");
	return 0;
}
